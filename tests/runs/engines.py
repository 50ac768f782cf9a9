"""One session and several executions of it, each with processes of its own; which goes on next is chosen."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from acta.engine.log.commit import Commit
from acta.engine.log.conversation import AssistantEntry, ToolEntry
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import NO_ITEMS, LogPage, TransactionItems
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.tools.port import CallContext
from acta.engine.tools.registry import BuiltinRegistry
from acta.engine.tools.tool import Effect, ToolSpec
from acta.engine.untrusted.quoting import OutsideText
from tests.in_process.house import TENANT, House
from tests.in_process.lockstep import Lockstep
from tests.in_process.scripted import call, completes, plans, says, step

LONG = "A line that is stored elsewhere.\n" * 200
REPLIES = (
    plans("write", "write more"),
    says(LONG, call("note", n=1), call("note", n=2), call("list_files")),
    says("", step(1, "completed", "ok"), call("note", n=3)),
    says("", step(2, "completed", "ok")),
    completes("Done."),
)


class ByConversation:
    """Answers what belongs to the conversation it is shown, whoever asks and however often."""

    provider = "scripted"

    def __init__(self) -> None:
        self.asked = 0

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self.asked += 1
        return REPLIES[sum(isinstance(entry, AssistantEntry) for entry in request.entries)]


class NotingRegistry(BuiltinRegistry):
    def __init__(self, effect: Effect) -> None:
        self.note = ToolSpec(
            name="note", description="Notes", input_schema={"type": "object"}, effect=effect, risk="write"
        )

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return {**super().specs(tenant, agent_id), "note": self.note}


class Gated(DynamoLog):
    """The given log; before every call another worker may come in."""

    def __init__(self, log: DynamoLog, pause: Callable[[], None]) -> None:
        vars(self).update(vars(log))
        self.pause = pause

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        self.pause()
        return super().read(tenant, session_id, since, limit)

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        self.pause()
        return super().latest(tenant, session_id)

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        self.pause()
        super().append(commit, extra_items)


class GatedBlobs(S3Blobs):
    def __init__(self, blobs: S3Blobs, pause: Callable[[], None]) -> None:
        vars(self).update(vars(blobs))
        self.pause = pause

    def put(self, tenant: str, session_id: str, text: str) -> str:
        self.pause()
        return super().put(tenant, session_id, text)

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        self.pause()
        return super().get(tenant, session_id, names)


class Notes:
    """A tool that counts its effects by the key they come under."""

    def __init__(self) -> None:
        self.effects: list[str] = []

    def hand(self, pause: Callable[[], None], others: Any) -> "Hand":
        return Hand(self, pause, others)


class Hand:
    def __init__(self, notes: Notes, pause: Callable[[], None], others: Any) -> None:
        self.notes, self.pause, self.others = notes, pause, others

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        if spec.name != "note":
            answer: str | OutsideText = self.others.run(spec, arguments, context)
            return answer
        self.pause()
        self.notes.effects.append(context.effect_id)
        self.pause()
        return "Noted."


class Engines:
    """One session and several executions of it, each with processes of its own."""

    def __init__(
        self, effect: Effect, choose: Callable[[Sequence[int]], int], turns_per_step: int = 1
    ) -> None:
        self.turns_per_step = turns_per_step
        self.model, self.notes = ByConversation(), Notes()
        self.house = House(self.model)
        self.house.registry = NotingRegistry(effect)
        self.lockstep = Lockstep(choose)
        self.session = self.house.start("Write").session_id
        decision = self.house.workflow.take()
        assert decision is not None
        self.first = decision

    def twin(self, number: int) -> House:
        def pause() -> None:
            self.lockstep.pause(number)

        house = House(self.model, turns_per_step=self.turns_per_step)
        house.clock, house.workflow = self.house.clock, self.house.workflow
        house.registry = self.house.registry
        house.log, house.blobs = Gated(self.house.log, pause), GatedBlobs(self.house.blobs, pause)
        house.repository = house.fresh_repository()
        house.runtime = house.runtime._replace(
            repository=house.fresh_repository(),
            registry=house.registry,
            toolbox=self.notes.hand(pause, house.runtime.toolbox),
        )
        return house

    def run(self, count: int) -> None:
        twins = [self.twin(number) for number in range(count)]
        self.lockstep.run([lambda house=house: house.go_on(self.first) for house in twins])  # type: ignore[misc]

    @property
    def told(self) -> list[tuple[str, object]]:
        """What the log says, without ids and times."""
        commits = self.house.log.read(TENANT, self.session, 1).commits
        return [
            (event.type, event.data.get("name") or event.data.get("to") or event.data.get("plan_step"))
            for commit in commits
            for event in commit.events
        ]


def clean() -> list[tuple[str, object]]:
    engines = Engines("idempotent", lambda waiting: waiting[0])
    engines.run(1)
    assert engines.house.head(engines.session).state == "completed"
    return engines.told


def conversation(engines: Engines) -> tuple[list[str], list[str]]:
    placed, _ = engines.house.history(engines.session).messages(0, 100)
    entries = [one.entry for one in placed]
    calls = [one.call_id for entry in entries if isinstance(entry, AssistantEntry) for one in entry.calls]
    return calls, [entry.call_id for entry in entries if isinstance(entry, ToolEntry)]

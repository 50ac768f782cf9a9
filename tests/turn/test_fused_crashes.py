"""Workers that make several turns die at every call they make, and come beside each other at every call (ADR 57)."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

import pytest

from acta.engine.errors import EngineError, Fenced, FinalError
from acta.engine.log.beside import Marker
from acta.engine.log.commit import Commit, Decision
from acta.engine.log.conversation import AssistantEntry, ToolEntry
from acta.engine.log.dynamodb import DynamoAttempts, DynamoLog
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import NO_ITEMS, LogPage, TransactionItems
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.recovery.handle_error import handle_error
from acta.engine.tools.execute import run_call
from acta.engine.tools.port import CallContext
from acta.engine.tools.tool import ToolSpec
from acta.engine.untrusted.quoting import OutsideText
from tests.in_process.house import TENANT, House
from tests.in_process.lockstep import Lockstep
from tests.in_process.scripted import call, completes, plans, says, step

CAPS = (1, 3, 8)
SAMPLED = (*(pytest.param(cap, marks=pytest.mark.thorough) for cap in (1, 3)), 8)
LONG = "A line that is stored elsewhere.\n" * 200
REPLIES = (
    plans("write", "look"),
    says("", step(1, "in_progress"), call("create_file", path="x.md", content=LONG), call("list_files")),
    says("", call("remember", scope="agent", text="Acme likes tea.")),
    says("", step(1, "completed", "ok"), call("read_file", path="x.md")),
    says("", step(2, "completed", "ok")),
    completes("Done."),
)
MOST_ATTEMPTS = 3
LOST = "Runtime.ExitError"


class Crash(BaseException):
    """The Lambda dies: nothing may catch it."""


Gate = Callable[[], None]


class ByPlace:
    """Answers what belongs to the conversation it is shown, whoever asks and however often."""

    provider = "scripted"

    def __init__(self, gate: Gate, asked: Counter[int]) -> None:
        self.gate, self.asked = gate, asked

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self.gate()
        place = sum(isinstance(entry, AssistantEntry) for entry in request.entries)
        self.asked[place] += 1
        self.gate()
        return REPLIES[place]


class GatedLog(DynamoLog):
    def __init__(self, log: DynamoLog, gate: Gate) -> None:
        vars(self).update(vars(log))
        self.gate = gate

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        self.gate()
        return super().read(tenant, session_id, since, limit)

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        self.gate()
        super().append(commit, extra_items)
        self.gate()


class GatedBlobs(S3Blobs):
    def __init__(self, blobs: S3Blobs, gate: Gate) -> None:
        vars(self).update(vars(blobs))
        self.gate = gate

    def put(self, tenant: str, session_id: str, text: str) -> str:
        self.gate()
        return super().put(tenant, session_id, text)

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        self.gate()
        return super().get(tenant, session_id, names)


class GatedAttempts(DynamoAttempts):
    def __init__(self, attempts: Any, gate: Gate) -> None:
        vars(self).update(vars(attempts))
        self.gate = gate

    def write(self, tenant: str, session_id: str, marker: Marker, *, after: str | None) -> None:
        self.gate()
        super().write(tenant, session_id, marker, after=after)
        self.gate()

    def read(self, tenant: str, session_id: str) -> Marker:
        self.gate()
        return super().read(tenant, session_id)


class GatedTools:
    def __init__(self, others: Any, gate: Gate, effects: list[tuple[str, str]]) -> None:
        self.others, self.gate, self.effects = others, gate, effects

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        self.gate()
        said: str | OutsideText = self.others.run(spec, arguments, context)
        if spec.effect != "read":
            self.effects.append((spec.name, context.effect_id))
        self.gate()
        return said


class Scene:
    """One session, and processes that come to it one after the other or side by side."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self.asked: Counter[int] = Counter()
        self.effects: list[tuple[str, str]] = []
        self.house = House(ByPlace(lambda: None, self.asked), turns_per_step=cap)
        self.session = self.house.start("Write").session_id
        first = self.house.workflow.take()
        assert first is not None
        self.first = first

    def process(self, gate: Gate) -> House:
        """Cold processes of both functions, behind a gate of their own."""
        house, common = House(ByPlace(gate, self.asked), turns_per_step=self.cap), self.house
        house.clock, house.workflow, house.registry = common.clock, common.workflow, common.registry
        house.index = common.index
        house.log, house.blobs = GatedLog(common.log, gate), GatedBlobs(common.blobs, gate)
        house.attempts = GatedAttempts(common.attempts, gate)
        house.repository = house.fresh_repository()
        toolbox = GatedTools(common.runtime.toolbox, gate, self.effects)
        house.runtime = house.runtime._replace(
            repository=house.fresh_repository(), registry=house.registry, toolbox=toolbox
        )
        return house

    def engine(self, process: Callable[[], House], decision: Decision | None = None) -> list[str]:
        """The execution, whose states are tried again in a new process where a worker has died; its states."""
        states: list[str] = []
        house = process()
        decision = decision or self.first
        while decision.next not in ("done", "failed"):
            states.append(decision.next)
            for attempt in range(MOST_ATTEMPTS + 1):
                try:
                    decision = self._state(house, decision, attempt)
                    break
                except Crash:
                    house = process()
                except FinalError as error:
                    decision = handle_error(self.house.app(), decision.at, type(error).__name__)
                    break
                except EngineError:
                    continue
            else:
                decision = handle_error(self.house.app(), decision.at, LOST)
            assert len(states) < 100, "the execution does not end"
        return states

    def _state(self, house: House, decision: Decision, attempt: int) -> Decision:
        match decision.next:
            case "plan" | "think" as kind:
                return house.step(kind, decision.at, attempt)
            case "act":
                for call_id in decision.calls or ():
                    run_call(house.runtime, decision.at, call_id, attempt, 60)
                return Decision(next="think", at=decision.at)
            case "wait":
                self.house.clock.advance(decision.wait_seconds or 0)
                return Decision(next=decision.then or "think", at=decision.at)
            case other:
                raise AssertionError(f"nobody asked for {other}")

    @property
    def told(self) -> list[object]:
        """What came of it, without ids, times and what tells of the crashes."""
        between = ("llm.retried", "state.changed", "budget.warning")
        commits = self.house.log.read(TENANT, self.session, 1).commits
        events = [
            (event.type, event.data.get("name"), event.data.get("ok"), event.data.get("plan_step"))
            for commit in commits
            for event in commit.events
            if event.type not in between
        ]
        head = self.house.head(self.session)
        entries = [one.entry for one in self.house.history(self.session).messages(0, 100)[0]]
        texts = [(type(one).__name__, len(one.content.loaded) // 100) for one in entries]
        answer = head.result and head.result.answer
        return [events, texts, head.state, answer, head.plan and head.plan.status, head.usage.tool_calls]

    @property
    def rows(self) -> list[tuple[str, str | None]]:
        return [(row.kind, row.name) for row in self.house.history(self.session).steps() if row.error is None]

    def check(self, clean: "Scene", *, late: bool = False) -> None:
        """`late`: a reply may have come when the run was over. It was paid for, so it is a row."""
        assert self.told == clean.told
        extra = len(self.rows) - len(clean.rows)
        assert self.rows[: len(clean.rows)] == clean.rows
        assert 0 <= extra <= (1 if late else 0)
        assert self.house.files.read(TENANT, "x.md") == LONG.encode()
        kept = self.house.memories.list(TENANT, agent_id=None, kind=None, limit=9, cursor=None)
        assert [memory.text for memory in kept.memories] == ["Acme likes tea."]
        assert len(set(self.effects)) == 2, "an effect has come under two ids"
        placed, _ = self.house.history(self.session).messages(0, 100)
        entries = [one.entry for one in placed]
        calls = [one.call_id for entry in entries if isinstance(entry, AssistantEntry) for one in entry.calls]
        results = [entry.call_id for entry in entries if isinstance(entry, ToolEntry)]
        assert sorted(calls) == sorted(results), "every call has one result"


def undisturbed(cap: int) -> Scene:
    scene = Scene(cap)
    scene.engine(lambda: scene.process(lambda: None))
    return scene


def gates(cap: int) -> int:
    """How many places there are to die at."""
    passed, scene = 0, Scene(cap)

    def count() -> None:
        nonlocal passed
        passed += 1

    scene.engine(lambda: scene.process(count))
    return passed


@pytest.mark.thorough
def test_a_worker_that_dies_anywhere_changes_nothing_whatever_the_cap() -> None:
    clean = undisturbed(1)
    for cap in CAPS:
        assert undisturbed(cap).told == clean.told
        for nth in range(1, gates(cap) + 1):
            passed, scene = 0, Scene(cap)

            def burn(nth: int = nth) -> None:
                nonlocal passed
                passed += 1
                if passed == nth:
                    raise Crash

            scene.engine(lambda scene=scene, burn=burn: scene.process(burn))  # type: ignore[misc]
            scene.check(clean)
            assert max(scene.asked.values()) <= 2, f"cap {cap}, call {nth}: a turn was paid for three times"
            assert sum(scene.asked.values()) <= len(REPLIES) + 1, f"cap {cap}, call {nth}"


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("cap", CAPS)
def test_workers_that_die_again_and_again_change_nothing(cap: int, seed: int) -> None:
    chance, scene = Random(seed), Scene(cap)

    def burn() -> None:
        if chance.random() < 0.03:
            raise Crash

    scene.engine(lambda: scene.process(burn))
    scene.check(undisturbed(1))


@pytest.mark.parametrize("cap", SAMPLED)
def test_a_worker_that_was_given_up_and_lives_on_is_stopped_by_its_successor(cap: int) -> None:
    """It rests at every place in turn while its successor, and the engine after that, do all the rest."""
    clean = undisturbed(1)
    for rests_at in range(1, gates(cap) + 1):
        scene, order = Scene(cap), Turns(rests_at)
        beside(scene, order.choose)
        scene.check(clean, late=True)
        assert max(scene.asked.values()) <= 2, f"at {rests_at}: a turn was paid for three times"


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("cap", CAPS)
def test_two_workers_at_one_place_make_one_log_however_they_take_turns(cap: int, seed: int) -> None:
    scene = Scene(cap)
    beside(scene, Random(seed).choice)
    scene.check(undisturbed(1), late=True)


class Turns:
    """The first worker until it has come to its nth place, then the second one to its end, then the first again."""

    def __init__(self, nth: int) -> None:
        self.left = nth

    def choose(self, waiting: Sequence[int]) -> int:
        if 0 in waiting and self.left > 0:
            self.left -= 1
            return 0
        return waiting[-1]


def beside(scene: Scene, choose: Callable[[Sequence[int]], int]) -> None:
    """The first worker is given up, and its answer is heard by nobody; the engine tries the state again."""
    lockstep = Lockstep(choose)
    late, live = (scene.process(lambda number=number: lockstep.pause(number)) for number in (0, 1))  # type: ignore[misc]

    def given_up() -> None:
        try:
            late.step("plan", scene.first.at)
        except Fenced:
            return

    def retried() -> None:
        try:
            decision = live.step("plan", scene.first.at, 1)
        except Fenced as error:
            decision = handle_error(scene.house.app(), scene.first.at, type(error).__name__)
        scene.engine(lambda: live, decision)

    lockstep.run([given_up, retried])


def test_a_process_that_knows_the_session_already_is_no_different() -> None:
    """The worker's own process gets the next attempt: what it has committed is its own."""
    for cap in CAPS:
        scene = Scene(cap)
        house = scene.process(lambda: None)
        house.step("plan", scene.first.at)
        scene.engine(lambda house=house: house)  # type: ignore[misc]
        scene.check(undisturbed(1))

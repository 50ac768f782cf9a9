"""Effects happen once: calls whose worker dies between start and finish (docs/design/tools.md 12)."""

from collections.abc import Mapping
from typing import Any

import pytest

from acta.engine.errors import StoreUnavailable, ToolFailed
from acta.engine.log.commit import Commit, Decision
from acta.engine.log.conversation import ToolEntry
from acta.engine.log.store import NO_ITEMS, NumberTaken, TransactionItems
from acta.engine.people.intervention import SeenFile
from acta.engine.tools.execute import run_call
from acta.engine.tools.port import CallContext
from acta.engine.tools.registry import BuiltinRegistry
from acta.engine.tools.tool import Effect, ToolSpec
from acta.engine.untrusted.quoting import OutsideText
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step


class Crash(BaseException):
    """The worker is gone: nothing between here and the test may swallow it."""


class Sink:
    """A tool that counts its effects, and may take its worker down with it."""

    def __init__(self, dies: str = "") -> None:
        self.dies = dies
        self.refuses = ""
        self.effects: list[str] = []

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        if self.dies == "before":
            self.dies = ""
            raise Crash
        if self.refuses:
            raise ToolFailed(self.refuses)
        self.effects.append(context.effect_id)
        if self.dies == "after":
            self.dies = ""
            raise Crash
        return "Refunded."


class RefundRegistry(BuiltinRegistry):
    def __init__(self, effect: Effect) -> None:
        self.refund = ToolSpec(
            name="refund",
            description="Pay back",
            input_schema={"type": "object"},
            effect=effect,
            risk="write",
        )

    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return {**super().specs(tenant, agent_id), "refund": self.refund}


SCRIPT = [
    plans("pay"),
    says("", call("refund", order=7)),
    says("", step(1, "completed", "ok")),
    completes("Paid."),
]


def house_with_sink(effect: Effect, dies: str) -> tuple[House, Sink, str]:
    house, sink = House(ScriptedModel(SCRIPT)), Sink(dies)
    house.registry = RefundRegistry(effect)
    house.runtime = house.runtime._replace(registry=house.registry, toolbox=sink)
    session = house.start("Pay back order 7").session_id
    return house, sink, session


def run_with_a_crash(house: House) -> None:
    """The engine calls the tool's Lambda again after it died."""
    try:
        house.run()
    except Crash:
        house.go_on(house.decisions[-1])
        house.run()


@pytest.mark.parametrize("dies", ["before", "after"])
def test_an_idempotent_call_that_died_runs_again_under_the_same_key(dies: str) -> None:
    house, sink, session = house_with_sink("idempotent", dies)
    run_with_a_crash(house)
    assert house.head(session).state == "completed"
    assert len(set(sink.effects)) == 1


def test_the_failure_of_a_repeated_call_says_that_the_attempt_before_may_have_had_its_effect() -> None:
    house, sink, session = house_with_sink("idempotent", "after")
    run_to_the_crash = pytest.raises(Crash)
    with run_to_the_crash:
        house.run()
    sink.refuses = "the key of this request is in use"
    house.go_on(house.decisions[-1])
    house.run()
    placed, _ = house.history(session).messages(0, 50)
    (told,) = [
        m.entry.content.text for m in placed if isinstance(m.entry, ToolEntry) and m.entry.name == "refund"
    ]
    assert told is not None
    assert told.startswith("Error: the key of this request is in use")
    assert told.endswith(
        "An earlier attempt of this call may have had its effect: look before you do it again."
    )


@pytest.mark.parametrize("dies", ["before", "after"])
def test_a_call_that_runs_once_is_not_repeated_but_asked_about(dies: str) -> None:
    house, sink, session = house_with_sink("once", dies)
    run_with_a_crash(house)
    doubt = house.head(session).interventions[0]
    assert (doubt.type, doubt.options) == ("error_recovery", ("retry", "record", "skip", "cancel"))
    assert doubt.tool_call is not None
    assert doubt.tool_call.name == "refund"

    if sink.effects:
        house.resolve(session, doubt, "record", result="Refunded.")
    else:
        house.resolve(session, doubt, "retry")
    house.run()

    assert house.head(session).state == "completed"
    assert len(sink.effects) == 1
    placed, _ = house.history(session).messages(0, 50)
    results = [
        m.entry.content.text for m in placed if isinstance(m.entry, ToolEntry) and m.entry.name == "refund"
    ]
    assert results == ["Refunded."]


def test_a_call_in_doubt_can_be_skipped() -> None:
    house, sink, session = house_with_sink("once", "before")
    run_with_a_crash(house)
    house.resolve(session, house.head(session).interventions[0], "skip")
    house.run()
    assert house.head(session).state == "completed"
    assert sink.effects == []


def test_a_lost_answer_to_the_start_is_no_doubt() -> None:
    house, sink, session = house_with_sink("once", "")

    class LosesStart:
        """Writes the start and loses the answer: the attempt has to recognise its own."""

        lost = False

        def __getattr__(self, name: str) -> Any:
            return getattr(log, name)

        def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
            log.append(commit, extra_items)
            if "/start-" in commit.key and not self.lost:
                self.lost = True
                raise NumberTaken

    log = house.log
    house.log = LosesStart()  # type: ignore[assignment]
    house.runtime = house.runtime._replace(repository=house.fresh_repository())
    house.run()
    assert house.head(session).state == "completed"
    assert len(sink.effects) == 1


def test_a_finish_that_could_not_be_stored_asks_instead_of_paying_twice() -> None:
    house, sink, session = house_with_sink("once", "")

    class LosesFinish:
        failed = False

        def __getattr__(self, name: str) -> Any:
            return getattr(log, name)

        def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
            if commit.key.endswith("/finish") and not self.failed:
                self.failed = True
                raise StoreUnavailable("away")
            log.append(commit, extra_items)

    log = house.log
    house.log = LosesFinish()  # type: ignore[assignment]
    house.runtime = house.runtime._replace(repository=house.fresh_repository())
    house.run()  # the engine is left with StoreUnavailable and settles the call as lost
    assert [one.type for one in house.head(session).interventions] == ["error_recovery"]
    assert len(sink.effects) == 1


def test_a_late_attempt_at_a_settled_call_does_nothing() -> None:
    house, sink, session = house_with_sink("once", "")
    acted: list[Decision] = []
    house.run(lambda decision: acted.append(decision) if decision.next == "act" else None)
    at, calls = acted[0].at, acted[0].calls
    assert calls is not None
    run_call(house.runtime, at, calls[0], 3, 60)
    assert len(sink.effects) == 1
    assert house.head(session).state == "completed"


def test_a_deletion_that_died_after_its_effect_says_the_same_as_a_clean_one() -> None:
    house = House(ScriptedModel([]))
    house.files.write(TENANT, "a.txt", b"alpha")
    spec = house.registry.specs(TENANT, "default")["delete_file"]
    seen = SeenFile(path="a.txt", etag=house.files.etag(TENANT, "a.txt"))
    context = CallContext(TENANT, "s", "a", "e", 9, seen_file=seen)
    first = house.runtime.toolbox.run(spec, {"path": "a.txt"}, context)
    again = house.runtime.toolbox.run(spec, {"path": "a.txt"}, context._replace(rerun=True))
    assert first == again


@pytest.mark.parametrize(
    ("option", "given", "ok"), [("record", {"result": "Paid, I saw it."}, True), ("skip", {}, False)]
)
def test_a_call_whose_end_a_person_tells_has_its_finish_in_the_events(
    option: str, given: dict[str, Any], ok: bool
) -> None:
    house, _, session = house_with_sink("once", "after")
    run_with_a_crash(house)
    (asked,) = house.head(session).interventions
    house.resolve(session, asked, option, **given)
    house.run()
    events = [seen.event for seen in house.poll(session).events]
    (started,) = [event.data for event in events if event.type == "tool.started"]
    (finished,) = [event.data for event in events if event.type == "tool.finished"]
    assert finished == {**started, "ok": ok, "duration_ms": 0, "bytes": finished["bytes"]}
    assert finished["bytes"] > 0
    assert house.head(session).state == "completed"

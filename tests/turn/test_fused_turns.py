"""Where the environment lets it, one invocation of `step` makes several turns, with the calls between (ADR 57)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from acta.engine.errors import StreamBroken
from acta.engine.log.events import Event
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.tools.registry import BuiltinRegistry
from acta.engine.tools.tool import ToolSpec
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.turn.test_cost_per_turn import CountedHouse

CAP = 8
WRITE = says("I write.", step(1, "in_progress"), call("create_file", path="x.md", content="y"))
LOOK = says("", call("list_files"), call("read_file", path="x.md"))
NOTE = says("", call("remember", scope="agent", text="Acme likes tea."), call("recall", query="tea"))
SCRIPT = (plans("write", "look"), WRITE, LOOK, NOTE, says("", step(1, "completed", "ok")), says("Hm."))
END = (says("", step(2, "skipped")), completes("Done."))


def fused(script: list[Any], cap: int = CAP, **settings: Any) -> tuple[House, str]:
    house = House(ScriptedModel(script), turns_per_step=cap, **settings)
    return house, house.start("Write").session_id


def ended(script: list[Any], cap: int) -> tuple[House, str]:
    house, session = fused(script, cap)
    house.run()
    return house, session


def events(house: House, session: str) -> list[Event]:
    return [event for commit in house.log.read(TENANT, session, 1).commits for event in commit.events]


def told(house: House, session: str) -> list[object]:
    """All that is logged, ids, times and what says that it is fused aside."""
    rows = [(row.kind, row.name, row.attempt, row.error) for row in house.history(session).steps()]
    ids = {"fused", "call_id", "effect_id", "message_id", "input_hash"}
    seen = [
        (one.type, one.step_number, {key: one.data[key] for key in one.data if key not in ids | {"plan"}})
        for one in events(house, session)
    ]
    entries = [type(one.entry).__name__ for one in house.history(session).messages(0, 100)[0]]
    return [rows, seen, entries, house.head(session).usage]


def states(house: House) -> list[str]:
    return [decision.next for decision in house.decisions]


def test_fused_turns_end_as_turns_of_their_own_with_the_same_effects_and_the_same_log() -> None:
    (plain, one), (house, session) = ended([*SCRIPT, *END], 1), ended([*SCRIPT, *END], CAP)

    assert told(house, session) == told(plain, one)
    assert house.head(session).state == plain.head(one).state == "completed"
    assert house.files.read(TENANT, "x.md") == plain.files.read(TENANT, "x.md") == b"y"
    kept = house.memories.list(TENANT, agent_id=None, kind=None, limit=9, cursor=None)
    assert [memory.text for memory in kept.memories] == ["Acme likes tea."]
    assert states(plain) == ["plan", *["think", "act"] * 3, *["think"] * 4, "done"]
    assert states(house) == ["plan", "done"]


def test_no_invocation_makes_more_turns_than_the_environment_says() -> None:
    house, session = ended([*SCRIPT, *END], 3)

    assert states(house) == ["plan", "think", "think", "done"]
    assert house.head(session).state == "completed"


def test_what_was_fused_is_seen_in_the_step_log_and_in_the_events() -> None:
    house, session = ended([*SCRIPT, *END], CAP)

    rows = [(row.kind, row.fused) for row in house.history(session).steps()]
    assert rows[0] == ("plan", False)
    assert rows[1:] == [(kind, True) for kind, _ in rows[1:]]
    marked = Counter(one.type for one in events(house, session) if one.data.get("fused"))
    assert marked == Counter({"thought": 2, "tool.started": 5, "tool.finished": 5, "message.assistant": 1})
    trace, _ = house.history(session).trace(0, 100)
    assert [row.get("fused", False) for row in trace] == [False, *[True] * (len(trace) - 1)]
    plain, one = ended([*SCRIPT, *END], 1)
    assert not [event for event in events(plain, one) if "fused" in event.data]
    assert not [row for row in plain.history(one).steps() if row.fused]


REFUND = ToolSpec(
    name="refund", description="Pay", input_schema={"type": "object"}, effect="once", risk="write"
)


class WithRefunds(BuiltinRegistry):
    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return {**super().specs(tenant, agent_id), "refund": REFUND}


class Refunds:
    def __init__(self, others: Any) -> None:
        self.others, self.seen = others, list[str]()

    def run(self, spec: ToolSpec, arguments: Any, context: Any) -> Any:
        self.seen.append(spec.name)
        return "Paid." if spec.name == "refund" else self.others.run(spec, arguments, context)


@pytest.mark.parametrize("beside", [(), (call("list_files"),)])
def test_a_reply_with_a_call_of_another_tool_goes_back_to_the_engine(beside: tuple[Any, ...]) -> None:
    script = [plans("pay"), says("", *beside, call("refund", order=7)), says("", step(1, "completed", "ok"))]
    house, session = fused([*script, completes("Paid.")])
    house.registry = WithRefunds()
    toolbox = Refunds(house.runtime.toolbox)
    house.runtime = house.runtime._replace(registry=house.registry, toolbox=toolbox)

    house.run()

    assert states(house) == ["plan", "act", "think", "done"]
    assert toolbox.seen == [*(one.name for one in beside), "refund"]
    assert not [row for row in house.history(session).steps() if row.kind == "tool" and row.fused]


def step_done() -> ModelReply:
    return says("", step(1, "completed", "ok"))


def test_what_a_person_has_to_approve_is_asked_and_run_by_the_engine() -> None:
    house, session = fused([plans("tidy"), says("", call("delete_file", path="a.md")), step_done(), *END[1:]])
    house.files.write(TENANT, "a.md", b"x")
    house.run()
    (asked,) = house.head(session).interventions
    house.resolve(session, asked, "approve")
    house.run()

    assert states(house)[:4] == ["plan", "ask", "act", "think"]
    assert house.files.list(TENANT, "", 9).files == ()
    assert not [row for row in house.history(session).steps() if row.kind == "tool" and row.fused]


def test_a_next_turn_begins_only_where_a_whole_call_still_fits() -> None:
    """The model's longest answer takes up to 167 seconds, and 870 are there: after four turns of 200 there is no time
    for a fifth.
    """
    model = ScriptedModel([*SCRIPT, *END])
    house = House(model, turns_per_step=CAP)
    house.start("Write")
    model.meanwhile = lambda: house.clock.advance(200)

    house.run()

    assert states(house) == ["plan", "think", "done"]


def test_a_call_begins_only_where_its_own_time_is_left() -> None:
    model = ScriptedModel([*SCRIPT, *END])
    house = House(model, turns_per_step=CAP, longest_model_seconds=840)
    house.start("Write")
    slow = iter([0, 820])
    model.meanwhile = lambda: house.clock.advance(next(slow, 0))

    house.run()

    assert states(house)[:3] == ["plan", "act", "think"]


def test_an_error_of_a_fused_turn_is_the_engine_s_to_try_again() -> None:
    script = [SCRIPT[0], WRITE, StreamBroken("cut"), LOOK, step_done(), *END]
    house, session = fused(script)

    house.run()

    assert states(house) == ["plan", "think", "done"], "no error was handled"
    assert house.head(session).state == "completed"
    assert house.head(session).budget.vanished_tokens > 0


def test_a_tool_that_fails_in_a_fused_call_is_the_engine_s_to_try_again() -> None:
    house, session = fused([*SCRIPT, *END])
    house.run()
    plain = told(house, session)

    house, session = fused([*SCRIPT, *END])
    dies = Breaking(house.runtime.toolbox)
    house.runtime = house.runtime._replace(toolbox=dies)
    house.run()

    assert states(house) == ["plan", "act", "think", "done"]
    rows = plain[0]
    assert isinstance(rows, list)
    assert [row.name for row in house.history(session).steps()] == [row[1] for row in rows]
    assert house.files.read(TENANT, "x.md") == b"y"


class Breaking:
    """The second call's worker meets an error that nobody has named."""

    def __init__(self, others: Any) -> None:
        self.others, self.runs = others, 0

    def run(self, spec: ToolSpec, arguments: Any, context: Any) -> Any:
        self.runs += 1
        if self.runs == 2:
            raise RuntimeError
        return self.others.run(spec, arguments, context)


@pytest.mark.parametrize("happens", ["cancel", "pause", "say"])
@pytest.mark.parametrize("turn", range(2, 7))
def test_what_people_do_amid_the_turns_holds_from_then_on(happens: str, turn: int) -> None:
    house, session = fused([*SCRIPT, *END, *END])
    thought = 0

    def meanwhile() -> None:
        nonlocal thought
        thought += 1
        if thought == turn:
            house.say(session, "And me?") if happens == "say" else getattr(house, happens)(session)

    assert isinstance(house.model, ScriptedModel)
    house.model.meanwhile = meanwhile
    house.run()

    head = house.head(session)
    match happens:
        case "cancel":
            assert (head.state, thought) == ("cancelled", turn)
        case "pause":
            assert (head.state, head.state_reason, thought) == ("waiting_for_user", "paused", turn)
            house.resume(session)
            house.run()
            assert house.head(session).state == "completed"
        case _:
            assert head.state == "completed"
            assert not head.undelivered


def test_a_deleted_session_s_turns_end() -> None:
    house, session = fused([*SCRIPT, *END])
    thought = 0

    def meanwhile() -> None:
        nonlocal thought
        thought += 1
        if thought == 3:
            house.delete(session)

    assert isinstance(house.model, ScriptedModel)
    house.model.meanwhile = meanwhile
    house.run()

    assert thought == 3


def counted(replies: list[ModelReply], cap: int) -> Counter[str]:
    script = [plans("read"), *replies, says("", call("update_plan", action="fail", reason="over"))]
    house = CountedHouse(ScriptedModel(script), 0, turns_per_step=cap)
    for number in range(len(replies)):
        house.files.write(TENANT, f"{number}.txt", b"note")
    house.start("Read everything", token_budget=1_000_000_000)
    house.run()
    return house.asked


@pytest.mark.parametrize("writes", [False, True])
def test_fused_turns_write_no_more_and_read_less_than_turns_of_their_own(writes: bool) -> None:
    def replies() -> list[ModelReply]:
        if writes:
            return [says("", call("create_file", path=f"new{n}.md", content="y")) for n in range(6)]
        return [says("", call("read_file", path=f"{n}.txt")) for n in range(6)]

    plain, asked = counted(replies(), 1), counted(replies(), CAP)

    written = ("put", "transaction", "marker", "blob put")
    assert {name: asked[name] for name in written} == {name: plain[name] for name in written}
    assert plain["read"] - asked["read"] == 6, "each call read the turn's log before"
    assert asked["definitions"] == plain["definitions"]


def requests(house: House) -> list[ModelRequest]:
    assert isinstance(house.model, ScriptedModel)
    return house.model.requests


def test_models_are_shown_the_same_whether_turns_are_fused_or_not() -> None:
    (plain, _), (house, _) = ended([*SCRIPT, *END], 1), ended([*SCRIPT, *END], CAP)

    def shown(one: House) -> list[object]:
        return [(len(each.entries), each.system, each.suffix) for each in requests(one)]

    assert shown(house) == shown(plain)

"""The walk takes the turns that the state machine would."""

from collections.abc import Mapping
from typing import Any

import pytest

from acta.engine.log.commit import Position
from acta.engine.models.model import ModelReply
from acta.engine.tools.execute import run_call
from acta.engine.turn.engine import EVENTS_PER_CALL, EVENTS_PER_TURN
from acta.engine.turn.turn import take_turn
from tests.bench.stand.engine_walk import WalkedTurn, WalkStopped, walk
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, plans, says

READ, DELETE = call("list_files"), call("delete_file", path="x.md")
GIVES_UP = says("", call("update_plan", action="fail", reason="The script ends here."))


def walked(house: House) -> list[WalkedTurn[str]]:
    def step(event: Mapping[str, Any]) -> tuple[Any, str]:
        at = Position.model_validate(event["at"])
        decision = take_turn(house.worker, event["op"], at, event["attempt"], 60).decision
        return decision.to_engine(), str(event["op"])

    def tool(event: Mapping[str, Any]) -> tuple[Any, str]:
        at = Position.model_validate(event["at"])
        run_call(house.runtime, at, event["call_id"], event["attempt"], 60)
        return None, str(event["op"])

    return walk(house.repository, house.workflow, step, tool)


def started(*script: ModelReply, **settings: Any) -> tuple[House, str]:
    house = House(ScriptedModel([plans("look"), *script]), **settings)
    return house, house.start("Look around", max_steps=50).session_id


def test_each_turn_has_its_model_call_and_its_tool_calls() -> None:
    house, session = started(says("", READ), says("", READ, READ), GIVES_UP)

    assert walked(house) == [
        ("plan", []),
        ("think", ["tool"]),
        ("think", ["tool", "tool"]),
        ("think", []),
    ]
    assert house.head(session).state == "failed"


def test_a_full_execution_is_followed_by_the_next_one_and_a_turn_keeps_its_calls() -> None:
    full = 2 * (EVENTS_PER_TURN + EVENTS_PER_CALL)
    reads = [says("", call("read_file", path=f"{turn}.md")) for turn in range(8)]
    house, session = started(*reads, GIVES_UP, roll_over_events=full)
    for turn in range(8):
        house.files.write(TENANT, f"{turn}.md", b"text")

    assert walked(house) == [("plan", []), *[("think", ["tool"])] * 8, ("think", [])]
    run = house.head(session).run
    assert run is not None
    assert run.generation > 2, "this run needs more than two executions"
    assert not house.workflow.running()


def test_a_state_that_is_not_walked_is_named() -> None:
    house, _ = started(says("", DELETE))

    with pytest.raises(WalkStopped, match="'ask' in turn 2"):
        walked(house)

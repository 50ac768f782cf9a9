"""A run goes on with the live plan that an earlier run left, whatever befalls it first, and may answer without it
(docs/design/engine.md 7)."""

from collections.abc import Callable

import pytest

from acta.engine.log.commit import Decision
from acta.engine.recovery.recover import recover
from acta.engine.recovery.repair import repair
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, completes, plans, says, step
from tests.recovery.failed_runs import fail_from_outside
from tests.runs.fragile import Crash, FragileHouse

LOOK = says("", call("list_files"))
SCRIPT = [
    plans("look"),
    LOOK,
    plans("look again"),
    LOOK,
    says("", step(1, "completed", "ok")),
    completes("Done."),
]


def cancelled() -> tuple[FragileHouse, str]:
    """A session whose run was cancelled in the middle of its plan."""
    house = FragileHouse(SCRIPT)
    session = house.start("Look").session_id
    house.run_until("act")
    house.cancel(session)
    plan = house.head(session).plan
    assert plan is not None
    assert plan.is_live
    return house, session


def its_starter_dies(house: FragileHouse, session: str) -> None:
    house.mortal.dies_before = "start"
    with pytest.raises(Crash):
        house.say(session, "Again")
    assert recover(house.fresh_repository(), house.workflow, TENANT, session) == "started"


def its_execution_is_lost(house: FragileHouse, session: str) -> None:
    begun(house, session)
    house.lose(session)
    assert recover(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"


def it_is_paused_and_resumed(house: FragileHouse, session: str) -> None:
    first = begun(house, session)
    house.pause(session)
    house.go_on(first)
    house.resume(session)


def it_fails_and_is_repaired(house: FragileHouse, session: str) -> None:
    begun(house, session)
    fail_from_outside(house, session)
    house.lose(session)
    assert repair(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"


def begun(house: FragileHouse, session: str) -> Decision:
    house.say(session, "Again")
    first = house.workflow.take()
    assert first is not None
    return first


@pytest.mark.parametrize(
    "befalls", [its_starter_dies, its_execution_is_lost, it_is_paused_and_resumed, it_fails_and_is_repaired]
)
def test_a_run_after_a_cancelled_one_goes_on_with_its_plan_or_makes_another(
    befalls: Callable[[FragileHouse, str], None],
) -> None:
    house, session = cancelled()
    befalls(house, session)
    decision = house.workflow.take()
    assert decision is not None
    assert (decision.next, house.head(session).state) == ("think", "executing")
    house.go_on(decision)
    head = house.head(session)
    assert head.state == "completed"
    assert head.plan is not None
    assert [one.description for one in head.plan.steps] == ["look again"]

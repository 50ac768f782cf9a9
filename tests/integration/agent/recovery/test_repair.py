"""An operator has failed runs tried again (design §3: failed -> executing)."""

import pytest

from shared.agent.recovery.recover import recover, repair
from shared.domain.errors import Conflict
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, plans, says
from tests.integration.agent.fragile import (
    SCRIPT,
    FragileHouse,
)
from tests.integration.agent.recovery.failed_runs import fail_as_before

OF_EARLIER_RELEASES = (
    "PROVIDER_OVERLOADED",
    "PROVIDER_UNAVAILABLE",
    "PROVIDER_TIMEOUT",
    "PROVIDER_STREAM_BROKEN",
    "STORE_UNAVAILABLE",
    "STEP_FAILED",
    "RECOVERY_EXHAUSTED",
)


def test_an_operator_has_a_failed_run_tried_again_and_it_ends_well() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("think")
    fail_as_before(house, session)
    house.lose(session)
    assert house.head(session).state == "failed"

    assert repair(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"
    assert house.head(session).state == "executing"
    house.run()
    (asked,) = house.head(session).interventions
    house.resolve(session, asked, "approve")
    house.run()

    head = house.head(session)
    assert (head.state, head.error) == ("completed", None)


@pytest.mark.parametrize("code", OF_EARLIER_RELEASES)
def test_whatever_the_engine_of_an_earlier_release_gave_up_on_can_be_repaired(code: str) -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    assert house.workflow.take() is not None
    fail_as_before(house, session, code)
    house.lose(session)
    assert repair(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"


def test_a_run_that_failed_before_it_had_a_plan_is_planned_again() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    assert house.workflow.take() is not None
    fail_as_before(house, session)
    house.lose(session)

    repair(house.fresh_repository(), house.workflow, TENANT, session)

    assert house.head(session).state == "planning"
    house.run()
    assert house.head(session).state == "waiting_for_user"


def test_what_the_agent_failed_itself_is_not_repaired() -> None:
    house = FragileHouse([plans("a"), says("", call("update_plan", action="fail", reason="cannot"))])
    session = house.start("Go").session_id
    house.run()
    assert house.head(session).state == "failed"

    with pytest.raises(Conflict):
        repair(house.fresh_repository(), house.workflow, TENANT, session)

    assert house.head(session).state == "failed"


def test_a_repair_of_a_session_that_has_not_failed_looks_after_it_as_tend_does() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.lose(session)

    assert repair(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"
    assert recover(house.fresh_repository(), house.workflow, TENANT, session) == "nothing"

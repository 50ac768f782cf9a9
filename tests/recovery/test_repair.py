"""An operator has failed runs tried again (docs/design/api.md 29: failed -> executing)."""

from datetime import timedelta

import pytest

from acta.engine.errors import Conflict
from acta.engine.recovery.recover import recover
from acta.engine.recovery.repair import FailedDeps, FailedRun, find_failed, repair
from tests.api.gateway import Context
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, plans, says
from tests.recovery.failed_runs import fail_from_outside
from tests.runs.fragile import SCRIPT, FragileHouse

FROM_OUTSIDE = (
    "PROVIDER_OVERLOADED",
    "PROVIDER_UNAVAILABLE",
    "PROVIDER_TIMEOUT",
    "PROVIDER_STREAM_BROKEN",
    "STEP_FAILED",
)


def test_an_operator_has_a_failed_run_tried_again_and_it_ends_well() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("think")
    fail_from_outside(house, session)
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


@pytest.mark.parametrize("code", FROM_OUTSIDE)
def test_whatever_the_engine_of_an_earlier_release_gave_up_on_can_be_repaired(code: str) -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    assert house.workflow.take() is not None
    fail_from_outside(house, session, code)
    house.lose(session)
    assert repair(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"


def test_a_run_that_failed_before_it_had_a_plan_is_planned_again() -> None:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    assert house.workflow.take() is not None
    fail_from_outside(house, session)
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


def failed(house: FragileHouse, code: str) -> str:
    session = house.start("Tidy up").session_id
    assert house.workflow.take() is not None
    fail_from_outside(house, session, code)
    house.lose(session)
    return session


def time_for_fifty(house: FragileHouse) -> FailedDeps:
    """What one call has."""
    left = iter(range(50))
    return FailedDeps(house.app(), lambda: next(left, None) is not None)


def test_what_failed_since_then_and_can_be_repaired_is_listed_page_by_page_and_nothing_is_changed() -> None:
    house = FragileHouse([])
    failed(house, "PROVIDER_UNAVAILABLE")
    house.clock.advance(7_200)
    since = house.clock.now()
    codes = ["PROVIDER_UNAVAILABLE", "PLAN_FAILED"] * 60
    made = [failed(house, code) for code in codes]
    running = house.start("Tidy up").session_id

    pages: list[tuple[FailedRun, ...]] = []
    cursor: str | None = None
    while True:
        page = find_failed(time_for_fifty(house), since, TENANT, cursor)
        pages.append(page.runs)
        cursor = page.cursor
        if page.complete:
            break

    found = [one for page_runs in pages for one in page_runs]
    assert sorted(one.session_id for one in found) == sorted(made[::2])
    assert {one.code for one in found} == {"PROVIDER_UNAVAILABLE"}
    assert all(one.failed_at >= since for one in found)
    assert len(pages) > 1
    assert all(house.head(session).state == "failed" for session in made)
    assert running not in {one.session_id for one in found}


def test_the_recovery_function_lists_them_and_repairs_one_after_the_other() -> None:
    house = FragileHouse(SCRIPT)
    session = failed(house, "STEP_FAILED")
    recovery = house.recovery()
    since = (house.clock.now() - timedelta(hours=2)).isoformat()
    asked = {"repair": {"tenant": TENANT, "failed_since": since, "cursor": None}}
    answer = recovery.handle(asked, Context())
    at = house.clock.now().isoformat()
    assert answer == {
        "sessions": [
            {"tenant": TENANT, "session_id": session, "code": "STEP_FAILED", "failed_at": at},
        ],
        "cursor": None, "complete": True, "unreadable": 0, "unanswered": 0,
    }  # fmt: skip
    one = {"repair": {"tenant": TENANT, "session_id": session}}
    assert recovery.handle(one, None) == {"outcome": "restarted"}
    assert recovery.handle(asked, Context())["sessions"] == []

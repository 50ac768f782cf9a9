"""What infrastructure failed is found among all sessions and brought back, however much stands in the way (ADR 46)."""

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from acta.engine.errors import (
    AwsDenied,
    PoisonedSession,
    Refused,
    SchemaUnknown,
    StoreThrottled,
    StoreUnavailable,
)
from acta.engine.log.dynamodb_index import DynamoIndex
from acta.engine.log.store import FailedPage, IndexEntry, SessionName
from acta.engine.recovery.recovery import MOST_REPAIRED
from acta.engine.recovery.repair import (
    MOST_FOUND,
    MOST_PAGES,
    PAGE,
    FailedDeps,
    find_failed,
    repair_each,
)
from acta.engine.recovery.repair import (
    FailedRuns as Found,
)
from acta.engine.store.table_layout import session_pk
from tests.api.gateway import Context
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import call, plans, says
from tests.recovery.failed_runs import fail_from_outside
from tests.recovery.test_what_a_sweep_withstands import RefusingLog
from tests.runs.fragile import SCRIPT, FragileHouse
from tests.stores import in_memory

TWO_HOURS = timedelta(hours=2)
THROTTLED = StoreThrottled("too many requests")


def with_failed(count: int, code: str = "PROVIDER_UNAVAILABLE") -> tuple[FragileHouse, list[str]]:
    house = FragileHouse(SCRIPT)
    sessions = [house.start("Tidy up").session_id for _ in range(count)]
    for session in sessions:
        fail_from_outside(house, session, code)
        house.lose(session)
    return house, sessions


def deps_of(house: FragileHouse, time_is_left: Callable[[], bool] = lambda: True) -> FailedDeps:
    return FailedDeps(house.app(), time_is_left)


def found_by(house: FragileHouse, deps: FailedDeps | None = None, tenant: str | None = None) -> list[Found]:
    """One answer after another, until there is nothing left to look at."""
    since = house.clock.now() - TWO_HOURS
    answers = [find_failed(deps or deps_of(house), since, tenant, None)]
    while not answers[-1].complete:
        assert len(answers) < 1_000, "it does not end"
        answers.append(find_failed(deps or deps_of(house), since, tenant, answers[-1].cursor))
    return answers


def ids(answers: list[Found]) -> list[str]:
    return sorted(run.session_id for answer in answers for run in answer.runs)


def names(*sessions: str) -> list[SessionName]:
    return [SessionName(TENANT, session) for session in sessions]


class Budget:
    """Time for so many questions."""

    def __init__(self, questions: int) -> None:
        self.left = questions

    def __call__(self) -> bool:
        self.left -= 1
        return self.left >= 0


def test_what_failed_since_then_is_told_with_its_code_and_its_time() -> None:
    house, [old] = with_failed(1)
    house.clock.advance(3 * 3_600)
    failed_at = house.clock.now()
    new = house.start("Tidy up").session_id
    fail_from_outside(house, new, "STEP_FAILED")
    house.clock.advance(600)

    [answer] = found_by(house)

    assert [tuple(run) for run in answer.runs] == [(TENANT, new, "STEP_FAILED", failed_at)]
    assert (answer.cursor, answer.unreadable, answer.unanswered) == (None, 0, 0)
    assert house.head(old).state == house.head(new).state == "failed"


def test_what_the_provider_would_reject_again_is_not_told() -> None:
    house, _ = with_failed(1, "PROVIDER_REJECTED")
    assert ids(found_by(house)) == []


def test_what_the_agent_failed_itself_and_what_goes_on_is_not_told() -> None:
    house = FragileHouse([plans("a"), says("", call("update_plan", action="fail", reason="cannot"))])
    failed = house.start("Go").session_id
    house.run()
    assert house.head(failed).state == "failed"
    house.start("Go on")
    assert found_by(house) == [Found((), None, complete=True)]


@pytest.mark.parametrize("tenant", [None, TENANT])
def test_however_many_there_are_each_answer_has_a_bounded_part_and_together_they_have_all(
    tenant: str | None,
) -> None:
    house, [like] = with_failed(1)
    many, whole = MOST_FOUND + 10, in_memory.commits_of(house.table, TENANT, like)
    for n in range(many):  # the log of one session serves all of them
        name = TENANT, f"{like}-{n:04d}"
        for commit in whole:
            in_memory.put(house.table, commit, pk={"S": session_pk(*name)})
        in_memory.list_session(house.table, IndexEntry(*name, "default", "failed"))
    answers = found_by(house, tenant=tenant)
    assert [len(answer.runs) for answer in answers] == [MOST_FOUND, many + 1 - MOST_FOUND]
    assert len(set(ids(answers))) == many + 1


def test_another_tenant_s_are_not_told_where_one_is_asked_for() -> None:
    house, [session] = with_failed(1)
    assert ids(found_by(house, tenant=TENANT)) == [session]
    assert found_by(house, tenant="another") == [Found((), None, complete=True)]


@pytest.mark.parametrize("tenant", [None, TENANT])
def test_where_the_time_is_over_the_next_call_goes_on_after_the_last_session(
    tenant: str | None,
) -> None:
    house, sessions = with_failed(5)
    since = house.clock.now() - TWO_HOURS
    first = find_failed(deps_of(house, Budget(3)), since, tenant, None)
    assert (len(first.runs), first.complete) == (2, False)
    rest = find_failed(deps_of(house), since, tenant, first.cursor)
    assert ids([first, rest]) == sorted(sessions)
    none = find_failed(deps_of(house, Budget(0)), since, tenant, first.cursor)
    assert (none.runs, none.cursor, none.complete) == ((), first.cursor, False)


def test_a_call_looks_at_so_many_pages_even_where_nothing_has_failed() -> None:
    house = FragileHouse(SCRIPT)
    for n in range(MOST_PAGES * PAGE + 1):
        in_memory.list_session(house.table, IndexEntry(TENANT, f"ses_{n:06d}", "default", "completed"))
    assert [answer.complete for answer in found_by(house)] == [False, True]


class RefusingIndex(DynamoIndex):
    """Does not give every second page."""

    def __init__(self, house: House, error: Exception) -> None:
        vars(self).update(vars(house.index))
        self.asked, self.error = 0, error

    def failed(self, *, limit: int, cursor: str | None) -> FailedPage:
        self.asked += 1
        if self.asked % 2:
            raise self.error
        return super().failed(limit=2, cursor=cursor)


@pytest.mark.parametrize("error", [THROTTLED, StoreUnavailable("no answer"), AwsDenied("not yet allowed")])
def test_a_page_that_aws_does_not_give_is_asked_for_again_by_the_next_call(error: Exception) -> None:
    house, sessions = with_failed(5)
    deps = FailedDeps(house.app(session_index=RefusingIndex(house, error)))
    first, *others = found_by(house, deps)
    assert (first.runs, first.cursor, first.complete) == ((), None, False)
    assert ids([first, *others]) == sorted(sessions)


@pytest.mark.parametrize(
    ("error", "unreadable", "unanswered"),
    [
        (PoisonedSession("damaged"), 1, 0),
        (SchemaUnknown("newer"), 1, 0),
        (RuntimeError("whatever"), 1, 0),
        (THROTTLED, 0, 1),
        (StoreUnavailable("no answer"), 0, 1),
        (AwsDenied("not yet allowed"), 0, 1),
    ],
)
def test_a_session_that_cannot_be_read_is_counted_and_hides_no_other(
    error: Exception, unreadable: int, unanswered: int
) -> None:
    house, sessions = with_failed(3)
    house.log = RefusingLog(house, {sessions[1]: error})
    [answer] = found_by(house)
    assert ids([answer]) == sorted((sessions[0], sessions[2]))
    assert (answer.unreadable, answer.unanswered) == (unreadable, unanswered)

    outcomes = repair_each(deps_of(house), names(*sessions))

    assert outcomes == ("restarted", "unreadable" if unreadable else "unanswered", "restarted")


def test_a_second_repair_changes_nothing_and_a_deleted_session_is_gone() -> None:
    house, sessions = with_failed(3)
    house.delete(sessions[2])
    assert repair_each(deps_of(house), names(*sessions)) == ("restarted", "restarted", "gone")
    before = [house.head(session).last_seq for session in sessions[:2]]
    assert repair_each(deps_of(house), names(*sessions)) == ("nothing", "nothing", "gone")
    assert [house.head(session).last_seq for session in sessions[:2]] == before
    assert found_by(house) == [Found((), None, complete=True)]


def test_what_there_is_no_time_for_is_left_as_it_is() -> None:
    house, sessions = with_failed(3)
    assert repair_each(deps_of(house, Budget(1)), names(*sessions)) == ("restarted", "left", "left")
    assert house.head(sessions[2]).state == "failed"


def test_a_run_that_failed_for_another_reason_meanwhile_is_refused() -> None:
    house, [session] = with_failed(1, "PLAN_FAILED")
    assert repair_each(deps_of(house), names(session)) == ("refused",)


def asked(house: FragileHouse, event: Any) -> Any:
    """What the function answers, as it comes over the wire."""
    return json.loads(json.dumps(house.recovery().handle(json.loads(json.dumps(event)), Context())))


def test_the_function_lists_and_then_repairs_what_it_was_told() -> None:
    house, [session] = with_failed(1)
    since = (house.clock.now() - TWO_HOURS).isoformat()
    at = house.head(session).updated_at.isoformat()
    one = {"tenant": TENANT, "session_id": session}

    listed = asked(house, {"repair": {"failed_since": since, "cursor": None}})

    assert listed == {
        "sessions": [{**one, "code": "PROVIDER_UNAVAILABLE", "failed_at": at}],
        "cursor": None, "complete": True, "unreadable": 0, "unanswered": 0,
    }  # fmt: skip
    assert house.head(session).state == "failed"
    assert asked(house, {"repair": {"sessions": [one]}}) == {"outcomes": ["restarted"]}
    house.run()
    assert house.head(session).state == "waiting_for_user"


@pytest.mark.parametrize(
    "wanted",
    [
        {"failed_since": "2026-01-01T00:00:00"},
        {"failed_since": "yesterday"},
        {"failed_since": "2026-01-01T00:00:00Z", "cursor": "x"},
        {"failed_since": "2026-01-01T00:00:00Z", "cursor": "x", "tenant": "acme"},
        {"failed_since": "2026-01-01T00:00:00Z", "session_id": "s"},
        {"sessions": [{"tenant": "acme"}]},
        {"sessions": [{"tenant": "acme", "session_id": "s"}] * (MOST_REPAIRED + 1)},
        {},
        7,
    ],
)
def test_a_request_of_another_form_is_refused(wanted: Any) -> None:
    with pytest.raises(Refused):
        asked(FragileHouse(SCRIPT), {"repair": wanted})

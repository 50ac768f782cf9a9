"""A sample of the sweep (`make faults` is all of it): each Lambda, each kind of fault, each place to die at. In one
process `make test` kills workers at each call (`test_fused_crashes.py`, `test_crashes.py`, `test_parking.py` and others
of tests/runs).
"""

import pytest

from tests.faults.naming import OPERATIONS
from tests.faults.point import Fault, Kind
from tests.faults.scenario import Run
from tests.faults.script import CHARGE
from tests.faults.stand import Stand
from tests.faults.sweep import Case, judge, troubles

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

DEATHS: tuple[tuple[Kind, str], ...] = (
    ("after", "admin dynamodb:TransactWriteItems F#+R#+K# 2"),
    ("before", "start states:StartExecution execution 1"),
    ("lose", "start dynamodb:TransactWriteItems start 1"),
    ("after", "step dynamodb:PutItem think 1"),
    ("lose", "step dynamodb:PutItem plan 1"),
    ("before", "tool dynamodb:PutItem finish 2"),
    ("lose", "tool s3:PutObject sessions 1"),
    ("after", "intervene dynamodb:PutItem ask 1"),
    ("before", "intervene states:SendTaskSuccess token 1"),
    ("after", "status dynamodb:Query log from C# 2"),
)
MAY_HAVE_RUN: tuple[tuple[Kind, str], ...] = (
    ("before", "tool sink:POST charge 1"),
    ("after", "tool sink:POST charge 1"),
)
FUSED: tuple[tuple[Kind, str], ...] = (
    ("after", "step dynamodb:PutItem think 1"),
    ("before", "step s3:PutObject files 1"),
    ("after", "step s3:PutObject files 1"),
    ("after", "step dynamodb:PutItem finish 1"),
)
"""Where turns are fused, and calls made between them."""
PARKED: tuple[tuple[Kind, str], ...] = (
    ("after", "intervene dynamodb:TransactWriteItems park 1"),
    ("before", "intervene states:StartExecution execution 1"),
    ("lose", "intervene states:StartExecution execution 1"),
)
"""Where nobody decides before the session has no execution any more."""
TROUBLES = (
    "throttle step dynamodb:PutItem",
    "fail tool dynamodb:Query",
    "throttle tool s3:PutObject",
    "throttle start states:StartExecution",
    "cut step model:Messages",
)


def case_of(kind: Kind, name: str, *, left: bool = False) -> Case:
    function, operation, _ = name.split(" ", 2)
    return Case((function, operation), (Fault(name, kind),), left)


def ends_as_undisturbed(stand: Stand, clean: Run, kind: Kind, name: str) -> None:
    verdict = judge(stand, clean, case_of(kind, name))
    assert verdict.fired, "the call did not come up"
    assert (verdict.problems, verdict.asked) == ((), ())


@pytest.mark.parametrize(("kind", "name"), DEATHS)
def test_a_run_whose_lambda_dies_or_hears_nothing_ends_as_the_undisturbed_one(
    stand: Stand, clean: Run, kind: Kind, name: str
) -> None:
    ends_as_undisturbed(stand, clean, kind, name)


@pytest.mark.parametrize(("kind", "name"), FUSED)
def test_a_worker_that_dies_amid_its_turns_is_followed_by_one_that_goes_on_from_the_log(
    fused: Stand, fused_clean: Run, kind: Kind, name: str
) -> None:
    ends_as_undisturbed(fused, fused_clean, kind, name)


@pytest.mark.parametrize(("kind", "name"), PARKED)
def test_a_worker_that_dies_as_it_parks_or_wakes_a_session_changes_nothing(
    fused: Stand, fused_clean: Run, kind: Kind, name: str
) -> None:
    ends_as_undisturbed(fused, fused_clean, kind, name)


def test_a_decision_about_a_parked_session_whose_worker_died_is_carried_out_when_nobody_comes_back(
    fused: Stand, fused_clean: Run
) -> None:
    case = case_of("before", "intervene states:StartExecution execution 1", left=True)
    verdict = judge(fused, fused_clean, case)
    assert (verdict.fired, verdict.problems) == (True, ())


@pytest.mark.parametrize(("kind", "name"), MAY_HAVE_RUN)
def test_a_call_that_runs_once_and_died_in_between_is_asked_about_and_ends_as_the_undisturbed_one(
    stand: Stand, clean: Run, kind: Kind, name: str
) -> None:
    verdict = judge(stand, clean, case_of(kind, name))
    assert verdict.fired, "the call did not come up"
    assert (verdict.problems, verdict.asked) == ((), (CHARGE,))


def test_what_a_sweep_can_be_named_by_is_what_the_scenario_asks_for(clean: Run, fused_clean: Run) -> None:
    calls = [*clean.track.listing.calls.values(), *fused_clean.track.listing.calls.values()]
    for function, operation in {call.group for call in calls}:
        assert operation in OPERATIONS[function], f"add it to {OPERATIONS[function]} of {function}"


def test_a_function_that_was_cooled_begins_with_a_new_process(stand: Stand, clean: Run) -> None:
    stand.cool("tool")
    verdict = judge(stand, clean, case_of("after", "tool sts:AssumeRole tenant 1"))
    assert verdict.fired
    assert (verdict.problems, verdict.asked) == ((), ())


def test_a_start_that_died_is_mended_by_recovery_when_nobody_comes_back(stand: Stand, clean: Run) -> None:
    verdict = judge(stand, clean, case_of("after", "start dynamodb:TransactWriteItems start 1", left=True))
    assert verdict.fired
    assert verdict.problems == ()


@pytest.mark.parametrize("name", TROUBLES)
def test_a_run_whose_services_fail_for_a_few_calls_ends_as_the_undisturbed_one(
    stand: Stand, clean: Run, name: str
) -> None:
    (case,) = [each for each in troubles(clean.track.listing.calls.values()) if each.name == name]
    verdict = judge(stand, clean, case)
    assert verdict.fired, "there were fewer calls than were to fail"
    assert (verdict.problems, verdict.asked) == ((), ())

"""A call that is answered at its callback URL, with a Lambda that dies at each point of its way."""

from collections.abc import Iterator

import pytest

from tests.faults.called_back import CalledBack
from tests.faults.point import Kind
from tests.faults.scenario import Run
from tests.faults.script import CHARGE
from tests.faults.stand import Stand, is_supported
from tests.faults.sweep import clean_run, judge
from tests.faults.test_sample import case_of

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

DEATHS: tuple[tuple[Kind, str], ...] = (
    ("before", "tool dynamodb:PutItem later 1"),
    ("after", "tool dynamodb:PutItem later 1"),
    ("lose", "tool dynamodb:PutItem later 1"),
    ("before", "intervene dynamodb:PutItem park 1"),
    ("after", "intervene dynamodb:PutItem park 1"),
    ("before", "wake dynamodb:PutItem finish 1"),
    ("after", "wake dynamodb:PutItem finish 1"),
    ("lose", "wake dynamodb:PutItem finish 1"),
    ("before", "wake states:StartExecution execution 1"),
    ("after", "wake states:StartExecution execution 1"),
    ("lose", "wake states:StartExecution execution 1"),
)
UNKNOWN: tuple[tuple[Kind, str], ...] = (
    ("before", "tool sink:POST charge 1"),
    ("after", "tool sink:POST charge 1"),
)
"""The service has taken the call or not, and its 202 has not arrived."""


@pytest.fixture(scope="module")
def waiting() -> Iterator[Stand]:
    if not is_supported():
        pytest.skip("processes are found by their connections on Linux only")
    with Stand() as made:
        yield made


@pytest.fixture(scope="module")
def answered(waiting: Stand) -> Run:
    return clean_run(waiting, CalledBack)


@pytest.mark.parametrize(("kind", "name"), DEATHS)
def test_a_call_that_is_answered_later_ends_as_the_undisturbed_one(
    waiting: Stand, answered: Run, kind: Kind, name: str
) -> None:
    verdict = judge(waiting, answered, case_of(kind, name), CalledBack)
    assert verdict.fired, "the call did not come up"
    assert verdict.problems == ()
    assert verdict.asked in ((), (CHARGE,))


@pytest.mark.parametrize(("kind", "name"), UNKNOWN)
def test_a_callback_or_a_person_says_whether_a_call_has_happened_whose_answer_was_lost(
    waiting: Stand, answered: Run, kind: Kind, name: str
) -> None:
    verdict = judge(waiting, answered, case_of(kind, name), CalledBack)
    assert verdict.fired, "the call did not come up"
    assert (verdict.problems, verdict.asked) == ((), (CHARGE,))


@pytest.mark.parametrize("name", ["wake dynamodb:PutItem finish 1", "wake states:StartExecution execution 1"])
def test_recovery_goes_on_after_a_delivery_that_nobody_sends_again(
    waiting: Stand, answered: Run, name: str
) -> None:
    verdict = judge(waiting, answered, case_of("after", name, left=True), CalledBack)
    assert (verdict.fired, verdict.problems) == (True, ())

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

DEATHS: tuple[tuple[Kind, str, str], ...] = (
    ("before", "tool", "later"),
    ("after", "tool", "later"),
    ("lose", "tool", "later"),
    ("before", "intervene", "park"),
    ("after", "intervene", "park"),
    ("before", "wake", "finish"),
    ("after", "wake", "finish"),
    ("lose", "wake", "finish"),
    ("before", "wake", "execution"),
    ("after", "wake", "execution"),
    ("lose", "wake", "execution"),
)
"""With the function, and what its call is about."""
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


def first(answered: Run, function: str, what: str) -> str:
    """The function's first write about it, alone or in a transaction."""
    calls = answered.track.listing.calls.values()
    return next(
        call.name
        for call in calls
        if call.function == function and call.subject.is_write and call.subject.what == what
    )


@pytest.mark.parametrize(("kind", "function", "what"), DEATHS)
def test_a_call_that_is_answered_later_ends_as_the_undisturbed_one(
    waiting: Stand, answered: Run, kind: Kind, function: str, what: str
) -> None:
    name = first(answered, function, what)
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


@pytest.mark.parametrize("what", ["finish", "execution"])
def test_recovery_goes_on_after_a_delivery_that_nobody_sends_again(
    waiting: Stand, answered: Run, what: str
) -> None:
    case = case_of("after", first(answered, "wake", what), left=True)
    verdict = judge(waiting, answered, case, CalledBack)
    assert (verdict.fired, verdict.problems) == (True, ())

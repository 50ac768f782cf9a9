"""A tree of sessions with a Lambda that dies amid its news: a sample of `make faults ONLY=tree`."""

from collections.abc import Iterator

import pytest

from tests.faults.naming import TREE_OPERATIONS
from tests.faults.point import Kind
from tests.faults.scenario import Run
from tests.faults.stand import Stand, is_supported
from tests.faults.sweep import clean_run, judge
from tests.faults.test_called_back import first
from tests.faults.test_sample import case_of
from tests.faults.tree import TreePlay, TreeProvider

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

DEATHS: tuple[tuple[Kind, str, str], ...] = (
    ("after", "tool", "start"),
    ("lose", "tool", "execution"),
    ("before", "tool", "later"),
    ("before", "step", "ended"),
    ("after", "step", "ended"),
    ("lose", "step", "finish"),
    ("before", "step", "execution"),
    ("after", "step", "told"),
)
"""With the function, and what its call is about."""


@pytest.fixture(scope="module")
def growing() -> Iterator[Stand]:
    if not is_supported():
        pytest.skip("processes are found by their connections on Linux only")
    with Stand(model=TreeProvider()) as made:
        yield made


@pytest.fixture(scope="module")
def grown(growing: Stand) -> Run:
    return clean_run(growing, TreePlay)


@pytest.mark.parametrize(("kind", "function", "what"), DEATHS)
def test_a_tree_whose_worker_dies_ends_as_the_undisturbed_one(
    growing: Stand, grown: Run, kind: Kind, function: str, what: str
) -> None:
    verdict = judge(growing, grown, case_of(kind, first(grown, function, what)), TreePlay)
    assert verdict.fired, "the call did not come up"
    assert (verdict.problems, verdict.asked) == ((), ())


def test_what_a_sweep_of_the_tree_can_be_named_by_is_what_it_writes(grown: Run) -> None:
    for call in grown.track.listing.calls.values():
        if call.subject.is_write:
            assert call.subject.operation in TREE_OPERATIONS[call.function]

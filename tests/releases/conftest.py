"""One stack for all of these tests, and the run of an unmixed fleet that the others are held against."""

from collections.abc import Iterator

import pytest

from tests.faults.scenario import Run
from tests.faults.stand import is_supported
from tests.releases.fleet import NEW, Fleet, MixedTree


@pytest.fixture(scope="package")
def fleet() -> Iterator[Fleet]:
    if not is_supported():
        pytest.skip("processes are found by their connections on Linux only")
    with Fleet() as made:
        yield made


@pytest.fixture(scope="package")
def clean(fleet: Fleet) -> Run:
    return fleet.play(NEW)


@pytest.fixture(scope="package")
def clean_tree(fleet: Fleet) -> Run:
    return fleet.play(NEW, scenario=MixedTree)

"""One stack with the fault point in it for all of these tests, and the run that the others are held against."""

from collections.abc import Iterator

import pytest

from tests.faults.scenario import Run
from tests.faults.stand import Stand, is_supported
from tests.faults.sweep import clean_run


@pytest.fixture(scope="package")
def stand() -> Iterator[Stand]:
    if not is_supported():
        pytest.skip("processes are found by their connections on Linux only")
    with Stand(traces=True) as made:
        yield made


@pytest.fixture(scope="package")
def clean(stand: Stand) -> Run:
    return clean_run(stand)


@pytest.fixture(scope="package")
def fused() -> Iterator[Stand]:
    """On which an invocation of `step` makes up to eight turns, and sessions that wait for people are parked."""
    if not is_supported():
        pytest.skip("processes are found by their connections on Linux only")
    with Stand(cap=8, traces=True, parks=True) as made:
        yield made


@pytest.fixture(scope="package")
def fused_clean(fused: Stand) -> Run:
    return clean_run(fused)

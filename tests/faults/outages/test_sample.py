"""A sample of the outages (`make faults` has all): each lasts longer than every retry of the engine."""

from collections.abc import Iterator, Mapping

import pytest

from tests.faults.outages.outage import OutageCase
from tests.faults.outages.run import OutageVerdict, outage_stand, run_all, undisturbed
from tests.faults.outages.stages import ASKING, CANCELLED, CHARGING, NOT_STARTED, RESOLVED, THINKING
from tests.faults.stand import is_supported

pytestmark = [pytest.mark.e2e, pytest.mark.thorough]

STAGES = (NOT_STARTED, THINKING, CHARGING, ASKING, RESOLVED, CANCELLED)
SAMPLE = (OutageCase("model", "failing"), OutageCase("lambda", "throttled"))


@pytest.fixture(scope="module")
def verdicts() -> Iterator[Mapping[OutageCase, OutageVerdict]]:
    """Of all at once: most of the time they wait."""
    if not is_supported():
        pytest.skip("processes are found by their connections on Linux only")
    with outage_stand() as stand:
        clean = undisturbed(stand, sessions=len(STAGES))
        yield {verdict.case: verdict for verdict in run_all(stand, clean, SAMPLE, STAGES)}


@pytest.mark.parametrize("case", SAMPLE, ids=lambda case: case.name)
def test_sessions_end_as_without_the_outage_and_pay_once(
    verdicts: Mapping[OutageCase, OutageVerdict], case: OutageCase
) -> None:
    verdict = verdicts[case]
    assert verdict.was_felt, "the outage met no call, or no step used up its retries"
    found = zip(verdict.outcomes, verdict.problems, strict=True)
    assert [(one.stage.name, problem) for one, problems in found for problem in problems] == []
    assert (verdict.failed, verdict.bought_twice, verdict.misbilled) == (0, 0, 0)

"""AG8, cascading failures: runs that never end, many at once, stop where their tenant's hour is used up."""

from collections.abc import Iterator

import pytest

from tests.bench.stand.script import Call, Reply
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.conversing import ConversingProvider, anthropic_at, planned
from tests.e2e.support.person import refused

pytestmark = pytest.mark.thorough

AN_HOUR = 60_000
LOOKS = [Reply("On and on.", (Call("list_files", {"path": f"folder-{n}"}),)) for n in range(900)]


@pytest.fixture(scope="module")
def endless(behind: Behind) -> Iterator[None]:
    model = ConversingProvider()
    model.play(planned(*LOOKS))
    with behind.configured("step", **anthropic_at(model.url), ACTA_TENANT_TOKENS_PER_HOUR=str(AN_HOUR)):
        yield
    model.stop()


def test_sessions_that_would_go_on_for_ever_wait_for_the_hour_together_and_nobody_raises_it(
    endless: None, admit: Admit
) -> None:
    mallory = admit()
    sessions = [mallory.start("Go on", max_steps=1_000, token_budget=5_000_000) for _ in range(3)]
    used = 0
    for session_id in sessions:
        seen = mallory.asked(session_id)
        (asked,) = seen.session["interventions"]
        assert (asked["type"], asked["context"]["scope"]) == ("budget_exceeded", "tenant")
        assert "raise" not in asked["options"]
        raising = mallory.resolve(
            session_id, asked["intervention_id"], "raise", input={"token_budget": 5_000_000}
        )
        refused(raising, 400, "VALIDATION_ERROR")
        used += seen.session["budget"]["tokens_used"]
        assert mallory.post(f"/v1/sessions/{session_id}/cancel").status_code == 202
    assert 0 < used <= 2 * AN_HOUR, "an hour may end meanwhile, but not two"

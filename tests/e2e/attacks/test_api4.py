"""API4, unrestricted consumption: what those without a token can use up."""

import httpx
import pytest

from tests.conftest import Deployed
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person

AT_ONCE = 5


@pytest.mark.parametrize(("path", "key"), [("/nothing", "$default"), ("/healthz", "GET /healthz")])
def test_strangers_use_up_their_own_rate_and_people_go_on(
    deployed: Deployed, behind: Behind, ann: Person, path: str, key: str
) -> None:
    """With a rate that a test can use up. How high it is in AWS: `tests/infra/test_api.py`."""
    with behind.throttled(key, at_once=AT_ONCE):
        answers = [httpx.get(deployed.url + path, timeout=60, trust_env=False) for _ in range(AT_ONCE + 3)]
        assert [answer.status_code for answer in answers[AT_ONCE:]] == [429] * 3
        assert 429 not in {answer.status_code for answer in answers[:AT_ONCE]}
        assert ann.get("/v1/sessions").status_code == 200
        assert ann.snapshot(ann.start())["state"] == "idle"

"""A web page of another origin calls the deployed API: preflight, what it may send, and what it may read."""

import httpx
import pytest

from acta.engine.api.operations import OPERATIONS
from tests.conftest import Deployed
from tests.e2e.support.document import checked
from tests.e2e.support.person import Person

PAGE = "https://app.example.com"
READABLE = {"allow", "etag", "location", "ratelimit", "ratelimit-policy", "retry-after"}


def preflight(deployed: Deployed, path: str, method: str, headers: str) -> httpx.Response:
    asked = {
        "Origin": PAGE,
        "Access-Control-Request-Method": method,
        "Access-Control-Request-Headers": headers,
    }
    return checked(httpx.options(deployed.url + path, headers=asked, timeout=60, trust_env=False))


def words(answer: httpx.Response, name: str) -> set[str]:
    return {word.strip().lower() for word in answer.headers.get(name, "").split(",") if word.strip()}


@pytest.mark.parametrize("method", sorted({route.method for route in OPERATIONS}))
def test_a_preflight_needs_no_token_and_allows_what_the_api_takes(deployed: Deployed, method: str) -> None:
    sent = "authorization,content-type,idempotency-key"
    answer = preflight(deployed, "/v1/sessions", method, sent)
    assert answer.status_code in (200, 204), answer.text
    assert answer.headers["access-control-allow-origin"] in ("*", PAGE)
    assert method.lower() in words(answer, "access-control-allow-methods")
    assert set(sent.split(",")) <= words(answer, "access-control-allow-headers")
    assert "access-control-allow-credentials" not in answer.headers


def test_a_preflight_allows_what_clients_of_mcp_send(deployed: Deployed) -> None:
    sent = "authorization,content-type,mcp-method,mcp-name,mcp-protocol-version"
    answer = preflight(deployed, "/mcp", "POST", sent)
    assert set(sent.split(",")) <= words(answer, "access-control-allow-headers")


@pytest.mark.parametrize("path", ["/v1/sessions", "/v1/sessions/none", "/v1/nothing"])
def test_a_page_reads_every_answer_and_the_headers_that_say_what_to_do_next(ann: Person, path: str) -> None:
    answer = ann.get(path, headers={"Origin": PAGE})
    assert answer.headers["access-control-allow-origin"] in ("*", PAGE)
    assert words(answer, "access-control-expose-headers") >= READABLE
    assert "access-control-allow-credentials" not in answer.headers

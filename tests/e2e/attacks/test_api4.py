"""API4, unrestricted consumption: what strangers can use up, and what members can ask for."""

import json

import httpx
import pytest

from tests.api.test_body_bounds import pairs
from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.document import checked
from tests.e2e.support.person import Person, refused

AT_ONCE = 5
FAR_TOO_MUCH = {"token_budget": 100_000_000, "cost_budget_usd": 1_000_000}
CAPPED = {"agent_id": "capped", "name": "Capped", "caps": {"max_steps": 10, "token_budget": 20_000}}


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/nothing", "$default"),
        ("/healthz", "GET /healthz"),
        ("/.well-known/oauth-protected-resource", "GET /.well-known/oauth-protected-resource"),
        ("/v1/openapi.json", "GET /v1/openapi.json"),
        ("/v1/docs", "GET /v1/docs"),
    ],
)
def test_strangers_use_up_their_own_rate_and_people_go_on(
    deployed: Deployed, behind: Behind, ann: Person, path: str, key: str
) -> None:
    """With a rate that a test can use up. How high it is in AWS: `tests/infra/test_api.py`."""
    with behind.throttled(key, at_once=AT_ONCE):
        answers = [
            checked(httpx.get(deployed.url + path, timeout=60, trust_env=False)) for _ in range(AT_ONCE + 3)
        ]
        assert [answer.status_code for answer in answers[AT_ONCE:]] == [429] * 3
        assert 429 not in {answer.status_code for answer in answers[:AT_ONCE]}
        assert ann.get("/v1/sessions").status_code == 200
        assert ann.snapshot(ann.start())["state"] == "idle"


def test_no_member_gives_a_session_more_than_agent_and_deployment_allow_at_its_start_or_later(
    admit: Admit,
) -> None:
    boss = admit(role="admin", user="boss")
    mallory = admit(boss.tenant, "mallory")
    assert boss.post("/v1/agents", CAPPED).status_code == 201
    for person in (mallory, boss):
        for field, value in FAR_TOO_MUCH.items():
            error = refused(person.post("/v1/sessions", {field: value}), 400, "VALIDATION_ERROR")
            assert "The most in this deployment is" in error["details"][field][0]
    for more in ({"max_steps": 11}, {"token_budget": 20_001}):
        body = {"agent_id": "capped", **more}
        error = refused(mallory.post("/v1/sessions", body), 400, "VALIDATION_ERROR")
        assert list(error["details"]) == list(more)
        assert boss.post("/v1/sessions", body).status_code == 202

    session_id = mallory.start("List my files", agent_id="capped", token_budget=1)
    (asked,) = mallory.asked(session_id).session["interventions"]
    iid = asked["intervention_id"]
    for given in ({"token_budget": 20_001}, FAR_TOO_MUCH):
        refused(mallory.resolve(session_id, iid, "raise", input=given), 403, "FORBIDDEN")
    refused(boss.resolve(session_id, iid, "raise", input=FAR_TOO_MUCH), 400, "VALIDATION_ERROR")
    assert mallory.snapshot(session_id)["budget"]["token_budget"] == 1
    assert boss.resolve(session_id, iid, "raise", input={"token_budget": 300_000}).status_code == 200
    assert mallory.finished(session_id).session["state"] == "completed"


def test_no_agent_is_given_limits_or_caps_beyond_the_deployment_s(admit: Admit) -> None:
    boss = admit(role="admin", user="boss")
    for part in ("limits", "caps"):
        for field, value in FAR_TOO_MUCH.items():
            body = {"name": "Greedy", part: {field: value}}
            error = refused(boss.post("/v1/agents", body), 400, "VALIDATION_ERROR")
            assert list(error["details"]) == [f"{part}.{field}"]


@pytest.mark.parametrize(
    ("path", "body", "status", "code"),
    [
        ("/v1/sessions", f'{{"content": "x", "metadata": {pairs(450_000)}}}', 413, "PAYLOAD_TOO_LARGE"),
        ("/v1/sessions", f'{{"content": "x", "metadata": {pairs(90_000)}}}', 400, "VALIDATION_ERROR"),
        ("/v1/sessions", pairs(9_000), 400, "VALIDATION_ERROR"),
        ("/v1/sessions/ses_1/interventions/int_1/resolve", pairs(450_000), 413, "PAYLOAD_TOO_LARGE"),
        ("/v1/agents", pairs(450_000), 413, "PAYLOAD_TOO_LARGE"),
        (
            "/mcp",
            f'{{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {pairs(450_000)}}}',
            413,
            "PAYLOAD_TOO_LARGE",
        ),
    ],
)
def test_a_body_of_many_values_is_refused_unread_and_its_worker_lives_on(
    behind: Behind, admit: Admit, path: str, body: str, status: int, code: str
) -> None:
    boss = admit(role="admin", user="boss")

    def send(text: str) -> httpx.Response:
        answer = boss.http.post(path, content=text, headers={"Content-Type": "application/json"})
        return checked(answer)

    send("{}")
    before = _workers(behind)
    assert "at most" in str(refused(send(body), status, code)) or status == 400
    assert send("{}").status_code in (202, 400, 404)
    assert _workers(behind) == before, "a worker has begun since: the one before was ended"


def _workers(behind: Behind) -> int:
    """How many workers have answered a first request over the API so far."""
    lines = [json.loads(line) for line in behind.log_lines() if '"answered"' in line]
    return sum(line["cold_start"] for line in lines)

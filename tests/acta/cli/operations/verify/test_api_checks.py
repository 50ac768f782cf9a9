"""Checks that ask the API: on the real one in this process, and on one that answers as a broken deployment would."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from acta.cli.operations.verify import api
from acta.cli.operations.verify.checks import EVERY_NEED, CheckAnswer, Verified, answer
from acta.client.api import Client
from acta.client.deployment import Deployment
from acta.engine.bound_tenant import tenant_hash
from acta.infra.environments import Topic
from tests.acta.cli.operations.verify.test_reading_checks import OUTPUTS, check, environment
from tests.acta.fake_deployment import SESSION_ID, FakeDeployment, Reply, failure, success
from tests.acta.real_api import FOR_ADMINS, RealApi
from tests.doubles.aws_answers import account_with


def verified(url: str, *lines: dict[str, Any], **different: Any) -> Verified:
    """`lines`: what the functions start and step have logged of the session."""

    def logged(asked: Any) -> dict[str, Any]:
        wanted = asked.get("filterPattern", "").strip('"')
        function = asked["logGroupName"].rpartition("-")[2]
        messages = [json.dumps(each) for each in lines if each["of"] == function]
        return {
            "events": [
                {
                    "timestamp": round(datetime.now(UTC).timestamp() * 1_000),
                    "logStreamName": "s",
                    "message": each,
                }
                for each in messages
                if wanted in each
            ]
        }

    ticks = iter(range(100_000))
    return Verified(
        environment(),
        account_with({"logs.filter_log_events": logged}),
        {**OUTPUTS, "ApiUrl": url},
        Client(Deployment(url, FOR_ADMINS), pause=lambda seconds: None),
        pause=lambda seconds: None,
        clock=lambda: float(next(ticks) * 30),
        **different,
    )


def asked(name: str, deployed: Verified) -> CheckAnswer:
    return answer(check(name), deployed, EVERY_NEED)


def test_sessions_on_the_real_api_come_to_their_ends_and_leave_nothing(real_api: RealApi) -> None:
    deployed = verified(real_api.url)
    found = {
        name: asked(name, deployed)
        for name in ("files", "large_file", "session", "turns", "listed", "approval", "audit")
    }
    assert {name: (each.state, each.said) for name, each in found.items() if each.state != "passed"} == {}
    assert found["session"].figures["goal_met"] == "true"
    assert asked("signed_urls", deployed).state == "passed"
    assert len(deployed.started) == 2
    api.clean_up(deployed)
    assert [*deployed.api.sessions()] == []
    assert [*deployed.api.files.list("~/")] == []


@pytest.fixture
def broken() -> Iterator[FakeDeployment]:
    with FakeDeployment() as running:
        yield running


def snapshot(state: str, **more: Any) -> dict[str, Any]:
    session = {
        "session_id": SESSION_ID,
        "state": state,
        "state_reason": None,
        "error": None,
        "interventions": [],
        "usage": {"total_tokens": 900, "llm_calls": 2, "cost_usd": None},
        "run": {"iteration": 2},
        "result": None,
        **more,
    }
    return {"session": session, "cursor": "c", "has_more": False, "events": []}


def step(kind: str, began: int, ended: int) -> dict[str, Any]:
    times = {"started_at": f"2026-11-27T10:00:{began:02}Z", "completed_at": f"2026-11-27T10:00:{ended:02}Z"}
    return {"kind": kind, "duration_ms": 1_000 * (ended - began), **times}


def page(*items: Any) -> dict[str, Any]:
    return {"items": [*items], "next_cursor": None}


SESSION = f"/v1/sessions/{SESSION_ID}"
QUESTION = {"intervention_id": "int_1", "state": "pending"}
ASKS = snapshot("waiting_for_user", interventions=[QUESTION])
USED = {"total": {"tokens": {"total": 0}}}
BROKEN: list[tuple[str, dict[str, Reply], str, dict[str, Any]]] = [
    ("answers", {"GET /healthz": failure(500, "INTERNAL_ERROR", "no")}, "failed", {"status": 500}),
    ("signed_urls", {"POST /v1/hooks/WyJob29rcyJd.AAAA": failure(503, "UNAVAILABLE", "no")}, "failed", {"status": 503}),
    ("signed_urls", {"POST /v1/hooks/WyJob29rcyJd.AAAA": success({}, 202)}, "failed", {"status": 202}),
    ("no_token", {"GET /v1/sessions": success(page())}, "failed", {"token": "none", "status": 200}),
    ("keys", {"POST /v1/models/check": success({"providers": [{"provider": "anthropic", "status": "refused"}]})},
     "failed", {"refused": 1}),
    ("keys", {"POST /v1/models/check": success({"providers": [{"provider": "offline", "status": "unchecked"}]})},
     "not answered", {"unchecked": 1}),
    ("keys", {"POST /v1/models/check": failure(403, "FORBIDDEN", "no")}, "not answered", {"status": 403}),
    ("session", {f"GET {SESSION}": success(snapshot("failed", error={"code": "PROVIDER_KEY_REFUSED"}))}, "failed",
     {"state": "failed", "code": "PROVIDER_KEY_REFUSED"}),
    ("session", {f"GET {SESSION}": success(snapshot("executing"))}, "failed", {}),
    ("session", {f"GET {SESSION}": success(ASKS)}, "failed", {"state": "waiting_for_user"}),
    ("session", {"POST /v1/sessions": failure(429, "TOO_MANY_OPEN_SESSIONS", "no")}, "not answered",
     {"status": 429, "code": "TOO_MANY_OPEN_SESSIONS"}),
    ("turns", {f"GET {SESSION}/steps": success(page(step("llm", 1, 2), step("tool", 9, 10), step("llm", 18, 19)))},
     "failed", {"between_ms": 7_500, "model_ms": 1_000}),
    ("turns", {f"GET {SESSION}/steps": success(page(step("llm", 1, 2)))}, "not answered", {}),
    ("listed", {"GET /v1/sessions": success(page(snapshot("completed", session_id="ses_other")["session"]))}, "failed",
     {}),
    ("approval", {f"GET {SESSION}": success(snapshot("completed"))}, "not answered", {"state": "completed"}),
    ("logs", {}, "failed", {}),
    ("usage", {"GET /v1/usage": success(USED)}, "failed", {}),
    ("audit", {"GET /v1/audit": success(page({"action": "session.cancel"}))}, "failed", {}),
    ("audit", {"GET /v1/audit": failure(403, "FORBIDDEN", "no")}, "not answered", {"status": 403}),
    ("sign_in", {"GET /v1/me": success({"user": "ann", "tenant": "acme", "roles": ["admin"]})}, "not answered",
     {"roles": 1}),
    ("sign_in", {"GET /v1/me": failure(401, "UNAUTHORIZED", "no")}, "not answered", {"status": 401}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "replies", "state", "figures"), BROKEN, ids=[f"{name} {state}" for name, _, state, _ in BROKEN]
)
def test_a_broken_deployment_shows(
    name: str, replies: dict[str, Reply], state: str, figures: dict[str, Any], broken: FakeDeployment
) -> None:
    usual = {"POST /v1/sessions": success({"session_id": SESSION_ID}, 202), "GET /v1/usage": success(USED)}
    for each, reply in {**usual, **replies}.items():
        method, path = each.split(" ")
        broken.on(method, path, reply)
    deployed = verified(broken.url, canary="acta-verify-x")
    if name != "session":
        deployed.worked, deployed.tokens_before = snapshot("completed")["session"], 10
    found = asked(name, deployed)
    assert (found.state, found.figures.items() >= figures.items()) == (state, True), found
    assert found.said


def test_a_long_poll_that_is_answered_at_once_is_a_failure(broken: FakeDeployment) -> None:
    broken.on("POST", "/v1/sessions", success({"session_id": SESSION_ID}, 202))
    broken.on("GET", SESSION, success(ASKS))
    deployed = verified(broken.url, canary="acta-verify-x")
    deployed.clock = lambda: 0.0
    found = asked("approval", deployed)
    assert (found.state, found.figures) == ("failed", {"poll_seconds": 0.0})
    assert found.said


def test_content_in_a_log_line_is_a_failure() -> None:
    lines = [{"of": each, "session_id": SESSION_ID} for each in ("start", "step")]
    clean = verified(
        "http://127.0.0.1:1", *lines, canary="acta-verify-x", worked=snapshot("completed")["session"]
    )
    assert asked("logs", clean).state == "passed"
    leak = {"of": "step", "session_id": SESSION_ID, "text": "acta-verify-x"}
    leaking = verified("http://127.0.0.1:1", *lines, leak, canary="acta-verify-x", worked=clean.worked)
    found = asked("logs", leaking)
    assert (found.state, dict(found.figures)) == ("failed", {"lines": 1})


@pytest.mark.parametrize(
    ("headers", "state"),
    [
        (api.MCP_HEADERS.replace(",", ", "), "passed"),
        ("authorization, content-type", "failed"),
    ],
)
def test_a_browser_s_question_is_answered_by_what_the_gateway_was_given(
    headers: str, state: str, broken: FakeDeployment
) -> None:
    told = (
        ("Access-Control-Allow-Origin", "https://app.example.com"),
        ("Access-Control-Allow-Headers", headers),
    )
    broken.on("OPTIONS", "/mcp", Reply(204, b"", told))
    deployed = verified(broken.url)
    deployed.environment = replace(deployed.environment, cors_origins=("https://app.example.com",))
    assert asked("mcp_pages", deployed).state == state
    (sent,) = broken.requests_to("OPTIONS", "/mcp")
    assert sent.headers["Origin"] == "https://app.example.com"


def test_a_deployment_that_is_away_fails_and_one_without_a_sign_in_is_not_answered() -> None:
    away = verified("http://127.0.0.1:1")
    assert asked("answers", away).state == "failed"
    away.client = None
    for name in ("session", "sign_in", "keys"):
        assert asked(name, away).state == "not answered"


@pytest.mark.parametrize(("began", "state"), [(12, "passed"), (55, "failed")])
def test_a_session_that_recovery_woke_and_not_the_decision_is_a_failure(
    began: int, state: str, broken: FakeDeployment
) -> None:
    asks, goes_on = success(ASKS), snapshot("executing", usage={"llm_calls": 3})
    broken.on("POST", "/v1/sessions", success({"session_id": SESSION_ID}, 202))
    broken.on("GET", SESSION, asks, asks, asks, success(goes_on))
    broken.on("POST", f"{SESSION}/interventions/int_1/resolve", success({}))
    steps = [step("llm", 1, 2), step("intervention", 3, 10), step("llm", began, 59)]
    broken.on("GET", f"{SESSION}/steps", success(page(*steps)))
    found = asked("approval", verified(broken.url, canary="acta-verify-x"))
    assert (found.state, found.figures["wake_seconds"]) == (state, began - 10)


@pytest.mark.parametrize(
    ("messages", "state", "figures"),
    [
        (["notified", "not delivered"], "passed", {"sent": 1, "not_taken": 1}),
        (["not delivered"], "failed", {}),
        ([], "failed", {}),
    ],
)
def test_whether_a_notification_was_taken_is_in_the_log(
    messages: list[str], state: str, figures: dict[str, Any]
) -> None:
    lines = [{"of": "notify", "session_id": SESSION_ID, "message": each} for each in messages]
    deployed = verified("http://127.0.0.1:1", *lines, started=[SESSION_ID])
    assert asked("notified", deployed).state == "not answered"
    deployed.environment = replace(deployed.environment, notifications=Topic())
    found = asked("notified", deployed)
    assert (found.state, dict(found.figures)) == (state, figures)


def test_a_file_that_comes_back_changed_is_a_failure(broken: FakeDeployment) -> None:
    for path in ("~/acta-verify.txt", "~/acta-verify-large.txt"):
        broken.on("PUT", f"/v1/files/{path}", success({"path": path, "etag": "e", "size": 1}, 201))
        broken.on("GET", f"/v1/files/{path}", Reply(200, b"another"))
    for name in ("files", "large_file"):
        assert asked(name, verified(broken.url)).state == "failed"


def test_a_decision_that_wakes_nothing_is_a_failure(broken: FakeDeployment) -> None:
    broken.on("POST", "/v1/sessions", success({"session_id": SESSION_ID}, 202))
    broken.on("GET", SESSION, success(ASKS))
    broken.on("POST", f"{SESSION}/interventions/int_1/resolve", success({}))
    found = asked("approval", verified(broken.url, canary="acta-verify-x"))
    assert (found.state, dict(found.figures)) == ("failed", {})
    assert len(broken.requests_to("POST", f"{SESSION}/interventions/int_1/resolve")) == 1


def test_the_size_of_the_own_tenant_s_policy_is_measured_beside_the_guess(broken: FakeDeployment) -> None:
    broken.on("GET", "/v1/me", success({"user": "ann", "tenant": "acme", "roles": []}))
    own = tenant_hash("acme", OUTPUTS["TableName"])
    packed = [(own, 61), (own, 58), ("another", 70)]
    lines = [
        {"of": "step", "message": "session policy packed", "tenant_hash": each, "PackedPolicySize": size}
        for each, size in packed
    ]
    found = asked("packed_policies", verified(broken.url, *lines))
    assert found.figures["own_percent"] == 61
    assert found.figures["most_percent"] == 70
    assert 100 < float(found.figures["own_deflated"]) < float(found.figures["own_characters"])
    assert "acme" not in str(found.figures)


def test_usage_is_not_called_counted_where_nobody_knows_what_was_counted_before(
    broken: FakeDeployment,
) -> None:
    deployed = verified(broken.url, canary="acta-verify-x")
    broken.on("GET", "/v1/usage", failure(403, "FORBIDDEN", "no"), success(USED))
    broken.on("POST", "/v1/sessions", success({"session_id": SESSION_ID}, 202))
    broken.on("GET", SESSION, success(snapshot("completed")))
    assert asked("session", deployed).state == "passed"
    assert asked("usage", deployed).state == "not answered"


def test_what_cannot_be_deleted_is_named(broken: FakeDeployment) -> None:
    deployed = verified(broken.url, started=["ses_1", "ses_2"], written=[api.FILE])
    broken.on("DELETE", "/v1/sessions/ses_1", failure(503, "UNAVAILABLE", "no"))
    broken.on("DELETE", "/v1/sessions/ses_2", success({}, 204))
    broken.on("DELETE", f"/v1/files/{api.FILE}", success({}, 204))
    assert api.clean_up(deployed) == ["ses_1"]

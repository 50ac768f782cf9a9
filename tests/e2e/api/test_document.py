"""The document that the API serves of itself, and its page."""

from typing import Any

import httpx
import pytest

from acta.engine.api.operations import BY_TAG, OPERATIONS
from acta.infra.document.openapi import document
from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.browser import NoBrowser
from tests.e2e.support.document import NotDescribed, checked
from tests.e2e.support.person import Person, carries_the_headers
from tests.e2e.support.samples import GOAL, give_files
from tests.e2e.support.screen import driven

Json = dict[str, Any]


def stranger(deployed: Deployed, path: str, **headers: str) -> httpx.Response:
    return checked(httpx.get(deployed.url + path, headers=headers, timeout=60, trust_env=False))


def test_the_document_is_served_without_a_token_and_says_of_every_route(deployed: Deployed) -> None:
    for accepted in ("gzip", "identity"):
        answer = stranger(deployed, "/v1/openapi.json", **{"Accept-Encoding": accepted})
        assert answer.headers.get("content-encoding") == ("gzip" if accepted == "gzip" else None)
        assert answer.json() == document()
        carries_the_headers(answer)


def test_the_page_and_its_files_are_served_without_a_token(deployed: Deployed) -> None:
    for path in ("/v1/docs", "/v1/docs/start.js", "/v1/docs/swagger-ui.css", "/v1/docs/swagger-ui-bundle.js"):
        answer = stranger(deployed, path)
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; ")
        carries_the_headers(answer)
    assert stranger(deployed, "/v1/docs/routes.py").status_code == 404


@pytest.mark.thorough
def test_the_page_shows_every_operation_in_a_browser_that_reaches_nothing_but_the_api(
    deployed: Deployed,
) -> None:
    try:
        with driven() as chromium:
            page = chromium.new_page()
            page.goto(f"{deployed.url}/v1/docs")
            page.locator(".opblock").last.wait_for()
            shown = page.content()
    except NoBrowser as missing:
        pytest.skip(str(missing))
    for tag, rows in BY_TAG.items():
        for row in rows:
            assert f'data-path="{row.plain_path}"' in shown, row.name
            assert f"operations-{tag}-{row.name}" in shown, row.name
            assert row.method in shown
    assert "Failed to load" not in shown


def test_an_answer_that_the_document_does_not_have_is_found(ann: Person) -> None:
    """That the comparison compares: a field more, a status, a header less, one that is not described or is
    another, another content type.
    """
    answer = ann.get("/v1/files")
    body = answer.json()

    def changed(status: int = 200, kind: str = "application/json", **data: Any) -> httpx.Response:
        told = {"success": True, "data": {**body["data"], **data}}
        return httpx.Response(status, json=told, headers={"Content-Type": kind}, request=answer.request)

    checked(changed())
    for wrong in (changed(more=1), changed(next_cursor=3), changed(status=206), changed(kind="text/html")):
        with pytest.raises(NotDescribed):
            checked(wrong)
    for name, value in (("Allow", "GET"), ("RateLimit", "500")):
        told = httpx.Response(200, json=body, headers={name: value}, request=answer.request)
        with pytest.raises(NotDescribed, match=name):
            checked(told)
    polled = ann.get(f"/v1/sessions/{ann.start()}")
    with pytest.raises(NotDescribed, match="without ETag"):
        checked(httpx.Response(200, content=polled.content, request=polled.request))


@pytest.fixture
def boss(admit: Admit) -> Person:
    return admit(role="admin", user="boss")


def examples() -> dict[str, dict[str, Json]]:
    """By method and path, the bodies of the document by their names."""
    return {
        f"{method.upper()} {path}": {name: each["value"] for name, each in content["examples"].items()}
        for path, operations in document()["paths"].items()
        for method, operation in operations.items()
        if (content := operation.get("requestBody", {}).get("content", {}).get("application/json"))
    }


ASK_OTHERS = {
    "POST /v1/tools/{name}/call",
    "POST /v1/mcp-servers/{name}/confirm",
    "POST /v1/hooks/{token}",
    "POST /v1/callbacks/{token}",
}
"""Operations for which a server, a sender that signs or an open call has to be there. Each has tests with one."""


@pytest.mark.thorough
def test_every_example_of_the_document_works(boss: Person, behind: Behind) -> None:
    sent: set[tuple[str, str]] = set()
    bodies = examples()

    def send(key: str, name: str, /, **variables: str) -> httpx.Response:
        method, _, path = key.partition(" ")
        headers = {"If-Match": "*"} if key == "PATCH /v1/sessions/{session_id}/plan" else {}
        url = path.format(**variables)
        answer = boss.http.request(method, url, json=bodies[key][name], headers=headers)
        assert answer.is_success, f"{key}, {name}: {answer.text}"
        sent.add((key, name))
        return answer

    send("POST /mcp", "2025-11-25")
    send("POST /v1/sessions", "goal")
    send("POST /v1/sessions", "limits")
    idle = send("POST /v1/sessions", "idle").json()["data"]["session_id"]
    send("POST /v1/sessions/{session_id}/messages", "message", session_id=idle)

    send("PATCH /v1/sessions/{session_id}", "limits", session_id=idle)

    give_files(boss)
    ended = boss.finished(boss.start(GOAL)).session["session_id"]
    for name in bodies["POST /v1/sessions/{session_id}/rating"]:
        send("POST /v1/sessions/{session_id}/rating", name, session_id=ended)
    for name in bodies["POST /v1/sessions/{session_id}/fork"]:
        send("POST /v1/sessions/{session_id}/fork", name, session_id=ended)

    for name in bodies["POST /v1/agents"]:
        send("POST /v1/agents", name)
    send("PUT /v1/agents/{agent_id}", "researcher", agent_id="researcher")
    with behind.configured("admin", ACTA_HTTP_TOOL_HOSTS="api.example.com,mcp.example.com,login.example.com"):
        for name in ("http", "path and query"):
            send("POST /v1/tools", name)
        for name, host in (("desk_key", "mcp.example.com"), ("desk_client", "login.example.com")):
            secret = {"value": "a-value-of-a-server", "hosts": [host]}
            assert boss.http.put(f"/v1/tool-secrets/{name}", json=secret).is_success
        for name in bodies["PUT /v1/mcp-servers/{name}"]:
            send("PUT /v1/mcp-servers/{name}", name, name="desk")
        send("PUT /v1/tools/{name}", "http", name=bodies["POST /v1/tools"]["http"]["name"])
    send("PUT /v1/tool-secrets/{name}", "token", name="token")
    for name in ("github_hook", "shop_hook"):
        checks = {"value": "what-webhooks-are-signed-with", "hosts": []}
        assert boss.http.put(f"/v1/tool-secrets/{name}", json=checks).is_success
    for name in bodies["PUT /v1/triggers/{trigger_id}"]:
        send("PUT /v1/triggers/{trigger_id}", name, trigger_id=name)
    for name in bodies["POST /v1/triggers/{trigger_id}/events"]:
        send("POST /v1/triggers/{trigger_id}/events", name, trigger_id="orders")
    with behind.configured("admin", ACTA_NOTIFY_HOSTS="hooks.example.com"):
        for name in bodies["PUT /v1/notifications"]:
            send("PUT /v1/notifications", name)
    memory = send("POST /v1/memories", "fact").json()["data"]["memory_id"]
    send("PUT /v1/memories/{memory_id}", "shared", memory_id=memory)
    for name in bodies["POST /v1/schedules"]:
        schedule = send("POST /v1/schedules", name).json()["data"]["schedule_id"]
    send("PUT /v1/schedules/{schedule_id}", "weekdays", schedule_id=schedule)
    send("PATCH /v1/schedules/{schedule_id}", "another time", schedule_id=schedule)
    send("PATCH /v1/schedules/{schedule_id}", "a rate", schedule_id=schedule)
    prompt = "agent_planning_system"
    send("PUT /v1/admin/prompts/{name}", "version", name=prompt)
    restore = "POST /v1/admin/prompts/{name}/versions/{version}/restore"
    send(restore, "restored", name=prompt, version="1")

    resolve = "POST /v1/sessions/{session_id}/interventions/{intervention_id}/resolve"
    for decision in bodies[resolve]:
        boss.put_file("copy.md", "A copy")
        session_id = boss.start("Delete copy.md")
        (asked,) = boss.asked(session_id).session["interventions"]
        send(resolve, decision, session_id=session_id, intervention_id=asked["intervention_id"])

    boss.put_file("copy.md", "A copy")
    session_id = boss.start("Delete copy.md")
    planned = boss.asked(session_id).session["plan"]["steps"]
    more = [{"op": "add", "description": f"Step {number}"} for number in range(len(planned) + 1, 5)]
    path = f"/v1/sessions/{session_id}/plan"
    assert boss.patch(path, {"operations": more}, If_Match="*").status_code == 200
    send("PATCH /v1/sessions/{session_id}/plan", "reorder", session_id=session_id)
    send("PATCH /v1/sessions/{session_id}/plan", "edit", session_id=session_id)

    of_all = {(key, name) for key, each in bodies.items() for name in each}
    assert sent == {(key, name) for key, name in of_all if key not in ASK_OTHERS}


def test_the_document_names_exactly_the_routes_of_the_gateway(behind: Behind) -> None:
    gateway = behind.client("apigatewayv2")
    (api,) = gateway.get_apis()["Items"]
    deployed = {route["RouteKey"] for route in gateway.get_routes(ApiId=api["ApiId"])["Items"]} - {"$default"}
    described = {f"{method.upper()} {path}" for path, each in document()["paths"].items() for method in each}
    assert {key.replace("+}", "}") for key in deployed} == described
    assert len(described) == len(OPERATIONS)

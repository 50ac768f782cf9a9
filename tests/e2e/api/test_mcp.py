"""`/mcp` as deployed: a goal is handed over, followed, decided on and read, and nobody without a token gets so far."""

from typing import Any

import httpx

from tests.e2e.conftest import Admit
from tests.e2e.support.document import checked
from tests.e2e.support.person import TLS, Person

META = "io.modelcontextprotocol/"
VERSION = "2026-07-28"


def ask(person: Person, method: str, named_by: str | None = None, **params: Any) -> dict[str, Any]:
    """The result of a request of a client that takes tasks and asks its person with forms."""
    capabilities: dict[str, Any] = {"extensions": {f"{META}tasks": {}}, "elicitation": {}}
    params["_meta"] = {f"{META}protocolVersion": VERSION, f"{META}clientCapabilities": capabilities}
    named = {} if named_by is None else {"Mcp_Name": named_by}
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = person.post("/mcp", body, MCP_Protocol_Version=VERSION, Mcp_Method=method, **named)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()["result"]
    return found


def call(person: Person, name: str, **arguments: Any) -> dict[str, Any]:
    return ask(person, "tools/call", name, name=name, arguments=arguments)


def task_with(person: Person, task_id: str, status: str) -> dict[str, Any]:
    """The task, as soon as it is so. Each look waits for what the session does."""
    cursor = "0"
    while (task := ask(person, "tasks/get", task_id, taskId=task_id))["status"] != status:
        seen = call(person, "watch_session", session_id=task_id, after=cursor, wait=20)["structuredContent"]
        cursor = seen["cursor"]
    return task


def test_a_goal_is_handed_over_decided_on_and_read_over_mcp(ann: Person, admit: Admit) -> None:
    assert "agent_default" in {tool["name"] for tool in ask(ann, "tools/list")["tools"]}
    task = call(ann, "agent_default", goal="Create the file made.txt", visibility="private")
    task_id = task["taskId"]
    ((key, asked),) = task_with(ann, task_id, "input_required")["inputRequests"].items()
    assert asked["params"]["message"].startswith("clarification_needed: ")
    given = {"action": "accept", "content": {"option": "answer", "text": "one line"}}
    ask(ann, "tasks/update", task_id, taskId=task_id, inputResponses={key: given})
    done = task_with(ann, task_id, "completed")
    assert done["result"]["structuredContent"]["result"]["goal_met"] is True
    assert call(ann, "session_receipt", session_id=task_id)["structuredContent"]["session_id"] == task_id
    cancelled = call(ann, "start_session", content="Create the file other.txt")["structuredContent"][
        "session_id"
    ]
    assert call(ann, "cancel_session", session_id=cancelled)["structuredContent"]["state"] == "cancelled"
    bob = admit(ann.tenant, "bob")
    refused = call(bob, "watch_session", session_id=task_id)
    assert refused["structuredContent"]["error"]["code"] == "SESSION_NOT_FOUND"


def test_without_a_token_nothing_is_answered_and_there_is_no_stream(ann: Person) -> None:
    question = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    url = ann.http.base_url.join("/mcp")
    refused = checked(httpx.post(url, json=question, timeout=60, trust_env=False, verify=TLS))
    assert (refused.status_code, refused.json()) == (401, {"message": "Unauthorized"})
    for method in ("GET", "DELETE"):
        answer = ann.http.request(method, "/mcp")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")

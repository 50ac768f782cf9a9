"""`/mcp` as deployed: a goal is handed over, followed, decided on and read, and nobody without a token gets so far."""

from typing import Any

import httpx

from acta.engine.audit.trail import item_record
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.document import checked
from tests.e2e.support.mcp_client import FORMS, ask, call, told
from tests.e2e.support.person import TLS, Person


def task_with(person: Person, task_id: str, status: str) -> dict[str, Any]:
    """The task, as soon as it is so. Each look waits for what the session does."""
    cursor = "0"
    while (task := ask(person, "tasks/get", FORMS, task_id, taskId=task_id))["status"] != status:
        cursor = told(call(person, "watch_session", session_id=task_id, after=cursor, wait=20))["cursor"]
    return task


def test_a_goal_is_handed_over_decided_on_and_read_over_mcp(ann: Person, admit: Admit) -> None:
    assert "agent_default" in {tool["name"] for tool in ask(ann, "tools/list", FORMS)["tools"]}
    goal = {"goal": "Create the file made.txt", "visibility": "private"}
    task = ask(ann, "tools/call", FORMS, "agent_default", name="agent_default", arguments=goal)
    task_id = task["taskId"]
    ((key, asked),) = task_with(ann, task_id, "input_required")["inputRequests"].items()
    assert asked["params"]["message"].startswith("Acta asks you to decide (clarification_needed).")
    given = {"action": "accept", "content": {"option": "answer", "text": "one line"}}
    ask(ann, "tasks/update", FORMS, task_id, taskId=task_id, inputResponses={key: given})
    done = task_with(ann, task_id, "completed")
    assert told(done["result"])["result"]["goal_met"] is True
    assert told(call(ann, "session_receipt", session_id=task_id))["session_id"] == task_id
    cancelled = told(call(ann, "start_session", content="Create the file other.txt"))["session_id"]
    assert told(call(ann, "cancel_session", session_id=cancelled))["state"] == "cancelled"
    bob = admit(ann.tenant, "bob")
    refused = call(bob, "watch_session", session_id=task_id)
    assert told(refused)["code"] == "SESSION_NOT_FOUND"


def test_a_client_of_2025_06_18_shakes_hands_lists_and_calls_and_a_slash_at_the_end_changes_nothing(
    ann: Person, behind: Behind
) -> None:
    def asked(method: str, **params: Any) -> Any:
        body = {"jsonrpc": "2.0", "id": 0, "method": method, "params": params}
        return ann.post("/mcp", body, MCP_Protocol_Version="2025-06-18").json()["result"]

    shaken = asked("initialize", protocolVersion="2025-06-18", capabilities={"elicitation": {}})
    assert (shaken["protocolVersion"], shaken["capabilities"]) == ("2025-06-18", {"tools": {}})
    assert "agent_default" in {tool["name"] for tool in asked("tools/list", cursor=None)["tools"]}
    assert told(asked("tools/call", name="list_waiting", arguments=None))["items"] == []

    moved = ann.post("/mcp/", {"jsonrpc": "2.0", "id": 0, "method": "ping", "params": None})
    assert (moved.status_code, moved.headers["location"]) == (308, "/mcp")
    started = ann.http.post("/v1/sessions/", json={"content": "Say hello"}, follow_redirects=True)
    session_id = started.json()["data"]["session_id"]
    for path in (f"/v1/sessions/{session_id}/messages/", f"/v1/sessions/{session_id}/receipt//"):
        assert ann.http.get(path, follow_redirects=True).status_code == 200
    audited = [item_record(each) for each in behind.audited(ann.tenant)]
    assert sorted(each.outcome for each in audited if each.action == "session.start") == ["begun", "done"]


def test_without_a_token_nothing_is_answered_and_there_is_no_stream(ann: Person) -> None:
    question = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    url = ann.http.base_url.join("/mcp")
    refused = checked(httpx.post(url, json=question, timeout=60, trust_env=False, verify=TLS))
    assert (refused.status_code, refused.json()) == (401, {"message": "Unauthorized"})
    for method in ("GET", "DELETE"):
        answer = ann.http.request(method, "/mcp")
        assert (answer.status_code, answer.headers["allow"]) == (405, "POST")

"""What `/mcp` makes of messages, whatever they ask for: versions, headers, errors (ADR 94)."""

import json
from typing import Any

import pytest

from acta.engine.api.operations import OPERATIONS
from tests.api.gateway import Answer
from tests.in_process.house import House
from tests.mcp_server.client import BEFORE_TASKS, STATELESS, WITH_HANDSHAKE, Client, told
from tests.people.policies import house_with

META = "io.modelcontextprotocol/"


@pytest.fixture
def client() -> Client:
    return Client(house_with())


@pytest.fixture
def older() -> Client:
    return Client(house_with(), version=WITH_HANDSHAKE)


def code_of(answer: Answer) -> tuple[int, int]:
    return answer.status, answer.json["error"]["code"]


def test_discover_says_what_there_is_and_who_answers(client: Client) -> None:
    found = client.result("server/discover")
    assert found["supportedVersions"] == [STATELESS, WITH_HANDSHAKE, BEFORE_TASKS]
    assert found["capabilities"] == {"tools": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}
    assert (found["resultType"], found["cacheScope"], found["ttlMs"] > 0) == ("complete", "public", True)
    assert found["_meta"][f"{META}serverInfo"]["name"] == "acta"


def test_a_client_with_a_handshake_is_answered_as_its_version_has_it(older: Client) -> None:
    asked = {
        "protocolVersion": WITH_HANDSHAKE,
        "capabilities": {},
        "clientInfo": {"name": "c", "version": "1"},
    }
    answer = older.post("initialize", asked, {"MCP-Protocol-Version": ""})
    assert answer.json["result"]["protocolVersion"] == WITH_HANDSHAKE
    assert answer.json["result"]["capabilities"]["tasks"] == {
        "cancel": {},
        "requests": {"tools": {"call": {}}},
    }
    assert "mcp-session-id" not in {name.lower() for name in answer.headers}
    assert older.result("ping") == {}
    assert "resultType" not in older.result("tools/list")


@pytest.mark.parametrize(
    ("asked", "spoken"),
    [
        (BEFORE_TASKS, BEFORE_TASKS),
        (WITH_HANDSHAKE, WITH_HANDSHAKE),
        (STATELESS, WITH_HANDSHAKE),
        ("2025-03-26", WITH_HANDSHAKE),
        ("2024-11-05", WITH_HANDSHAKE),
        ("v999", WITH_HANDSHAKE),
        (None, WITH_HANDSHAKE),
        (5, WITH_HANDSHAKE),
        ([], WITH_HANDSHAKE),
    ],
)
@pytest.mark.parametrize("named", ["", BEFORE_TASKS, WITH_HANDSHAKE, "2025-03-26"])
def test_a_handshake_is_answered_in_the_client_s_version_or_the_newest_that_has_one(
    older: Client, asked: Any, spoken: str, named: str
) -> None:
    answer = older.post("initialize", {"protocolVersion": asked}, {"MCP-Protocol-Version": named})
    assert answer.json["result"]["protocolVersion"] == spoken
    assert ("tasks" in answer.json["result"]["capabilities"]) == (spoken == WITH_HANDSHAKE)


@pytest.mark.parametrize("named", [BEFORE_TASKS, ""])
def test_a_client_before_tasks_lists_and_calls_and_gets_no_task(named: str) -> None:
    client = Client(house_with(), version=named)
    assert client.result("ping") == {}
    assert {"start_session", "agent_default"} <= set(client.names())
    begun = client.call("agent_default", {"goal": "Go"}, task={})
    assert told(begun)["session_id"].startswith("ses_")
    for method in ("tasks/get", "tasks/result", "tasks/cancel", "server/discover"):
        assert code_of(client.post(method, {"taskId": told(begun)["session_id"]})) == (200, -32601)


@pytest.mark.parametrize("version", [STATELESS, WITH_HANDSHAKE, BEFORE_TASKS])
def test_null_is_what_was_left_out(version: str) -> None:
    client = Client(house_with(), version=version)
    for nothing in (None, ""):
        assert len(client.result("tools/list", cursor=nothing)["tools"]) > 5
    assert told(client.result("tools/call", name="list_waiting", arguments=None))["items"] == []
    assert told(client.call("list_waiting", {"cursor": None, "limit": None}))["items"] == []
    goal = {"goal": "Go", "token_budget": None, "metadata": None}
    begun = told(client.call("agent_default", goal, inputResponses=None, task=None))
    watched = client.call("watch_session", {"session_id": begun["session_id"], "after": None, "wait": None})
    assert told(watched)["session"]["session_id"] == begun["session_id"]
    assert told(client.call("agent_default", {"goal": None}))["details"] == {
        "goal": ["This is missing, or no text."]
    }
    if version != STATELESS:
        assert len(client.post("tools/list", params={"_meta": None}).json["result"]["tools"]) > 5
        answer = client.gateway.request(
            "POST", "/mcp", json_body={"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": None}
        )
        assert len(answer.json["result"]["tools"]) > 5


@pytest.mark.parametrize("identity", [0, -1, 2**53 + 1, 10**40, "", "0", "größe", " ", "a" * 5_000])
def test_an_answer_has_the_id_of_its_request_as_it_was_given(older: Client, identity: Any) -> None:
    for method in ("ping", "no/such"):
        answer = older.post(method, id=identity).json
        assert (answer["id"], type(answer["id"])) == (identity, type(identity))


def test_a_request_without_a_body_is_refused(older: Client) -> None:
    assert code_of(older.gateway.request("POST", "/mcp")) == (400, -32600)


@pytest.mark.parametrize("more", [{}, {"id": None}, {"params": None}, {"params": {"_meta": None}}])
def test_a_notification_is_taken_and_not_answered(older: Client, more: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized", **more})
    answer = older.gateway.request("POST", "/mcp", body=body, headers={"content-type": "application/json"})
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.parametrize("left_out", ["protocolVersion", "clientCapabilities"])
def test_a_request_that_does_not_say_its_version_or_what_its_client_can_is_refused(
    client: Client, left_out: str
) -> None:
    meta = {"protocolVersion": STATELESS, "clientCapabilities": {}}
    del meta[left_out]
    params = {"_meta": {f"{META}{name}": value for name, value in meta.items()}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": params}
    headers = {"mcp-protocol-version": STATELESS, "mcp-method": "server/discover"}
    assert code_of(client.gateway.request("POST", "/mcp", json_body=body, headers=headers)) == (400, -32602)


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP-Protocol-Version": ""},
        {"MCP-Protocol-Version": WITH_HANDSHAKE},
        {"Mcp-Method": ""},
        {"Mcp-Method": "tools/list"},
        {"Mcp-Name": ""},
        {"Mcp-Name": "cancel_session"},
        {"Mcp-Name": "=?base64?c2F5=?="},
        {"Mcp-Name": "=?base64?c2F!5?="},
    ],
)
def test_headers_say_what_the_body_says(client: Client, headers: dict[str, str]) -> None:
    call = {"name": "say", "arguments": {}}
    assert code_of(client.post("tools/call", call, headers)) == (400, -32020)


def test_space_around_the_value_of_a_header_is_no_part_of_it(client: Client) -> None:
    answer = client.post("tools/call", {"name": "say"}, {"Mcp-Name": " say\t", "Mcp-Method": "tools/call "})
    assert answer.json["result"]["isError"] is True


def test_a_name_in_a_header_may_be_encoded(client: Client) -> None:
    answer = client.post("tools/call", {"name": "say"}, {"Mcp-Name": "=?base64?c2F5?="})
    assert answer.json["result"]["isError"] is True


def test_a_version_that_nobody_has_is_refused_with_those_that_there_are(client: Client) -> None:
    unknown = {"_meta": {f"{META}protocolVersion": "v999"}}
    answer = client.post("server/discover", unknown, {"MCP-Protocol-Version": "v999"})
    assert code_of(answer) == (400, -32022)
    assert answer.json["error"]["data"] == {
        "supported": [STATELESS, WITH_HANDSHAKE, BEFORE_TASKS],
        "requested": "v999",
    }
    assert answer.json["id"] == 7


@pytest.mark.parametrize(
    "method", ["initialize", "ping", "tasks/result", "tasks/list", "resources/list", "prompts/list"]
)
def test_what_the_stateless_version_does_not_have_is_not_found(client: Client, method: str) -> None:
    assert code_of(client.post(method)) == (404, -32601)


def test_what_a_version_does_not_have_is_an_error_within_the_answer_for_older_clients(older: Client) -> None:
    assert code_of(older.post("server/discover")) == (200, -32601)
    assert code_of(older.post("tasks/update", {"taskId": "ses_1"})) == (200, -32601)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", -32700),
        ("", -32600),
        ("[]", -32600),
        ('[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        ('"ping"', -32700),
        ('{"id": 1, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": 1}', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "result": {}}', -32600),
        ('{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": true, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        ('{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32602),
    ],
)
def test_what_is_no_single_message_is_refused(client: Client, body: str, code: int) -> None:
    answer = client.gateway.request("POST", "/mcp", body=body, headers={"content-type": "application/json"})
    assert code_of(answer) == (400, code)


def test_only_json_is_taken_and_given(client: Client) -> None:
    text = {"content-type": "text/plain"}
    assert client.gateway.request("POST", "/mcp", body="{}", headers=text).status == 415
    assert client.post("tools/list", headers={"Accept": "text/event-stream"}).status == 415
    for accept in ("", "*/*", "application/json", "Application/JSON; q=0.9", "application/*, text/html"):
        assert client.post("tools/list", headers={"Accept": accept}).status == 200


@pytest.mark.parametrize(
    ("origin", "allowed", "status"),
    [
        ("https://evil.example", "", 403),
        ("null", "", 403),
        ("https://[", "", 403),
        ("https://evil.example", "https://console.example", 403),
        ("https://console.example", "https://other.example,https://console.example", 200),
        ("https://evil.example", "*", 200),
        ("https://api.test", "", 200),
    ],
)
def test_pages_of_other_origins_are_refused_unless_the_environment_names_them(
    origin: str, allowed: str, status: int
) -> None:
    house = House(house_with().model, cors_origins=allowed)
    assert Client(house).post("tools/list", headers={"Origin": origin}).status == status


def test_the_deployment_s_own_pages_may_ask_where_a_front_calls_the_api_by_another_name() -> None:
    house = House(house_with().model, public_url="https://acta.example")
    client = Client(house)
    assert client.post("tools/list", headers={"Origin": "https://acta.example"}).status == 200
    assert client.post("tools/list", headers={"Origin": "https://evil.example"}).status == 403


def test_there_is_no_stream_and_no_session_to_end() -> None:
    assert [route.method for route in OPERATIONS if route.path == "/mcp"] == ["POST"]


@pytest.mark.parametrize("name", ["name", "arguments", "cursor", "acta.agent/idempotency-key"])
def test_parameters_of_another_type_are_refused(client: Client, name: str) -> None:
    params: dict[str, Any] = {"name": "say", "arguments": {}}
    if name == "acta.agent/idempotency-key":
        params["_meta"] = {"acta.agent/idempotency-key": 5}
    else:
        params[name] = 5
    method = "tools/list" if name == "cursor" else "tools/call"
    answer = client.post(method, params, {"Mcp-Name": "say"} if name != "name" else {"Mcp-Name": "5"})
    assert answer.json["error"]["code"] in (-32602, -32020)

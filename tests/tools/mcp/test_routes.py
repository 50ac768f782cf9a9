"""`/v1/mcp-servers`: naming a server, looking at its tools, confirming them."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from acta.engine.settings import Settings
from acta.engine.tools.mcp.servers import TOO_MANY
from acta.engine.tools.operations import OperationRequest, list_mcp_tools
from tests.api.deployment import AdminApi
from tests.api.gateway import Gateway
from tests.doubles.http_sink import Reply
from tests.doubles.mcp_server import PAY, SEARCH, McpSink
from tests.tools.mcp.calls import Worker


class Desk:
    """An admin, and an MCP server that the operator lists; `worker` is the function `tool`."""

    def __init__(self, server: McpSink) -> None:
        settings = Settings(env="local", is_local=True, table="t", bucket="b", http_tool_allow=server.at)
        self.api = AdminApi(settings)
        self.server, self.url = server, server.url("/mcp")
        worker = Worker(server, values={"desk_key": "Bearer 0123456789"})
        self.api.tool_function.answers["list_mcp_tools"] = lambda given: list_mcp_tools(
            OperationRequest("acme", "ann", given, 10), worker.servers
        )

    @property
    def admin(self) -> Gateway:
        return self.api.admin

    def put(self, **body: Any) -> Any:
        return self.admin.request("PUT", "/v1/mcp-servers/desk", json_body={"url": self.url, **body})

    def listed(self) -> dict[str, Mapping[str, Any]]:
        answer = self.admin.request("POST", "/v1/mcp-servers/desk/refresh")
        assert answer.status == 200, answer.body
        return {one["tool"]: one for one in answer.data["items"]}

    def confirm(self, tool: str, **more: Any) -> Any:
        wanted = {tool: {"pin": self.listed()[tool]["pin"], **more}}
        return self.admin.request("POST", "/v1/mcp-servers/desk/confirm", json_body={"tools": wanted})


@pytest.fixture
def desk() -> Any:
    with McpSink() as server:
        yield Desk(server)


def test_a_new_server_has_no_tool_for_agents_until_an_admin_confirms_one(desk: Desk) -> None:
    assert desk.put().status == 201
    assert {tool: one["state"] for tool, one in desk.listed().items()} == {"search": "new", "pay": "new"}
    assert "desk__search" not in {
        tool["name"] for tool in desk.admin.request("GET", "/v1/tools").data["items"]
    }

    assert desk.confirm("search", confirmed_read=True).status == 200
    assert desk.listed()["search"]["state"] == "confirmed"
    tool = desk.admin.request("GET", "/v1/tools/desk__search").data
    assert (tool["kind"], tool["effect"], tool["high_stakes"]) == ("mcp", "read", False)
    assert "Finds orders." in tool["description"]


def test_a_tool_acts_once_and_asks_a_person_unless_both_say_that_it_only_reads(desk: Desk) -> None:
    desk.put()
    desk.confirm("search")
    refused = desk.confirm("pay", confirmed_read=True)
    assert refused.status == 400
    assert "readOnlyHint" in refused.error["details"]["tools.pay"][0]
    desk.confirm("pay")
    for name in ("desk__search", "desk__pay"):
        tool = desk.admin.request("GET", f"/v1/tools/{name}").data
        assert (tool["effect"], tool["high_stakes"], tool["risk"]) == ("once", True, "network")


def test_a_changed_tool_is_shown_with_old_and_new_and_takes_another_confirmation(desk: Desk) -> None:
    desk.put()
    desk.confirm("search", confirmed_read=True)
    old = desk.listed()["search"]["pin"]
    desk.server.tools = [{**SEARCH, "description": "Finds orders, and sends them on."}]
    changed = desk.listed()["search"]
    assert changed["state"] == "changed"
    assert (changed["description"], changed["confirmed"]["description"]) == (
        "Finds orders, and sends them on.",
        "Finds orders.",
    )
    late = desk.admin.request(
        "POST",
        "/v1/mcp-servers/desk/confirm",
        json_body={"tools": {"search": {"pin": old, "high_stakes": True}}},
    )
    assert late.data["tools"][0]["description"] == "Finds orders.", (
        "it is what was confirmed before, and no call runs"
    )
    assert desk.confirm("search").status == 200
    assert desk.listed()["search"]["state"] == "confirmed"


def test_a_pin_of_something_else_confirms_nothing(desk: Desk) -> None:
    desk.put()
    answer = desk.admin.request(
        "POST", "/v1/mcp-servers/desk/confirm", json_body={"tools": {"search": {"pin": "0" * 64}}}
    )
    assert answer.status == 400
    assert "describes it otherwise" in answer.error["details"]["tools.search"][0]
    unknown = desk.admin.request(
        "POST", "/v1/mcp-servers/desk/confirm", json_body={"tools": {"nothing": {"pin": "0" * 64}}}
    )
    assert unknown.error["details"]["tools.nothing"] == ["The server has no such tool."]


def test_what_is_gone_and_what_is_unusable_is_said(desk: Desk) -> None:
    desk.put()
    desk.confirm("search")
    desk.server.tools = [{**PAY, "inputSchema": {"type": "array"}}]
    listed = desk.listed()
    assert (listed["search"]["state"], listed["pay"]["state"]) == ("gone", "unusable")
    assert 'needs "type": "object"' in listed["pay"]["reason"]


def test_a_whole_server_is_written_at_once_and_written_again_without_asking_it(desk: Desk) -> None:
    desk.put()
    pin = desk.listed()["search"]["pin"]
    whole = {"tools": {"search": {"pin": pin, "confirmed_read": True}}}
    assert desk.put(**whole).status == 200
    del desk.server.heard[:]
    again = desk.put(**whole, timeout_seconds=90)
    assert [tool["name"] for tool in again.data["tools"]] == ["desk__search"]
    assert (again.data["timeout_seconds"], desk.server.heard) == (90, [])
    assert desk.put(tools={}).data["tools"] == []


def test_another_url_takes_the_confirmations_away(desk: Desk) -> None:
    desk.put()
    desk.confirm("search")
    moved = desk.admin.request("PUT", "/v1/mcp-servers/desk", json_body={"url": f"{desk.url}/v2"})
    assert moved.data["tools"] == []


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"url": "https://not.listed/mcp"}, "url"),
        ({"url": "http://127.0.0.1:1/mcp"}, "url"),
        ({"auth": {"secret": "nothing"}}, "auth"),
        ({"auth": {}}, "auth"),
        (
            {
                "auth": {
                    "client_credentials": {"client_id": "a", "secret": "b", "token_url": "https://not.listed"}
                }
            },
            "token_url",
        ),
        ({"timeout_seconds": 601}, "timeout_seconds"),
        ({"hosts": []}, "hosts"),
    ],
)
def test_what_could_not_be_called_is_refused(desk: Desk, body: dict[str, Any], field: str) -> None:
    answer = desk.put(**body)
    assert answer.status == 400
    assert field in json.dumps(answer.error["details"])


def test_a_name_that_would_not_fit_into_a_tool_s_is_refused(desk: Desk) -> None:
    for name in ("Desk", "de_sk", "d" * 25):
        assert desk.admin.request("PUT", f"/v1/mcp-servers/{name}", json_body={"url": desk.url}).status == 400


def test_a_secret_in_use_is_not_deleted_and_a_new_value_makes_other_tools(desk: Desk) -> None:
    secret = {"value": "Bearer 0123456789", "hosts": [desk.server.at]}
    desk.admin.request("PUT", "/v1/tool-secrets/desk_key", json_body=secret)
    assert desk.put(auth={"secret": "desk_key"}).status == 201
    refused = desk.admin.request("DELETE", "/v1/tool-secrets/desk_key")
    assert (refused.status, refused.error["details"]) == (409, {"mcp_servers": ["desk"]})
    before = desk.admin.request("GET", "/v1/mcp-servers/desk").data["version"]
    desk.admin.request("PUT", "/v1/tool-secrets/desk_key", json_body={"value": "Bearer 9876543210"})
    assert desk.admin.request("GET", "/v1/mcp-servers/desk").data["version"] > before
    hosts = desk.admin.request(
        "PUT", "/v1/tool-secrets/desk_key", json_body={"value": "Bearer 0123456789", "hosts": ["a.example"]}
    )
    assert hosts.status == 409


def test_what_a_server_s_metadata_say_of_its_tokens_is_an_admin_s_to_write_down(desk: Desk) -> None:
    desk.server.token = "Bearer nobody-s"
    itself = {"resource": desk.url, "authorization_servers": [desk.server.url("/login")]}
    desk.server.replies["/metadata"] = Reply(body=json.dumps(itself).encode())
    named = {"issuer": desk.server.url("/login"), "token_endpoint": desk.server.url("/token")}
    desk.server.replies["/.well-known/oauth-authorization-server/login"] = Reply(
        body=json.dumps(named).encode()
    )
    secret = {"value": "secret-of-the-client", "hosts": [desk.server.at]}
    desk.admin.request("PUT", "/v1/tool-secrets/client", json_body=secret)
    client = {"client_id": "acta", "secret": "client"}
    refused = desk.put(auth={"client_credentials": client})
    assert (refused.status, list(refused.error["details"])) == (400, ["auth.client_credentials.token_url"])
    assert desk.put().status == 201
    refused = desk.admin.request("POST", "/v1/mcp-servers/desk/refresh")
    assert refused.status == 409
    (said,) = refused.error["details"]["token_url"]
    assert desk.server.url("/token") in said
    pinned = {**client, "token_url": desk.server.url("/token")}
    shown = desk.put(auth={"client_credentials": pinned}).data["auth"]["client_credentials"]
    assert shown == {**pinned, "auth_method": "client_secret_basic", "scope": None}
    elsewhere = desk.put(auth={"client_credentials": {**pinned, "token_url": "http://127.0.0.1:1/token"}})
    assert elsewhere.status == 400


def test_a_server_whose_tools_agents_name_is_deleted_by_force_alone(desk: Desk) -> None:
    desk.put()
    desk.confirm("search", confirmed_read=True)
    body = {"agent_id": "clerk", "name": "Clerk", "tools": ["desk__search"]}
    assert desk.admin.request("POST", "/v1/agents", json_body=body).status == 201
    refused = desk.admin.request("DELETE", "/v1/mcp-servers/desk")
    assert (refused.status, refused.error["details"]) == (409, {"agents": ["clerk"]})
    assert desk.admin.request("GET", "/v1/mcp-servers/desk").status == 200
    assert desk.admin.request("DELETE", "/v1/mcp-servers/desk", query="force=true").status == 204
    assert desk.admin.request("GET", "/v1/mcp-servers/desk").status == 404


def test_a_server_that_does_not_answer_is_a_conflict_with_the_reason(desk: Desk) -> None:
    desk.put()
    desk.server.shutdown()
    desk.server.server_close()
    answer = desk.admin.request("POST", "/v1/mcp-servers/desk/refresh")
    assert (answer.status, answer.error["message"]) == (409, "The MCP server desk could not be reached.")


def test_a_server_is_its_tenant_s_and_its_admins_alone(desk: Desk) -> None:
    desk.put()
    assert desk.api.stranger.request("GET", "/v1/mcp-servers/desk").status == 404
    assert desk.api.member.request("GET", "/v1/mcp-servers").status == 403
    assert desk.admin.request("DELETE", "/v1/mcp-servers/desk").status == 204
    assert desk.admin.request("GET", "/v1/mcp-servers/desk").status == 404


def test_an_admin_is_told_where_a_description_is_cut_and_it_is_cut_there(desk: Desk) -> None:
    sizes = {"short": 2_000, "long": 2_001, "padded": 2_000}
    desk.server.tools = [{**SEARCH, "name": name, "description": "é" * size} for name, size in sizes.items()]
    desk.server.tools[2] = {**desk.server.tools[2], "description": f"  {'é' * 2_000}\n"}
    desk.put()
    assert {name: one["cut_after"] for name, one in desk.listed().items()} == {
        "short": None,
        "long": 1_999,
        "padded": None,
    }
    desk.confirm("long")
    assert desk.listed()["long"]["confirmed"]["description"] == "é" * 2_001
    told = desk.admin.request("GET", "/v1/tools/desk__long").data["description"]
    assert told.count("é") == 1_999


def test_a_list_that_is_not_whole_says_so_and_takes_no_confirmed_tool_for_gone(desk: Desk) -> None:
    desk.put()
    desk.confirm("pay")
    usual = desk.server._modern

    def reply(heard: Any) -> Reply:
        if heard.body["params"].get("cursor"):
            return Reply(500, b"down")
        return desk.server._result(heard, {"tools": [SEARCH], "nextCursor": "2"})

    desk.server._modern = reply  # type: ignore[method-assign]
    answer = desk.admin.request("POST", "/v1/mcp-servers/desk/refresh").data
    assert answer["broken"] == "The server answered with status 500, asked for page 2 of its tools."
    search, pay = answer["items"]
    assert (search["state"], pay["tool"], pay["state"]) == ("new", "pay", "unusable")
    assert pay["reason"] == f"It is not among the tools that could be read. {answer['broken']}"
    assert desk.confirm("search").status == 200
    desk.server._modern = usual  # type: ignore[method-assign]
    assert desk.admin.request("POST", "/v1/mcp-servers/desk/refresh").data["broken"] is None


def test_what_a_server_says_is_shown_as_far_as_an_answer_can_have_it(desk: Desk) -> None:
    big = {**PAY, "description": "x" * 16_000, "inputSchema": {"type": "object", "title": "x" * 14_000}}
    desk.server.tools = [*({**big, "name": f"big-{n}"} for n in range(120)), SEARCH]
    desk.put()
    listed = desk.listed()
    shown = [name for name, one in listed.items() if one["state"] == "new"]
    assert 90 < len(shown) < 110
    assert "search" in shown
    lost = next(one for one in listed.values() if one["state"] == "unusable")
    assert (lost["reason"], lost["input_schema"]) == (TOO_MANY, {})
    refused = desk.admin.request(
        "POST",
        "/v1/mcp-servers/desk/confirm",
        json_body={"tools": {lost["tool"]: {"pin": lost["pin"]}}},
    )
    assert TOO_MANY in refused.error["details"][f"tools.{lost['tool']}"][0]


def test_a_stale_write_changes_nothing(desk: Desk) -> None:
    desk.put()
    desk.put(timeout_seconds=90)
    assert desk.put(version=1).status == 409
    assert (
        desk.admin.request("PUT", "/v1/mcp-servers/new", json_body={"url": desk.url, "version": 3}).status
        == 409
    )


@pytest.mark.parametrize("value", [float("inf"), 10**400, "x" * 150])
def test_a_schema_that_could_not_be_read_again_is_never_confirmed(desk: Desk, value: Any) -> None:
    for _ in value if isinstance(value, str) else ():
        value = [value]
    desk.server.tools = [{**PAY, "inputSchema": {"type": "object", "examples": [value]}}, SEARCH]
    desk.put()
    listed = desk.listed()
    assert (listed["pay"]["state"], listed["search"]["state"]) == ("unusable", "new")
    assert listed["pay"]["reason"].startswith("What the server says of it is n")
    wanted = {"tools": {"pay": {"pin": "0" * 64}}}
    assert desk.admin.request("POST", "/v1/mcp-servers/desk/confirm", json_body=wanted).status == 400
    assert desk.admin.request("GET", "/v1/tools").status == 200
    assert desk.admin.request("DELETE", "/v1/mcp-servers/desk").status == 204

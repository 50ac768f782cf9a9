"""A client of `/mcp`, in any version of the protocol that it speaks."""

import json
from collections.abc import Mapping
from typing import Any

from tests.api.gateway import Answer, Gateway, claims
from tests.api.session_functions import functions_of
from tests.in_process.house import TENANT, USER, House

Json = dict[str, Any]

STATELESS, WITH_HANDSHAKE, BEFORE_TASKS = "2026-07-28", "2025-11-25", "2025-06-18"
WITH_TASKS: Json = {"extensions": {"io.modelcontextprotocol/tasks": {}}}
WITH_FORMS: Json = {**WITH_TASKS, "elicitation": {"form": {}}}
NAMED_BY = {"tools/call": "name", "tasks/get": "taskId", "tasks/update": "taskId", "tasks/cancel": "taskId"}


def told(result: Json) -> Json:
    """What a tool's result quotes: the second line of its text."""
    found: Json = json.loads(result["content"][0]["text"].split("\n")[1])
    return found


class Client:
    """`capabilities`: what it says it can, of the stateless version."""

    def __init__(
        self,
        house: House,
        *roles: str,
        user: str = USER,
        version: str = STATELESS,
        capabilities: Json | None = None,
        gateway: Gateway | None = None,
    ) -> None:
        self.version = version
        self.capabilities = capabilities or {}
        self.gateway = gateway or functions_of(house, user=user, roles=[*roles, "member"]).mcp

    def post(
        self, method: str, params: Json | None = None, headers: Mapping[str, str] | None = None, **more: Any
    ) -> Answer:
        """`headers`: in place of those that belong there; an empty one is left out. `more`: of the message."""
        params, sent = dict(params or {}), {"MCP-Protocol-Version": self.version}
        if self.version == STATELESS:
            meta = {
                "io.modelcontextprotocol/protocolVersion": self.version,
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            }
            params["_meta"] = {**meta, **params.get("_meta", {})}
            sent["Mcp-Method"] = method
            if method in NAMED_BY and NAMED_BY[method] in params:
                sent["Mcp-Name"] = params[NAMED_BY[method]]
        sent |= {"Accept": "application/json, text/event-stream", **(headers or {})}
        body = {"jsonrpc": "2.0", "id": 7, "method": method, "params": params, **more}
        return self.gateway.request(
            "POST", "/mcp", json_body=body, headers={name: value for name, value in sent.items() if value}
        )

    def result(self, method: str, **params: Any) -> Json:
        answer = self.post(method, params)
        assert answer.status == 200, answer.body
        assert answer.json["id"] == 7
        found: Json = answer.json["result"]
        return found

    def error(self, method: str, **params: Any) -> Json:
        found: Json = self.post(method, params).json["error"]
        return found

    def call(self, name: str, arguments: Json | None = None, **more: Any) -> Json:
        return self.result("tools/call", name=name, arguments=arguments or {}, **more)

    def data(self, name: str, **arguments: Any) -> Json:
        """What a tool answers that does what it is asked."""
        found = self.call(name, arguments)
        assert not found["isError"], found
        return told(found)

    def names(self) -> list[str]:
        return [tool["name"] for tool in self.result("tools/list")["tools"]]


def of_tenant(gateway: Gateway, tenant: str = TENANT) -> Gateway:
    return Gateway(gateway.handler, claims(tenant=tenant))

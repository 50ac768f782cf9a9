"""MCP servers and what they say of their tools, as JSON (design §3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shared.api.response.definition_views import applied_view
from shared.api.response.views import instant
from shared.domain.definitions.mcp_server import ConfirmedTool, McpAuth, McpServer, offered_name

if TYPE_CHECKING:  # types alone: no cold start loads them
    from shared.api.response.shapes import definitions


def mcp_server_view(server: McpServer) -> definitions.McpServer:
    return {
        "name": server.name,
        "url": server.url,
        "auth": _auth_view(server.auth),
        "timeout_seconds": server.timeout_seconds,
        "tools": [_confirmed_view(server.name, one) for one in server.tools],
        "applied": applied_view(server.applied),
        "version": server.version,
        "created_at": instant(server.created_at),
        "updated_at": instant(server.updated_at),
    }


def _auth_view(auth: McpAuth | None) -> definitions.SecretReference | definitions.McpCredentials | None:
    """Names of secrets: their values are nowhere here."""
    if auth is None:
        return None
    client = auth.client_credentials
    if client is None:
        return {"secret": auth.secret_name}
    return {
        "client_credentials": {
            "client_id": client.client_id,
            "secret": client.secret,
            "token_url": client.token_url,
            "issuer": client.issuer,
            "scope": client.scope,
        }
    }


def _confirmed_view(server: str, one: ConfirmedTool) -> definitions.ConfirmedMcpTool:
    return {
        "tool": one.tool,
        "name": offered_name(server, one.tool),
        "description": one.description,
        "input_schema": one.input_schema,
        "pin": one.pin,
        "confirmed_read": one.confirmed_read,
        "high_stakes": one.high_stakes,
        "approver_role": one.approver_role,
        "confirmed_at": instant(one.confirmed_at),
        "confirmed_by": one.confirmed_by,
    }


def listed_view(
    server: McpServer, listed: Mapping[str, Mapping[str, Any]]
) -> list[definitions.ListedMcpTool]:
    """`listed`: what the server says now, by the tools' names. Those that it no longer lists come last."""
    view = [_listed(server, one) for one in listed.values()]
    return view + [_gone(server, one) for one in server.tools if one.tool not in listed]


def _listed(server: McpServer, one: Mapping[str, Any]) -> definitions.ListedMcpTool:
    confirmed = server.confirmed(one["tool"])
    state: Any = "new" if confirmed is None else "confirmed" if confirmed.pin == one["pin"] else "changed"
    return {
        "tool": one["tool"],
        "name": offered_name(server.name, one["tool"]),
        "state": state if one["unusable"] is None else "unusable",
        "reason": one["unusable"],
        "title": one["title"],
        "description": one["description"],
        "input_schema": one["input_schema"],
        "annotations": one["annotations"],
        "pin": one["pin"],
        "confirmed": None if confirmed is None else _confirmed_view(server.name, confirmed),
    }


def _gone(server: McpServer, one: ConfirmedTool) -> definitions.ListedMcpTool:
    return {
        "tool": one.tool,
        "name": offered_name(server.name, one.tool),
        "state": "gone",
        "reason": None,
        "title": "",
        "description": "",
        "input_schema": {},
        "annotations": {},
        "pin": one.pin,
        "confirmed": _confirmed_view(server.name, one),
    }

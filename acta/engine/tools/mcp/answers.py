"""MCP servers and what they list, as the API answers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from acta.engine.agents.answers import AppliedFromView
from acta.engine.api.answers import Instant, TypedDict, copied
from acta.engine.tools.answers import SecretReferenceView
from acta.engine.tools.mcp import server as stored
from acta.engine.tools.mcp.server import (
    MAX_SHOWN_DESCRIPTION_CHARS,
    ConfirmedTool,
    McpServerAuth,
    offered_name,
)


class ClientCredentialsView(TypedDict):
    """OAuth 2.0 client credentials."""

    client_id: str
    secret: str
    """The name of the stored secret that is the client's secret."""
    token_url: str
    """The only place that gets the secret."""
    auth_method: Literal["client_secret_basic", "client_secret_post"]
    scope: str | None


class McpCredentialsView(TypedDict):
    """Tokens by OAuth 2.0 client credentials."""

    client_credentials: ClientCredentialsView


class ConfirmedMcpToolView(TypedDict):
    """As the server described it when it was confirmed."""

    tool: str
    """The server's name for it."""
    name: str
    """What agents call it."""
    description: str
    input_schema: dict[str, Any]
    pin: str
    """The hash of what the server said of it when it was confirmed."""
    confirmed_read: bool
    high_stakes: bool
    approver_role: str | None
    confirmed_at: Instant
    confirmed_by: str


class McpServerView(TypedDict):
    """An MCP server. Agents may have those of its tools that an admin has confirmed."""

    name: str
    url: str
    auth: SecretReferenceView | McpCredentialsView | None
    timeout_seconds: int
    tools: list[ConfirmedMcpToolView]
    """The tools that agents may have."""
    applied: AppliedFromView | None
    """null: no set of files owns it."""
    version: int
    created_at: Instant
    updated_at: Instant


class ListedMcpToolView(TypedDict):
    """What the server says of a tool now, in its own words."""

    tool: str
    name: str
    """What agents call it, once it is confirmed."""
    state: Literal["new", "confirmed", "changed", "gone", "unusable"]
    """`changed`: calls are refused until it is confirmed anew. `gone`: the server lists it no longer."""
    reason: str | None
    """Why it is unusable, or why nothing is known of it."""
    title: str
    description: str
    cut_after: int | None
    """Models get so many characters of the description and no more. null: all of it."""
    input_schema: dict[str, Any]
    annotations: dict[str, bool]
    pin: str
    confirmed: ConfirmedMcpToolView | None
    """What was confirmed."""


class ListedMcpToolsView(TypedDict):
    """A server's tools, as far as they could be read."""

    items: list[ListedMcpToolView]
    broken: str | None
    """Why these are not all of the server's tools. null: they are."""


def mcp_server_view(server: stored.McpServer) -> McpServerView:
    tools = [_confirmed_view(server.name, one) for one in server.tools]
    return copied(McpServerView, server, auth=_auth_view(server.auth), tools=tools)


def _auth_view(auth: McpServerAuth | None) -> SecretReferenceView | McpCredentialsView | None:
    """The names of the secrets, never their values."""
    if auth is None:
        return None
    client = auth.client_credentials
    if client is None:
        return {"secret": auth.secret_name}
    return {"client_credentials": copied(ClientCredentialsView, client)}


def _confirmed_view(server: str, one: ConfirmedTool) -> ConfirmedMcpToolView:
    return copied(
        ConfirmedMcpToolView, one, name=offered_name(server, one.tool), input_schema=one.input_schema
    )


def listed_view(
    server: stored.McpServer, listed: Mapping[str, Mapping[str, Any]], broken: str | None
) -> ListedMcpToolsView:
    """`listed`: what the server says now, by the tools' names. Those that it no longer lists come last. `broken`: why
    it may list others, a sentence's end.
    """
    why = None if broken is None else f"The server {broken}."
    lost = None if why is None else f"It is not among the tools that could be read. {why}"
    nothing: dict[str, Any] = {"title": "", "description": "", "input_schema": {}, "annotations": {}}
    gone = [
        _listed(server, {"tool": one.tool, "pin": one.pin, "unusable": lost, **nothing}, is_gone=True)
        for one in server.tools
        if one.tool not in listed
    ]
    return {"items": [*(_listed(server, one) for one in listed.values()), *gone], "broken": why}


def _listed(server: stored.McpServer, one: Mapping[str, Any], *, is_gone: bool = False) -> ListedMcpToolView:
    confirmed = server.confirmed(one["tool"])
    state: Any = "new" if confirmed is None else "confirmed" if confirmed.pin == one["pin"] else "changed"
    state = "unusable" if one["unusable"] is not None else "gone" if is_gone else state
    size = len(one["description"].strip())
    return {
        "tool": one["tool"],
        "name": offered_name(server.name, one["tool"]),
        "state": state,
        "reason": one["unusable"],
        "title": one["title"],
        "description": one["description"],
        "cut_after": MAX_SHOWN_DESCRIPTION_CHARS - 1 if size > MAX_SHOWN_DESCRIPTION_CHARS else None,
        "input_schema": one["input_schema"],
        "annotations": one["annotations"],
        "pin": one["pin"],
        "confirmed": None if confirmed is None else _confirmed_view(server.name, confirmed),
    }

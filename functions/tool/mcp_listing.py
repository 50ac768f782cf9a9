"""The operation `list_mcp_tools`: what an MCP server says of its tools, for an admin to look at and confirm."""

from collections.abc import Mapping
from typing import Any

from functions.tool.dependencies import mcp_servers
from shared.adapters.tools.mcp.exchange import McpFailed
from shared.adapters.tools.mcp.listing import ListedTool
from shared.adapters.tools.mcp.servers import McpServers, said_by
from shared.domain.definitions.mcp_server import McpAuth, McpConnection
from shared.domain.errors import ToolFailed, ToolNotRun


def list_mcp_tools(
    tenant: str, given: Mapping[str, Any], seconds: float, servers: McpServers | None = None
) -> Mapping[str, Any]:
    """`given`: the server's name, url and auth, which the API has checked. Answers with `tools`; with `failed`, a
    sentence's end, and what the server `said` of it; or with `refused`, a sentence.
    """
    auth = None if given["auth"] is None else McpAuth.model_validate(given["auth"])
    connection = McpConnection(server=given["name"], url=given["url"], auth=auth)
    try:
        listing = (servers or mcp_servers()).list_tools(tenant, connection, seconds)
    except McpFailed as failed:
        return {"failed": str(failed), "said": said_by(failed)}
    except ToolFailed as failed:  # its secret is not there
        return {"refused": str(failed)}
    except ToolNotRun as away:
        raise away.reason from None
    return {"tools": [_answer(one) for one in listing.tools]}


def _answer(one: ListedTool) -> Mapping[str, Any]:
    return {
        "tool": one.name,
        "title": one.title,
        "description": one.description,
        "input_schema": one.input_schema,
        "annotations": one.annotations,
        "pin": one.pin,
        "reads": one.reads,
        "unusable": one.unusable,
    }

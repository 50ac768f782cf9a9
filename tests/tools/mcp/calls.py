"""Calls of an MCP server's tools, as a worker makes them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from acta.engine.egress.address import AddressGuard
from acta.engine.settings import Settings
from acta.engine.tools.mcp.server import (
    ConfirmedTool,
    McpConnection,
    McpServer,
    McpServerAuth,
    McpTool,
    pin_of,
    specs_of,
)
from acta.engine.tools.mcp.servers import McpServers
from acta.engine.tools.port import CallContext
from acta.engine.tools.tenant.credentials import Known
from acta.engine.untrusted.quoting import OutsideText
from tests.doubles.http_sink import Sink
from tests.doubles.secret_values import MemoryToolSecretValues
from tests.doubles.tool_secrets import known_for

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Worker:
    """A process that calls tools of MCP servers. `allowed`: servers that the operator lists, and that get its secrets
    where `known` says nothing else.
    """

    def __init__(
        self, *allowed: Sink, values: Mapping[str, str] | None = None, known: Known | None = None
    ) -> None:
        self.secrets = MemoryToolSecretValues()
        for name, value in (values or {}).items():
            self.secrets.put("acme", name, value)
        known = known or known_for([each.at for each in allowed], *(values or {"desk_key": ""}))
        at = ",".join(each.at for each in allowed)
        settings = Settings(env="local", is_local=True, table="t", bucket="b", http_tool_allow=at)
        self.servers = McpServers(AddressGuard(settings), self.secrets, known)

    def call(
        self, tool: McpTool, arguments: Mapping[str, Any] | None = None, seconds: float = 20
    ) -> OutsideText:
        context = CallContext("acme", "ses_1", "default", "eff_1", seconds)
        return self.servers.run(tool, arguments or {}, context)

    def list_tools(self, url: str, auth: McpServerAuth | None = None) -> Any:
        return self.servers.list_tools("acme", McpConnection(server="desk", url=url, auth=auth), 20)


def confirmed(
    described: Mapping[str, Any], url: str, *, auth: McpServerAuth | None = None, read: bool = False
) -> McpTool:
    """The registry's entry for a tool as the server describes it."""
    tool = ConfirmedTool(
        tool=described["name"],
        description=described["description"],
        input_schema=described["inputSchema"],
        pin=pin_of(described),
        confirmed_read=read,
        high_stakes=not read,
        confirmed_at=NOW,
        confirmed_by="ann",
    )
    server = McpServer(
        name="desk",
        url=url,
        auth=auth,
        tools=(tool,),
        quotation_key="mcp_1",
        version=1,
        created_at=NOW,
        updated_at=NOW,
    )
    (spec,) = specs_of(server)
    return spec

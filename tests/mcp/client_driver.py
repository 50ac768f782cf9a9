"""The program that the conformance suite starts as a client: it lists a server's tools and calls them, through the same
adapter that `tool` uses. `python -m tests.mcp.client_driver URL`; the suite's variables say what it is about.

Loopback addresses are let in, whatever their port: the suite's servers choose theirs themselves.
"""

import json
import os
import sys
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from acta.engine.egress.address import AddressGuard, AddressRefused, Target
from acta.engine.errors import ToolAsks, ToolFailed
from acta.engine.settings import Settings
from acta.engine.tools.mcp.exchange import HttpRefused
from acta.engine.tools.mcp.oauth import named_endpoints
from acta.engine.tools.mcp.server import (
    ClientCredentials,
    ConfirmedTool,
    McpConnection,
    McpServer,
    McpServerAuth,
    McpTool,
    specs_of,
)
from acta.engine.tools.mcp.server_task import ToolQuestion
from acta.engine.tools.mcp.servers import ListedTool, McpServers
from acta.engine.tools.port import CallContext
from acta.engine.tools.tool import ToolSecret

SECONDS = 20
HANDSHAKE = "2025-11-25"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
ECHO, FOCAL = "json_schema_echo", "json_schema_2020_12_tool"


class Loopback(AddressGuard):
    def check(self, url: str) -> Target:
        host = url.split("/")[2].rpartition(":")
        if host[0] not in ("localhost", "127.0.0.1"):
            raise AddressRefused("not on this machine")
        path = "/" + url.split("/", 3)[3] if url.count("/") > 2 else "/"
        return Target("http", host[0], int(host[2]), path)

    def resolve(self, url: str) -> Target:
        target = self.check(url)
        return target._replace(ip=self._resolve(target.host, target.port)[0])


class Driver:
    """`context`: what the suite says of the scenario. `version`: the revision that it asks for."""

    def __init__(self, url: str, context: Mapping[str, Any], version: str) -> None:
        settings = Settings(env="local", is_local=True, table="t", bucket="b")
        value = context.get("client_secret", "")
        self.context = context
        self.guard = Loopback(settings)
        self.servers = McpServers(self.guard, lambda tenant, name, at: value, lambda tenant: self._known())
        self.url = url
        self.auth: McpServerAuth | None = None
        if version <= HANDSHAKE:  # the revision is the suite's to say, not found out
            self.servers.eras.keep(url, "with_handshake")

    def _known(self) -> tuple[ToolSecret, ...]:
        hosts = () if self.auth is None else (urlsplit(self.auth.secret_sent_to(self.url)).netloc,)
        return (ToolSecret(name="client", created_at=NOW, updated_at=NOW, updated_by="ann", hosts=hosts),)

    def _write_down(self) -> None:
        """Does what an admin does: looks which token endpoint the server's metadata name, and puts it into the
        definition.
        """
        connection = McpConnection(server="suite", url=self.url, auth=None)
        try:
            self.servers.list_tools("acme", connection, SECONDS)
        except HttpRefused as refused:
            deadline = time.monotonic() + SECONDS
            (named, *_) = named_endpoints(self.guard, self.url, refused.challenge, deadline)
            client = ClientCredentials(
                client_id=self.context["client_id"], secret="client", token_url=named.token_url,
                scope=named.scope or None,
            )  # fmt: skip
            self.auth = McpServerAuth(client_credentials=client)

    def run(self) -> None:
        if self.context.get("client_secret"):
            self._write_down()
        connection = McpConnection(server="suite", url=self.url, auth=self.auth)
        listing = self.servers.list_tools("acme", connection, SECONDS)
        usable = [tool for tool in listing.tools if tool.unusable is None]
        for tool in usable:
            for arguments in self._arguments(tool, listing.tools):
                print(tool.name, self._call(self._confirmed(tool), arguments))

    def _arguments(self, tool: ListedTool, all_tools: tuple[ListedTool, ...]) -> list[Mapping[str, Any]]:
        named = [call["arguments"] for call in self.context.get("toolCalls", ()) if call["name"] == tool.name]
        if named or self.context.get("toolCalls"):
            return named
        if tool.name == ECHO:
            return [{"schema": one.input_schema} for one in all_tools if one.name == FOCAL]
        known = {"number": 2, "integer": 2, "string": "text", "boolean": True}
        required = tool.input_schema.get("required", ())
        fields = tool.input_schema.get("properties", {})
        return [{name: known.get(fields.get(name, {}).get("type"), {}) for name in required}]

    def _confirmed(self, tool: ListedTool) -> McpTool:
        confirmed = ConfirmedTool(
            tool=tool.name, description=tool.description, input_schema=tool.input_schema, pin=tool.pin,
            confirmed_at=NOW, confirmed_by="ann",
        )  # fmt: skip
        server = McpServer(
            name="suite", url=self.url, auth=self.auth, tools=(confirmed,), quotation_key="k", version=1,
            created_at=NOW, updated_at=NOW,
        )  # fmt: skip
        (spec,) = specs_of(server)
        return spec

    def _call(self, tool: McpTool, arguments: Mapping[str, Any], answered: ToolQuestion | None = None) -> str:
        context = CallContext("acme", "ses_1", "default", "eff_1", SECONDS, answered=answered)
        try:
            return self.servers.run(tool, arguments, context).text
        except ToolAsks as asks:
            question: ToolQuestion = asks.question
            fields = {
                key: dict.fromkeys(one.get("schema", {}).get("properties", ()), True)
                for key, one in question.requests.items()
            }
            return self._call(tool, arguments, question.accepted(fields))
        except ToolFailed as failed:
            return f"failed: {failed}"


if __name__ == "__main__":
    about = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}"))
    Driver(sys.argv[1], about, os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"]).run()

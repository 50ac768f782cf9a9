"""Runs the tools that are not built in, by kind: those that tenants have added, and the environment's own."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from acta_engine.tools.mcp.server import McpTool
from acta_engine.tools.port import CallContext, Toolbox
from acta_engine.tools.python.run import PythonTools
from acta_engine.tools.tenant.http import HttpTool
from acta_engine.tools.tenant.invoke import LambdaTool
from acta_engine.tools.tool import HttpConfig, LambdaConfig, PythonTool, ToolDefinition, ToolSpec
from acta_engine.untrusted.quoting import OutsideText

if TYPE_CHECKING:
    from acta_engine.tools.mcp.servers import McpServers


class TenantTools:
    """A Toolbox. `others`: runs all tools that are built in. `servers`: makes what runs tools of MCP servers, with the
    first call of one: what it loads would make every cold start longer.
    """

    def __init__(
        self,
        others: Toolbox,
        http: HttpTool,
        functions: LambdaTool,
        python: PythonTools,
        servers: "Callable[[], McpServers]",
    ) -> None:
        self._others = others
        self._http = http
        self._functions = functions
        self._python = python
        self._servers = servers

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        if isinstance(spec, PythonTool):
            return self._python.run(spec, arguments, context)
        if isinstance(spec, McpTool):
            return self._servers().run(spec, arguments, context)
        if not isinstance(spec, ToolDefinition):
            return self._others.run(spec, arguments, context)
        match spec.config:
            case HttpConfig() as config:
                return self._http.run(spec, config, arguments, context)
            case LambdaConfig() as config:
                return self._functions.run(spec, config, arguments, context)

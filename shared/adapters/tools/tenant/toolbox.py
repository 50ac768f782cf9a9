"""Runs the tools that tenants have added, by kind."""

from collections.abc import Mapping
from typing import Any

from shared.adapters.tools.tenant.http import HttpTool
from shared.adapters.tools.tenant.lambda_ import LambdaTool
from shared.domain.definitions.tool import HttpConfig, LambdaConfig, ToolDefinition, ToolSpec
from shared.domain.untrusted.quoting import OutsideText
from shared.ports.tools import CallContext, Toolbox


class TenantTools:
    """A Toolbox. `others`: runs all tools that no tenant has added."""

    def __init__(self, others: Toolbox, http: HttpTool, functions: LambdaTool) -> None:
        self._others = others
        self._http = http
        self._functions = functions

    def run(self, spec: ToolSpec, arguments: Mapping[str, Any], context: CallContext) -> str | OutsideText:
        if not isinstance(spec, ToolDefinition):
            return self._others.run(spec, arguments, context)
        match spec.config:
            case HttpConfig() as config:
                return self._http.run(spec, config, arguments, context)
            case LambdaConfig() as config:
                return self._functions.run(spec, config, arguments, context)

"""The tool registry: for now the builtins, the same for every agent."""

from collections.abc import Mapping
from typing import Any

from shared.domain.builtins import builtins
from shared.domain.tool import ToolSpec


class BuiltinRegistry:
    def specs(self, tenant: str, agent_id: str) -> Mapping[str, ToolSpec]:
        return builtins()

    def check(self, spec: ToolSpec, arguments: Mapping[str, Any]) -> None:
        from shared.adapters.tools.schema import (
            check_input,
        )  # brings the schema library, which few workers need

        check_input(spec, arguments)

"""The tool registry, to read: `/v1/tools` (design §7)."""

from typing import Any

from aws_lambda_powertools.event_handler import Response

from shared.api.app import Api
from shared.api.envelope import success
from shared.domain.builtins import builtins
from shared.domain.errors import NotFound
from shared.domain.tool import ToolSpec


def add_tools(api: Api) -> None:
    @api.get("/v1/tools")
    def list_tools() -> Response[str]:
        return success({"items": [tool_view(spec) for spec in builtins().values()], "next_cursor": None})

    @api.get("/v1/tools/{name}")
    def read_tool(name: str) -> Response[str]:
        if name not in builtins():
            raise NotFound("There is no tool of this name.")
        return success(tool_view(builtins()[name]))


def tool_view(spec: ToolSpec) -> dict[str, Any]:
    return {
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.input_schema,
        "kind": spec.kind,
        "effect": spec.effect,
        "risk": spec.risk,
        "high_stakes": spec.high_stakes,
        "repeatable": spec.repeatable,
        "timeout_seconds": spec.timeout_seconds,
        "result_limit_bytes": spec.result_limit_bytes,
        "cache_seconds": spec.cache_seconds,
    }

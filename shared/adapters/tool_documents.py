"""Tools of tenants as stored bytes."""

from shared.adapters.documents import dump, load
from shared.domain.tool import ToolDefinition

TOOL_VERSION = 1


def from_tool(tool: ToolDefinition) -> bytes:
    return dump(tool)


def to_tool(version: int, data: bytes) -> ToolDefinition:
    return load("tool", ToolDefinition, version, TOOL_VERSION, data)

"""A tool in the form that every provider takes.

A tenant's schema may be any JSON Schema of an object, and providers take less: one that they refuse would end every run
whose agent has the tool. The schema itself stays what inputs are validated against, so nothing is let through.
"""

import json
from collections.abc import Sequence
from typing import Any

from shared.ports.model import ToolDefinition

NOT_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "enum", "not")
"""Anthropic refuses the first three there, OpenAI all of them."""
RULE = "The input must satisfy this JSON Schema as well: "


def on_wire(tools: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """What cannot stand at the top of a schema is told in words. OpenAI wants `properties`, empty as they may be."""
    return tuple(tool._replace(description=_described(tool), input_schema=_schema(tool)) for tool in tools)


def _schema(tool: ToolDefinition) -> dict[str, Any]:
    taken = {key: value for key, value in tool.input_schema.items() if key not in NOT_AT_THE_TOP}
    return taken if "properties" in taken else {**taken, "properties": {}}


def _described(tool: ToolDefinition) -> str:
    left_out = {key: value for key, value in tool.input_schema.items() if key in NOT_AT_THE_TOP}
    if not left_out:
        return tool.description
    rule = RULE + json.dumps(left_out, ensure_ascii=False, separators=(",", ":"))
    return f"{tool.description}\n\n{rule}" if tool.description.strip() else rule

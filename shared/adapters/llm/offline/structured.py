"""A final answer in the form that a session's output schema asks for: what has to be there, and no more.

The rules understand the goal, not the schema: texts get the answer, everything else gets the first value that is
allowed.
"""

import json
from math import ceil
from typing import Any

from shared.domain.rules.goal_marker import GOAL_COMPLETE, value_after_marker
from shared.domain.session.structured_answer import schema_in

_MOST_DEPTH = 20
_TEXT_CHARS = 4_000


def in_form(text: str, system: str) -> str:
    """The final reply as JSON, where the system prompt has a schema; else as it is."""
    schema = schema_in(system)
    if schema is None:
        return text
    value = _value(json.loads(schema), value_after_marker(text)[:_TEXT_CHARS], json.loads(schema), 0)
    return f"{GOAL_COMPLETE}\n{json.dumps(value, ensure_ascii=False)}"


def _value(schema: Any, text: str, root: Any, depth: int) -> Any:
    if not isinstance(schema, dict) or depth > _MOST_DEPTH:
        return text
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    if "$ref" in schema:
        return _value(_referred(schema["$ref"], root), text, root, depth + 1)
    for alternatives in ("anyOf", "oneOf", "allOf"):
        if schema.get(alternatives):
            return _value(schema[alternatives][0], text, root, depth + 1)
    match _type(schema):
        case "object":
            parts = schema.get("properties", {})
            names = schema.get("required", ())
            return {name: _value(parts.get(name), text, root, depth + 1) for name in names}
        case "array":
            return [_value(schema.get("items"), text, root, depth + 1)] * schema.get("minItems", 0)
        case "integer" | "number":
            return _number(schema)
        case "boolean":
            return False
        case "null":
            return None
        case _:
            return text[: schema.get("maxLength", _TEXT_CHARS)].ljust(schema.get("minLength", 0), ".")


def _type(schema: dict[str, Any]) -> str:
    named = schema.get("type")
    if isinstance(named, list):
        named = named[0]
    if named is None:
        named = "object" if "properties" in schema or "required" in schema else "string"
    return str(named)


def _number(schema: dict[str, Any]) -> int:
    least: int = max(ceil(schema.get("minimum", 0)), int(schema.get("exclusiveMinimum", -1)) + 1, 0)
    most: int = int(schema.get("maximum", least))
    return min(least, most)


def _referred(reference: str, root: Any) -> Any:
    found = root
    for part in reference.removeprefix("#").strip("/").split("/"):
        if part:
            found = found.get(part) if isinstance(found, dict) else None
    return found

"""A schema for answers as providers take it for structured outputs (ADR 192).

Providers know a part of JSON Schema. What they do not know is left out: the system prompt has the whole schema, and
Acta checks the answer itself. Where leaving it out would keep a model from an answer that fits, there is no format.
"""

import json
from typing import Any

_NULL = {"type": "null"}
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


class _NoFormat(ValueError):
    """No provider takes such a schema."""


def answer_format(schema: str, *, all_required: bool = False) -> dict[str, Any] | None:
    """The schema for a provider; None: providers take none like this. `schema`: JSON, or empty if there is none.
    `all_required`: the provider wants every field in every answer, as OpenAI does. A field that may be absent may then
    be null, which Acta takes for absent.
    """
    if not schema:
        return None
    try:
        given = json.loads(schema)
        made = _taken(given, all_required)
        defs = {name: _taken(each, all_required) for name, each in given.get("$defs", {}).items()}
    except (_NoFormat, RecursionError):
        return None
    if made.get("type") != "object":
        return None
    return {**made, "$defs": defs} if defs else made


def _taken(schema: Any, all_required: bool) -> dict[str, Any]:
    """Raises _NoFormat."""
    if not isinstance(schema, dict) or "allOf" in schema or "prefixItems" in schema:
        raise _NoFormat
    if "$ref" in schema:
        return {"$ref": schema["$ref"]}
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if values is not None:
        if any(type(value) not in _TYPES for value in values):
            raise _NoFormat
        found = list(dict.fromkeys(_TYPES[type(value)] for value in values))
        return {"type": found if len(found) > 1 else found[0], "enum": values}
    branches = schema.get("anyOf") or schema.get("oneOf")
    types = schema.get("type") or ("object" if "properties" in schema else None)
    if types is None:
        if not branches:
            raise _NoFormat
        return {"anyOf": [_taken(branch, all_required) for branch in branches]}
    made: dict[str, Any] = {"type": types}
    if "array" in types:
        made["items"] = _taken(schema.get("items"), all_required)
    if "object" in types:
        fields, required = schema.get("properties", {}), schema.get("required", [])
        # No other field can be allowed, so all that an answer may have must be named.
        is_map = isinstance(schema.get("additionalProperties"), dict)
        if not fields or is_map or branches or not set(required) <= fields.keys():
            raise _NoFormat
        properties = {name: _taken(field, all_required) for name, field in fields.items()}
        if all_required:
            absent = {name: {"anyOf": [properties[name], _NULL]} for name in fields if name not in required}
            properties, required = properties | absent, list(fields)
        made |= {"properties": properties, "required": required, "additionalProperties": False}
    return made

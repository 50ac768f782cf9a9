"""Checks a call's input against its tool's JSON Schema (Draft 2020-12), in a limited amount of work.

The package `jsonschema` is imported at the first check, and each schema is compiled once per process.
"""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from acta_engine.errors import ToolInputInvalid
from acta_engine.tools.mcp.server import McpTool
from acta_engine.tools.schema.validator import BadPattern, TooMuchWork, limited_work, validator_of
from acta_engine.tools.tool import ToolDefinition, ToolSpec
from acta_engine.untrusted.visible import visible

if TYPE_CHECKING:
    from jsonschema import ValidationError

MAX_PROBLEMS = 5
"""Problems named in one message. More of them do not help a model."""
MAX_PROBLEM_CHARS = 200


def check_input(spec: ToolSpec, arguments: Mapping[str, Any]) -> None:
    """Raises ToolInputInvalid. The message says which fields are wrong and why, and which fields there are."""
    try:
        errors = _errors(spec, arguments)
    except RecursionError:
        raise ToolInputInvalid(f"the input of {spec.name} is nested too deeply. Make it flatter.") from None
    except TooMuchWork:
        raise ToolInputInvalid(
            f"checking the input of {spec.name} takes too much work. Send a smaller one. If that is no help, an admin "
            "has to make the tool's input_schema simpler; tell the user, or try another way."
        ) from None
    except BadPattern as bad:
        raise ToolInputInvalid(
            f"no input of {spec.name} can be checked: an admin has to change the tool's input_schema. {bad} Tell the "
            "user, or try another way."
        ) from None
    except Exception:
        # The validator itself fails at numbers that it cannot divide.
        raise ToolInputInvalid(
            f"the input of {spec.name} cannot be checked against its schema. Try other values, or another way."
        ) from None
    if not errors:
        return
    problems = problems_of(errors, INPUT)
    raise ToolInputInvalid(f"the input does not fit {spec.name}: {problems}. {_fields(spec.input_schema)}")


def _errors(spec: ToolSpec, arguments: Mapping[str, Any]) -> "list[ValidationError]":
    is_tenants = isinstance(spec, ToolDefinition | McpTool)
    schema = closed(spec.input_schema) if is_tenants else spec.input_schema
    return errors_of(json.dumps(schema, sort_keys=True), dict(arguments))


def errors_of(schema: str, value: Any) -> "list[ValidationError]":
    """What is wrong with the value, by its place in it. `schema`: as JSON. Raises TooMuchWork, BadPattern,
    RecursionError, and what the validator itself fails with.
    """
    with limited_work():
        errors = list(validator_of(schema).iter_errors(value))
    return sorted(errors, key=lambda error: [str(part) for part in error.path])


_NAMES_FIELDS_ELSEWHERE = frozenset(
    ("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas")
)


def closed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema of a tenant's tool, which takes no fields that it does not name unless it says so itself. A field that
    another schema names which applies to the whole input (`allOf`, `$ref` …) is a named one.
    """
    if "additionalProperties" in schema or "unevaluatedProperties" in schema:
        return schema
    keyword = "unevaluatedProperties" if _NAMES_FIELDS_ELSEWHERE & schema.keys() else "additionalProperties"
    return {**schema, keyword: False}


class Words(NamedTuple):
    """What messages call the whole value, and what decides which fields it takes."""

    value: str
    rule: str


INPUT = Words("the input", "the tool")


def problems_of(errors: "list[ValidationError]", words: Words) -> str:
    """The first few problems, in one line."""
    return "; ".join(list(dict.fromkeys(_problem(error, words) for error in errors))[:MAX_PROBLEMS])


def _problem(error: "ValidationError", words: Words) -> str:
    """Names of fields are the model's own and may be anything."""
    return visible(_sentence(error, words)[:MAX_PROBLEM_CHARS], keep_newlines=False)


def _sentence(error: "ValidationError", words: Words) -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    field = where or words.value
    instance: Any = error.instance
    wanted: Any = error.validator_value
    match error.validator:
        case "required":
            missing = [name for name in wanted if name not in instance]
            return f"{_listed(f'{where}.{name}' if where else name for name in missing)} is missing"
        case "additionalProperties" if wanted is False and isinstance(error.schema, dict):
            unknown = sorted(set(instance) - set(error.schema.get("properties", ())))
            return f"{_listed(f'{where}.{name}' if where else name for name in unknown)} is not a field"
        case "unevaluatedProperties" if wanted is False:
            return f"{field} has fields that {'it' if where else words.rule} does not take"
        case "type":
            return f"{field} must be of type {wanted if isinstance(wanted, str) else ' or '.join(wanted)}"
        case "enum":
            return f"{field} must be one of {_listed(json.dumps(one) for one in wanted)}"
        case "minLength" if wanted == 1:
            return f"{field} must not be empty"
        case "maxLength":
            return f"{field} must have at most {wanted} characters"
        case "minItems" | "maxItems" | "minimum" | "maximum" | "pattern":
            return f"{field} breaks the rule {error.validator} {wanted}"
        case _:
            return f"{field}: {error.message}"


def _fields(schema: Mapping[str, Any]) -> str:
    """A sentence such as `Fields: path (string, required).`"""
    required = schema.get("required", ())
    described = [
        f"{name} ({_kind(field)}{', required' if name in required else ''})"
        for name, field in schema.get("properties", {}).items()
    ]
    return f"Fields: {', '.join(described)}." if described else "It takes no fields."


def _kind(field: object) -> str:
    kind = field.get("type", "any") if isinstance(field, dict) else "any"
    return kind if isinstance(kind, str) else " or ".join(kind)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)[:MAX_PROBLEM_CHARS]

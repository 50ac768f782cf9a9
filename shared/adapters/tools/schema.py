"""A call's input against its tool's JSON Schema (Draft 2020-12).

The `jsonschema` package is imported at the first check, and a schema is compiled once per process. References
are resolved inside the schema only: nothing is fetched.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from shared.domain.errors import ToolInputInvalid
from shared.domain.tool import ToolSpec

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

MAX_PROBLEMS = 5
"""More do not help a model; the first ones do."""
MAX_PROBLEM_CHARS = 200


def check_input(spec: ToolSpec, arguments: Mapping[str, Any]) -> None:
    """Raises ToolInputInvalid: which field is wrong and how, and which fields there are."""
    try:
        errors = _errors(spec, arguments)
    except RecursionError:
        raise ToolInputInvalid(f"the input of {spec.name} is nested too deeply. Make it flatter.") from None
    except Exception:
        # the validator's own, over numbers it cannot divide and schemas that were accepted once
        raise ToolInputInvalid(
            f"the input of {spec.name} cannot be checked against its schema. Try other values, or another way."
        ) from None
    if not errors:
        return
    problems = list(dict.fromkeys(_problem(error) for error in errors))[:MAX_PROBLEMS]
    raise ToolInputInvalid(
        f"the input does not fit {spec.name}: {'; '.join(problems)}. {_fields(spec.input_schema)}"
    )


def _errors(spec: ToolSpec, arguments: Mapping[str, Any]) -> "list[ValidationError]":
    validator = _compiled(json.dumps(spec.input_schema, sort_keys=True))
    return sorted(
        validator.iter_errors(dict(arguments)), key=lambda error: [str(part) for part in error.path]
    )


@lru_cache(maxsize=256)
def _compiled(schema: str) -> "Draft202012Validator":
    from jsonschema import Draft202012Validator
    from referencing import Registry

    return Draft202012Validator(json.loads(schema), registry=Registry())


def _problem(error: "ValidationError") -> str:
    where = ".".join(str(part) for part in error.absolute_path)
    field = where or "the input"
    instance: Any = error.instance
    wanted: Any = error.validator_value
    match error.validator:
        case "required":
            missing = [name for name in wanted if name not in instance]
            return f"{_listed(f'{where}.{name}' if where else name for name in missing)} is missing"
        case "additionalProperties" if wanted is False and isinstance(error.schema, dict):
            unknown = sorted(set(instance) - set(error.schema.get("properties", ())))
            return f"{_listed(f'{where}.{name}' if where else name for name in unknown)} is not a field"
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
            return f"{field}: {error.message}"[:MAX_PROBLEM_CHARS]


def _fields(schema: Mapping[str, Any]) -> str:
    """`Fields: path (string, required), …`"""
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

"""A call's input against its tool's JSON Schema (Draft 2020-12).

The `jsonschema` package is imported at the first check, and a schema is compiled once per process. A schema is accepted
only if it is usable: a reference to nothing, or one that leads back to where it began with the same value, would be
found only by the input that needs it.
"""

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from shared.domain.definitions.tool import ToolSpec
from shared.domain.errors import ToolInputInvalid

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

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


REFERENCES = ("$ref", "$dynamicRef")
MAX_CHAIN = 32
"""Schemas for one and the same value, one inside or behind the other: the check of an input recurses through them."""


class LeadsNowhere(Exception):
    """The message says how, in words for the admin."""


def check_references(schema: Mapping[str, Any]) -> None:
    """`schema` is valid by the rules of its kind. Raises LeadsNowhere."""
    from jsonschema import Draft202012Validator, SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    root = DRAFT202012.create_resource(schema)
    new = [(schema, Registry().resolver_with_root(root))]
    behind: dict[int, list[int]] = {}
    followed: list[tuple[Any, Any]] = []
    while new or followed:
        if not new:
            target, resolver = followed.pop()
            if id(target) in behind:
                continue
            try:  # it may lie where no schema is expected, unchecked until now
                Draft202012Validator.check_schema(target)
            except SchemaError:
                raise LeadsNowhere("A $ref leads to something that is no schema.") from None
            except RecursionError:
                raise LeadsNowhere("The schema is nested too deeply.") from None
            new.append((target, resolver))
        here, resolver = new.pop()
        behind[id(here)] = [id(each) for each in _for_the_same_value(here)]
        for each in DRAFT202012.subresources_of(here):
            new.append((each, resolver.in_subresource(DRAFT202012.create_resource(each))))
        for reference in _references(here):
            try:
                found = resolver.lookup(reference)
            except (Unresolvable, TypeError, ValueError):
                raise LeadsNowhere("A $ref leads to nothing in the schema.") from None
            behind[id(here)].append(id(found.contents))
            followed.append((found.contents, found.resolver))
    _check_ends(behind)


def _references(schema: Any) -> list[str]:
    return [schema[name] for name in REFERENCES if name in schema] if isinstance(schema, dict) else []


def _for_the_same_value(schema: Any) -> Iterator[Any]:
    """The schemas in `schema` that hold for the value it holds for, not for a part of it."""
    if not isinstance(schema, dict):
        return
    yield from (schema[name] for name in ("not", "if", "then", "else") if name in schema)
    for name in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(name, ())
    yield from schema.get("dependentSchemas", {}).values()


def _check_ends(behind: Mapping[int, list[int]]) -> None:
    """`behind`: by schema, those that come next for the same value."""
    chains: dict[int, int] = {}
    try:
        for each in TopologicalSorter(behind).static_order():
            chains[each] = 1 + max((chains[one] for one in behind[each]), default=0)
    except CycleError:
        raise LeadsNowhere("A $ref leads back to itself: no input can ever be checked.") from None
    if max(chains.values()) > MAX_CHAIN:
        raise LeadsNowhere(f"More than {MAX_CHAIN} schemas follow each other for one value.")

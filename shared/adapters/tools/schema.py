"""Checks a call's input against its tool's JSON Schema (Draft 2020-12), and the references in a schema.

The package `jsonschema` is imported at the first check, and each schema is compiled once per process.
A schema is checked when an admin writes it: a reference that leads to nothing, or back to itself, would otherwise be
found only by an input that needs it.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from shared.domain.definitions.tool import ToolDefinition, ToolSpec
from shared.domain.errors import ToolInputInvalid

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator, ValidationError

MAX_PROBLEMS = 5
"""Problems named in one message. More of them do not help a model."""
MAX_PROBLEM_CHARS = 200


def check_input(spec: ToolSpec, arguments: Mapping[str, Any]) -> None:
    """Raises ToolInputInvalid. The message says which fields are wrong and why, and which fields there are."""
    try:
        errors = _errors(spec, arguments)
    except RecursionError:
        raise ToolInputInvalid(f"the input of {spec.name} is nested too deeply. Make it flatter.") from None
    except Exception:
        # The validator itself fails at numbers that it cannot divide, and at schemas that earlier releases accepted.
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
    schema = closed(spec.input_schema) if isinstance(spec, ToolDefinition) else spec.input_schema
    validator = _compiled(json.dumps(schema, sort_keys=True))
    return sorted(
        validator.iter_errors(dict(arguments)), key=lambda error: [str(part) for part in error.path]
    )


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
        case "unevaluatedProperties" if wanted is False:
            return f"{field} has fields that {'it' if where else 'the tool'} does not take"
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


REFERENCES = ("$ref", "$dynamicRef")
MAX_CHAIN = 32
"""Schemas that apply to the same value, each inside the one before or referred to by it. The validator calls itself for
each of them, so their number is limited."""


class BadReference(Exception):
    """The message is a sentence for the admin."""


def check_references(schema: Mapping[str, Any]) -> None:
    """Raises BadReference where a reference leads to nothing, to something that is no schema, or back to itself.

    `schema`: must be valid by the rules of JSON Schema.
    """
    from jsonschema import Draft202012Validator, SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import DRAFT202012

    root = DRAFT202012.create_resource(schema)
    to_visit = [(schema, Registry().resolver_with_root(root))]
    targets: list[tuple[Any, Any]] = []  # of references, not visited yet
    following: dict[int, list[int]] = {}  # by schema, the schemas that come next for the same value
    while to_visit or targets:
        if not to_visit:
            target, resolver = targets.pop()
            if id(target) in following:
                continue
            try:  # a target may stand where no schema is expected, so nobody has checked it yet
                Draft202012Validator.check_schema(target)
            except SchemaError:
                raise BadReference("A $ref leads to something that is no schema.") from None
            except RecursionError:
                raise BadReference("The schema is nested too deeply.") from None
            to_visit.append((target, resolver))
        here, resolver = to_visit.pop()
        following[id(here)] = [id(each) for each in _for_the_same_value(here)]
        for each in DRAFT202012.subresources_of(here):
            to_visit.append((each, resolver.in_subresource(DRAFT202012.create_resource(each))))
        for reference in _references(here):
            try:
                found = resolver.lookup(reference)
            except (Unresolvable, TypeError, ValueError):
                raise BadReference("A $ref leads to nothing in the schema.") from None
            following[id(here)].append(id(found.contents))
            targets.append((found.contents, found.resolver))
    _check_chains(following)


def _references(schema: Any) -> list[str]:
    return [schema[name] for name in REFERENCES if name in schema] if isinstance(schema, dict) else []


def _for_the_same_value(schema: Any) -> Iterator[Any]:
    """The schemas inside `schema` that apply to the same value as `schema` itself, not to a part of the value."""
    if not isinstance(schema, dict):
        return
    yield from (schema[name] for name in ("not", "if", "then", "else") if name in schema)
    for name in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(name, ())
    yield from schema.get("dependentSchemas", {}).values()


def _check_chains(following: Mapping[int, list[int]]) -> None:
    """Raises BadReference where a chain has no end or is too long. `following`: by schema, the schemas that come next
    for the same value.
    """
    lengths: dict[int, int] = {}
    try:
        for each in TopologicalSorter(following).static_order():
            lengths[each] = 1 + max((lengths[one] for one in following[each]), default=0)
    except CycleError:
        raise BadReference("A $ref leads back to itself: no input can ever be checked.") from None
    if max(lengths.values()) > MAX_CHAIN:
        raise BadReference(f"More than {MAX_CHAIN} schemas follow each other for one value.")

"""Checks a schema when an admin writes it: where its references lead, how many of its parts apply to one value, and its
patterns. What is wrong would otherwise be found only by an input that needs it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from acta_engine.tools.schema.validator import compiled
from acta_engine.untrusted.schema_chains import EndlessSchema, check_chains

REFERENCES = ("$ref", "$dynamicRef")


class BadReference(Exception):
    """The message is a sentence for the admin."""


def check_references(schema: Mapping[str, Any]) -> None:
    """Raises BadReference where a reference leads to nothing, to something that is no schema, or back to itself, and
    where too many schemas apply to one value; BadPattern for a pattern that cannot be used.

    `schema`: must be valid by the rules of JSON Schema.
    """
    from jsonschema import Draft202012Validator, FormatChecker, SchemaError
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
                Draft202012Validator.check_schema(target, format_checker=FormatChecker(()))
            except SchemaError:
                raise BadReference("A $ref leads to something that is no schema.") from None
            except RecursionError:
                raise BadReference("The schema is nested too deeply.") from None
            to_visit.append((target, resolver))
        here, resolver = to_visit.pop()
        following[id(here)] = [id(each) for each in _for_the_same_value(here)]
        _check_patterns(here)
        for each in DRAFT202012.subresources_of(here):
            to_visit.append((each, resolver.in_subresource(DRAFT202012.create_resource(each))))
        for reference in _references(here):
            try:
                found = resolver.lookup(reference)
            except (Unresolvable, TypeError, ValueError):
                raise BadReference("A $ref leads to nothing in the schema.") from None
            following[id(here)].append(id(found.contents))
            targets.append((found.contents, found.resolver))
    try:
        check_chains(following)
    except EndlessSchema as endless:
        raise BadReference(str(endless)) from None


def _references(schema: Any) -> list[str]:
    return [schema[name] for name in REFERENCES if name in schema] if isinstance(schema, dict) else []


def _check_patterns(schema: Any) -> None:
    """Raises BadPattern."""
    if isinstance(schema, dict):
        named = [schema["pattern"]] if "pattern" in schema else []
        for pattern in (*named, *schema.get("patternProperties", ())):
            compiled(pattern)


def _for_the_same_value(schema: Any) -> Iterator[Any]:
    """The schemas inside `schema` that apply to the same value as `schema` itself, not to a part of the value."""
    if not isinstance(schema, dict):
        return
    yield from (schema[name] for name in ("not", "if", "then", "else") if name in schema)
    for name in ("allOf", "anyOf", "oneOf"):
        yield from schema.get(name, ())
    yield from schema.get("dependentSchemas", {}).values()

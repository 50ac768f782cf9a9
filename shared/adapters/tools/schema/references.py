"""Checks a schema when an admin writes it: where its references lead, how many of its parts apply to one value, and its
patterns. What is wrong would otherwise be found only by an input that needs it.
"""

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from shared.adapters.tools.schema.patterns import compiled

REFERENCES = ("$ref", "$dynamicRef")
MAX_CHAIN = 32
"""Schemas that apply to the same value, each inside the one before or referred to by it. The validator calls itself for
each of them, so their number is limited."""
MAX_FOR_ONE_VALUE = 1_000
"""Schemas that apply to the same value, one that is referred to twice counted twice. References that fan out multiply
them.
"""


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
    _check_chains(following)


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


def _check_chains(following: Mapping[int, list[int]]) -> None:
    """Raises BadReference where a chain has no end or is too long, or where all chains together are too many.
    `following`: by schema, the schemas that come next for the same value.
    """
    lengths: dict[int, int] = {}
    counts: dict[int, int] = {}
    try:
        for each in TopologicalSorter(following).static_order():
            lengths[each] = 1 + max((lengths[one] for one in following[each]), default=0)
            counts[each] = 1 + sum(counts[one] for one in following[each])
    except CycleError:
        raise BadReference("A $ref leads back to itself: no input can ever be checked.") from None
    if max(lengths.values()) > MAX_CHAIN:
        raise BadReference(f"More than {MAX_CHAIN} schemas follow each other for one value.")
    if max(counts.values()) > MAX_FOR_ONE_VALUE:
        raise BadReference(
            f"More than {MAX_FOR_ONE_VALUE:,} schemas apply to one value, because references fan out."
        )

"""Where the references inside a tool's schema lead. A schema that is accepted must be usable: a reference to nothing,
or one that comes back to where it began with the same value, is found by an input otherwise, in the midst of a session.
"""

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

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

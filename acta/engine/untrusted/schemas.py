"""JSON Schemas that other people wrote: every dialect is rewritten as one (`modern`), and a schema whose references
lead nowhere, or that would check one value too often, is refused (`check_references`).
"""

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple
from urllib.parse import unquote, urljoin

_ONE = (
    "additionalItems", "additionalProperties", "contains", "else", "if", "items", "not", "propertyNames", "then",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_SEVERAL = ("allOf", "anyOf", "items", "oneOf", "prefixItems")
_NAMED = ("$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties")
_BESIDE_A_REFERENCE = frozenset(
    ("$ref", "$defs", "definitions", "title", "description", "default", "examples")
)
_DRAFT = re.compile(r"https?://json-schema\.org/draft-0([3-7])/(hyper-)?schema#?")
_NAMES_OF_PLACES = ("$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema", "$vocabulary")
_NOWHERE = "#/nowhere/in/the/schema"
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def parts(schema: Any) -> Iterator[Any]:
    """The schemas right inside this one."""
    if not isinstance(schema, dict):
        return
    for key, value in schema.items():
        if key in _ONE and isinstance(value, dict | bool):
            yield value
        elif key in _SEVERAL and isinstance(value, list):
            yield from value
        elif key in _NAMED and isinstance(value, dict):
            yield from value.values()


def schemas_in(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and all schemas inside it."""
    waiting = [schema]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            yield here
            waiting += parts(here)


class _Found(NamedTuple):
    """A schema inside another one."""

    schema: dict[str, Any]
    base: str
    """The URI that its references start from."""
    draft: int | None
    """3 to 7, if `$schema` names such a dialect."""


def modern(
    schema: Mapping[str, Any], change: Callable[[dict[str, Any]], None] | None = None
) -> dict[str, Any]:
    """A copy of the schema that says the same in JSON Schema 2020-12, without ids and anchors (ADR 182): each `$ref` is
    a JSON pointer, and the schema itself has none.

    Drafts 4 to 7 are read as such where `$schema` names them. What 2020-12 does not have is read as what it was
    before, whatever the schema declares: `items` as a list, `exclusiveMinimum: true`, `dependencies`, and OpenAPI's
    `nullable`. What is wrong stays as it is, for the check to find. Raises RecursionError.

    `change`: is given each schema of the copy, first the whole, and may change it. References still lead to where they
    led: a schema that was taken out and is referred to stands in `$defs`.
    """
    root = copy.deepcopy(dict(schema))
    places: dict[str, Any] = {}  # what URIs lead to
    found: list[_Found] = []
    known: set[int] = set()
    leads_to: list[tuple[dict[str, Any], Any]] = []
    elsewhere: list[dict[str, Any]] = []
    _find(_Found(root, "", None), places, found, known)
    for here in found:  # it grows: a reference may lead to where no schema is expected
        for keyword in _REFERENCES:
            if not isinstance(here.schema.get(keyword), str):
                continue
            target = _lookup(keyword, here, found[0].base, places)
            said = here.schema.pop(keyword)
            may_be_null = here.draft is None and here.schema.get("nullable") is True
            inside: dict[str, Any] = {} if may_be_null or "$ref" in here.schema else here.schema
            if isinstance(target, dict):
                if id(target) not in known:
                    elsewhere.append(target)
                    _find(here._replace(schema=target), places, found, known)
                inside["$ref"] = ""
                leads_to.append((inside, target))
            elif target is not True:
                inside |= {"not": {}} if target is False else {"$ref": _NOWHERE if said[:1] == "#" else said}
            if inside is not here.schema:
                _also(here.schema, inside)
    for here in found:
        _modernise(here.schema, here.draft)
        if change is not None:
            change(here.schema)
    where = _pointers(root)
    elsewhere += {id(target): target for _, target in leads_to if id(target) not in where}.values()
    if elsewhere and isinstance(root.setdefault("$defs", {}), dict):  # where every reader looks for schemas
        for target in elsewhere:
            name = where.get(id(target), "").rpartition("/")[2] or "it"
            while name in root["$defs"]:
                name += "_"
            root["$defs"][name] = target
        where |= {id(target): f"/$defs/{name}" for name, target in root["$defs"].items()}
    for place, target in leads_to:
        place["$ref"] = f"#{where[id(target)]}" if id(target) in where else _NOWHERE
    return _without_reference(root, leads_to)


def _find(here: _Found, places: dict[str, Any], found: list[_Found], known: set[int]) -> None:
    """Adds the schema and all in it to `found` and `known`, and what its ids and anchors name to `places`."""
    schema, base, draft = here
    if not isinstance(schema, dict) or id(schema) in known:
        return
    declared = schema.get("$schema")
    if isinstance(declared, str):
        named = _DRAFT.fullmatch(declared)
        draft = int(named[1]) if named else None
    own = schema.get("id" if draft is not None and draft < 6 else "$id")
    if isinstance(own, str) and not own.startswith("#"):
        base = _uri(base, own).partition("#")[0]
    anchors = [schema.get("$anchor"), schema.get("$dynamicAnchor")]
    anchors += [one[1:] for one in (schema.get("id"), own) if isinstance(one, str) and one.startswith("#")]
    for anchor in anchors:
        if isinstance(anchor, str) and anchor:
            places.setdefault(f"{base}#{anchor}", schema)
    places.setdefault(base, schema)
    known.add(id(schema))
    found.append(_Found(schema, base, draft))
    for each in parts(schema):
        _find(_Found(each, base, draft), places, found, known)


def _uri(base: str, said: str) -> str:
    try:
        return base + said if said.startswith("#") else urljoin(base, said)
    except ValueError:
        return said


def _lookup(keyword: str, here: _Found, root: str, places: Mapping[str, Any]) -> dict[str, Any] | bool | None:
    """What the schema refers to. None: to no schema that is here. `root`: the URI of the whole."""
    resource, _, fragment = _uri(here.base, here.schema[keyword]).partition("#")
    if fragment and not fragment.startswith("/"):
        target = places.get(f"{resource}#{fragment}")
        if keyword == "$dynamicRef" and isinstance(target, dict) and "$dynamicAnchor" in target:
            # Of the schemas that it may lead to, the outermost counts.
            target = places.get(f"{root}#{fragment}", target)
        return target if isinstance(target, dict | bool) else None
    return schema_at(places.get(resource), fragment)


def schema_at(here: Any, pointer: str) -> dict[str, Any] | bool | None:
    """The schema that a JSON pointer leads to. None: to none. What is before its first `/` does not count."""
    for part in pointer.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(here, list):
            here = here[int(name)] if name.isdecimal() and int(name) < len(here) else None
        else:
            here = here.get(name) if isinstance(here, dict) else None
    return here if isinstance(here, dict | bool) else None


def _modernise(here: dict[str, Any], draft: int | None) -> None:
    """Rewrites the schema's own keywords."""
    if draft is not None and "$ref" in here:  # nothing beside a reference counted there
        for key in here.keys() - _BESIDE_A_REFERENCE:
            del here[key]
    absent = [key for key, value in here.items() if value is None and key not in ("const", "default")]
    for key in (*_NAMES_OF_PLACES, *absent):  # some servers write null for what they leave out
        here.pop(key, None)
    if draft is not None and isinstance(here.get("id"), str):
        del here["id"]
    for bound in ("minimum", "maximum"):
        exclusive = f"exclusive{bound.title()}"
        if isinstance(here.get(exclusive), bool) and here.pop(exclusive) and bound in here:
            here[exclusive] = here.pop(bound)
    if isinstance(here.get("items"), list) and "prefixItems" not in here:
        first = here.pop("items")
        here |= {"prefixItems": first} if first else {}
        here |= {"items": here["additionalItems"]} if "additionalItems" in here else {}
    here.pop("additionalItems", None)
    if isinstance(here.get("dependencies"), dict):
        needs = here.pop("dependencies")
        for keyword, kind in (("dependentRequired", list), ("dependentSchemas", dict | bool)):
            named = {name: each for name, each in needs.items() if isinstance(each, kind)}
            if named and isinstance(here.get(keyword, {}), dict):
                here[keyword] = {**named, **here.get(keyword, {})}
    if isinstance(here.get("nullable"), bool) and here.pop("nullable"):
        # OpenAPI asks for a type beside it, and for a null in `enum`. Many documents have neither, and mean null.
        kinds = here["type"] if isinstance(here.get("type"), list) else [here.get("type", "null")]
        if "null" not in kinds:
            here["type"] = [*kinds, "null"]
        if isinstance(here.get("enum"), list) and None not in here["enum"]:
            here["enum"] = [*here["enum"], None]
        others = {
            key: here.pop(key) for key in ("allOf", "anyOf", "oneOf") if isinstance(here.get(key), list)
        }
        if others:
            here["anyOf"] = [others, {"type": "null"}]


def _also(here: dict[str, Any], inside: dict[str, Any]) -> None:
    if isinstance(here.get("allOf", []), list):
        here["allOf"] = [*here.get("allOf", ()), inside]


def _pointers(root: dict[str, Any]) -> dict[int, str]:
    """The JSON pointer of each object, by its id."""
    found: dict[int, str] = {}
    waiting: list[tuple[str, Any]] = [("", root)]
    while waiting:
        where, here = waiting.pop()
        found.setdefault(id(here), where)
        inside: Any = here.items() if isinstance(here, dict) else enumerate(here)
        for name, each in inside:
            if isinstance(each, dict | list):
                part = str(name).replace("~", "~0").replace("/", "~1").replace("%", "%25")
                waiting.append((f"{where}/{part}", each))
    return found


def _without_reference(root: dict[str, Any], leads_to: list[tuple[dict[str, Any], Any]]) -> dict[str, Any]:
    """The schema with what its own reference leads to in the place of the reference."""
    made, target = root, next((target for place, target in leads_to if place is root), None)
    for _ in range(MAX_CHAIN):
        if target is None or target is root:
            break
        reference = made["$ref"]
        rest = {key: value for key, value in made.items() if key != "$ref"}
        beside = {key: value for key, value in rest.items() if key not in _BESIDE_A_REFERENCE}
        if any(key != "type" and target.get(key, ABSENT) != value for key, value in beside.items()):
            _also(rest, {"$ref": reference})
            return rest
        made = {**target, **rest}
        target = next((after for place, after in leads_to if place is target), None)
    return made


ABSENT = object()

MAX_CHAIN = 32
"""Schemas that apply to the same value, each inside the one before or referred to by it. The validator calls itself for
each of them, so their number is limited."""
MAX_FOR_ONE_VALUE = 1_000
"""The most schemas that apply to the same value. A schema that is referred to twice is counted twice, and references
that fan out multiply the number.
"""


class BadReference(Exception):
    """The message is a sentence for whoever wrote the schema."""


def check_references(schema: Mapping[str, Any]) -> None:
    """Raises BadReference where a `$ref` leads to nothing or back to itself, where a chain of schemas is too long, and
    where too many schemas apply to one value. `schema`: a valid one, whose references are all JSON pointers.
    """
    following: dict[int, list[int]] = {}  # by schema, the schemas that come next for the same value
    for here in schemas_in(schema):
        same = [here[name] for name in ("not", "if", "then", "else") if name in here]
        same += [each for name in ("allOf", "anyOf", "oneOf") for each in here.get(name, ())]
        same += here.get("dependentSchemas", {}).values()
        if "$ref" in here:
            target = schema_at(schema, here["$ref"]) if here["$ref"].startswith("#") else None
            if target is None:
                raise BadReference("A $ref leads to nothing in the schema.")
            same.append(target)
        following[id(here)] = [id(each) for each in same]
    lengths: dict[int, int] = {}
    counts: dict[int, int] = {}
    try:
        for each in TopologicalSorter(following).static_order():
            after = following.get(each, ())  # nothing follows `true` and `false`
            lengths[each] = 1 + max((lengths[one] for one in after), default=0)
            counts[each] = 1 + sum(counts[one] for one in after)
    except CycleError:
        raise BadReference("A $ref leads back to itself: no value can ever be checked.") from None
    if max(lengths.values()) > MAX_CHAIN:
        raise BadReference(f"More than {MAX_CHAIN} schemas follow each other for one value.")
    if max(counts.values()) > MAX_FOR_ONE_VALUE:
        raise BadReference(
            f"More than {MAX_FOR_ONE_VALUE:,} schemas apply to one value, because references fan out."
        )

"""The kinds of definitions that files can be: where each stands, and what of an answer of the API its file has.

A definition is compared as its file would have it: without what Acta adds, and without what means the same as nothing.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from acta.cli.apply.schema import Json, part_of, schema_of

NOTHING: Mapping[str, tuple[str, ...]] = MappingProxyType({})


class Kind(NamedTuple):
    """`folder`: of its files, the name of the client's calls, and of the kind on screen. `one`: what one is called, and
    its schema. `identity`: the field that the file's name is. `told`: fields of answers that no file has. `sets`: lists
    of which the API keeps each entry once; `trimmed`: texts without the blanks at their ends. `names`: kinds -> fields
    with names of theirs. `simplest`: leaves out what follows from the rest.
    """

    folder: str
    one: str
    identity: str
    told: frozenset[str]
    sets: tuple[str, ...] = ()
    trimmed: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] = NOTHING
    simplest: Callable[[Json], Json] = dict


TOLD = frozenset({"version", "applied", "created_at", "updated_at", "warnings"})
AGENTS = Kind(
    "agents",
    "agent",
    "agent_id",
    TOLD,
    sets=("tools", "high_stakes", "start_roles"),
    trimmed=("name",),
    names={"tools": ("tools", "high_stakes")},
)
KINDS: Mapping[str, Kind] = MappingProxyType({each.folder: each for each in (AGENTS,)})
"""In the order in which they are written: what is named comes before what names it."""


def as_file(kind: Kind, given: Mapping[str, Any]) -> Json:
    """A definition as its file would have it, in the schema's order: from a file, or from an answer of the API."""
    schema = schema_of(kind.one)
    kept = {name: value for name, value in given.items() if name not in kind.told and name != kind.identity}
    for name in kind.sets:
        if isinstance(kept.get(name), list):
            kept[name] = list(dict.fromkeys(kept[name]))
    for name in kind.trimmed:
        if isinstance(kept.get(name), str):
            kept[name] = kept[name].strip()
    return kind.simplest(_plain(kept, schema, schema))


def digest(definition: Json) -> str:
    """Of a definition as its file has it."""
    text = json.dumps(definition, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


def _plain(value: Any, schema: Json, whole: Json) -> Any:
    """Without fields that say what their absence says. What people made up (schemas, headers) stays as it is."""
    schema = part_of(schema, whole)
    if isinstance(value, list) and "items" in schema:
        return [_plain(each, schema["items"], whole) for each in value]
    if isinstance(value, int) and not isinstance(value, bool) and "number" in _types(schema):
        return float(value)
    if not isinstance(value, dict):
        return value
    if "properties" in schema:
        known = schema["properties"]
        made = {name: _plain(value[name], known[name], whole) for name in known if name in value}
        required = schema.get("required", ())
        rest = {name: each for name, each in value.items() if name not in known}
        return {
            **{
                name: each
                for name, each in made.items()
                if name in required or not _is_absence(each, known[name])
            },
            **{name: each for name, each in rest.items() if each not in (None, "", [], {}, False)},
        }
    if isinstance(schema.get("additionalProperties"), dict):
        return {name: _plain(each, schema["additionalProperties"], whole) for name, each in value.items()}
    return value


def _is_absence(value: Any, schema: Json) -> bool:
    if "default" in schema:
        return bool(value == schema["default"])
    return value is None or value in ([], {})


def _types(schema: Json) -> list[str]:
    named = schema.get("type", ())
    return [named] if isinstance(named, str) else list(named)

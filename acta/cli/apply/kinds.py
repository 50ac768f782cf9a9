"""The kinds of definitions that files can be: where each stands, and what of an answer of the API its file has.

A definition is compared as its file would have it: without what Acta adds, and without what means the same as nothing.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from acta.cli.apply import tool_files
from acta.cli.apply.schema import Json, part_of, schema_of

NOTHING: Mapping[str, tuple[str, ...]] = MappingProxyType({})
TOLD = frozenset({"version", "applied", "created_at", "updated_at", "warnings"})
AS_DEFINED = "as_defined"
"""What a definition says where something else holds, by an operator's word."""


class Kind(NamedTuple):
    """`folder`: of its files, and of the kind on screen; with `_` for `-` the name of the client's calls. `one`: what
    one is called, and its schema. `identity`: the field that the file's name is. `told`: fields of answers that no file
    has. `sets`: lists of which the API keeps each entry once; `trimmed`: texts without the blanks at their ends.
    `beside`: fields that go along with a change and are none. `names`: kinds -> fields with names of theirs.
    `simplest`: leaves out what follows from the rest. `shown`: of a file what the API would show. `answered`: an answer
    with the fields of a body. `written`: fields that a body always has. `prefix`: its name and this is how names of its
    tools begin.
    """

    folder: str
    one: str
    identity: str
    told: frozenset[str] = TOLD
    sets: tuple[str, ...] = ()
    trimmed: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    names: Mapping[str, tuple[str, ...]] = NOTHING
    simplest: Callable[[str, Json], Json] = lambda _, definition: definition
    shown: Callable[[Json], Json] = dict
    answered: Callable[[Mapping[str, Any]], Json] = dict
    written: Mapping[str, Any] = NOTHING
    prefix: str | None = None

    def without_beside(self, definition: Json) -> Json:
        return {name: value for name, value in definition.items() if name not in self.beside}


TOOLS = Kind(
    "tools",
    "tool",
    "name",
    TOLD | {AS_DEFINED},
    trimmed=("description",),
    simplest=tool_files.simplest,
    shown=tool_files.shown,
)
MCP_SERVERS = Kind(
    "mcp-servers",
    "mcp-server",
    "name",
    simplest=tool_files.simplest_server,
    answered=tool_files.of_server,
    written={"tools": {}},
    prefix="__",
)
PROMPTS = Kind(
    "prompts",
    "prompt",
    "name",
    TOLD | {"active", "authors", "created_by", "description", "seed_content"},
    beside=("comment",),
)
AGENTS = Kind(
    "agents",
    "agent",
    "agent_id",
    sets=("tools", "high_stakes", "start_roles"),
    trimmed=("name",),
    names=dict.fromkeys(("tools", "mcp-servers"), ("tools", "high_stakes")),
)
KINDS: Mapping[str, Kind] = MappingProxyType(
    {each.folder: each for each in (TOOLS, MCP_SERVERS, PROMPTS, AGENTS)}
)
"""In the order in which they are written: what is named comes before what names it."""


def from_answer(kind: Kind, answer: Mapping[str, Any]) -> Json:
    """An answer of the API as the definition's file would be."""
    given = kind.answered(answer)
    return as_file(kind, answer[kind.identity], {**given, **(given.get(AS_DEFINED) or {})})


def as_file(kind: Kind, name: str, given: Mapping[str, Any]) -> Json:
    """A definition in the schema's order, without what says the same as nothing."""
    schema = schema_of(kind.one)
    kept = {field: value for field, value in given.items() if field not in kind.told | {kind.identity}}
    for field in kind.sets:
        if isinstance(kept.get(field), list):
            kept[field] = list(dict.fromkeys(kept[field]))
    for field in kind.trimmed:
        if isinstance(kept.get(field), str):
            kept[field] = kept[field].strip()
    return kind.simplest(name, _plain(kept, schema, schema))


class Digest(NamedTuple):
    """Of a definition: of what the API shows of it, and of the whole."""

    shown: str
    whole: str

    @classmethod
    def of(cls, kind: Kind, definition: Json) -> "Digest":
        compared = kind.without_beside(definition)
        return cls(_hash(kind.shown(compared)), _hash(compared))

    @classmethod
    def from_text(cls, text: str) -> "Digest":
        shown, _, whole = text.partition(":")
        return cls(shown, whole)

    def __str__(self) -> str:
        return f"{self.shown}:{self.whole}"


def _hash(definition: Json) -> str:
    text = json.dumps(definition, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:40]


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

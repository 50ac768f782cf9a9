"""What of an MCP server's schema a model gets as the tool's schema, and what it gets as quoted words (ADR 149).

A schema has values, which a call needs: types, bounds, the names of fields, short choices. And it has words, in which a
server can say anything: descriptions, titles, defaults, examples, comments, patterns, long choices. The words are taken
out, however deep they stand, and go into the quoted description. Keywords that nobody knows are left out. Which inputs
are accepted is decided by the server's own schema all the same.
"""

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from acta.engine.untrusted.schemas import modern, schema_at
from acta.engine.untrusted.visible import texts_in, visible

MAX_NAME_CHARS = 64
MAX_VALUE_CHARS = 64
MAX_REFERENCE_CHARS = 200
MAX_LINE_CHARS = 500
MAX_WORDS_CHARS = 4_000

_ONE = frozenset((
    "additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "contains", "propertyNames",
))  # fmt: skip
_SEVERAL = frozenset(("allOf", "anyOf", "oneOf", "prefixItems"))
_NAMED = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
_BOUNDS = frozenset((
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems",
    "maxItems", "minContains", "maxContains", "minProperties", "maxProperties", "uniqueItems", "deprecated", "readOnly",
    "writeOnly",
))  # fmt: skip
_CODES = frozenset(("type", "required", "dependentRequired"))
_WORDS = frozenset((
    "description", "title", "default", "examples", "$comment", "pattern", "contentMediaType", "enum", "const", "format",
    "not", "if", "then", "else",
))  # fmt: skip
_FORMAT = re.compile(r"[a-z0-9-]{1,32}")


NOT_OFFERED = (
    "Its schema has a name of more than 64 characters, with a space or with a hidden character, or a $ref to something "
    "that models are not given: models would read it as it is."
)


class _NoName(Exception):
    pass


class OfferedSchema(NamedTuple):
    """`schema`: for the model. `words`: what was taken out of it, one line each, and no more than may be quoted."""

    schema: dict[str, Any]
    words: str


def offered_schema(schema: Mapping[str, Any]) -> OfferedSchema | None:
    """None: models cannot be given the tool (`NOT_OFFERED`). `schema`: valid by the rules of JSON Schema. Raises
    RecursionError.
    """
    return _offered(json.dumps(schema))


@lru_cache(maxsize=500)
def _offered(text: str) -> OfferedSchema | None:
    """Kept by the schema's whole text: a tenant may have 400 tools, which are read for each turn and each listing."""
    schema = modern(json.loads(text))
    walk = _Walk()
    try:
        kept = walk.values(schema, "")
    except _NoName:
        return None
    if any(schema_at(kept, each) is None for each in walk.references):
        return None
    shown, size = list[str](), 0
    for line in walk.words:
        size += len(line) + 1
        if size > MAX_WORDS_CHARS:
            shown.append(f"… and {len(walk.words) - len(shown)} more notes of the server")
            break
        shown.append(line)
    return OfferedSchema(kept, "\n".join(shown))


class _Walk:
    def __init__(self) -> None:
        self.words: list[str] = []
        self.references: list[str] = []

    def values(self, schema: Any, where: str) -> Any:
        """The schema without its words. `where`: the field that it is about."""
        if not isinstance(schema, Mapping):
            return schema is not False
        kept: dict[str, Any] = {}
        for key, value in schema.items():
            if key in _NAMED and isinstance(value, Mapping):
                at = f"{key}." if key in ("$defs", "definitions") else where
                kept[key] = {
                    _name(name): self.values(each, _joined(at, name)) for name, each in value.items()
                }
            elif key in _SEVERAL and isinstance(value, list):
                kept[key] = [self.values(each, where) for each in value]
            elif key in _ONE:
                kept[key] = self.values(value, f"{where}[]" if key == "items" else where)
            elif key == "$ref":
                self.references.append(_name(str(value), MAX_REFERENCE_CHARS))
                kept[key] = value
            elif key in _CODES:
                for text in texts_in(value):
                    _name(text)
                kept[key] = value
            elif _is_value(key, value):
                kept[key] = value
            elif key in _WORDS:
                self.words += _line(where, key, value)
        return kept


def _is_value(key: str, value: Any) -> bool:
    """Whether it says nothing but a bound, a form or a choice of a few characters each."""
    if key in ("enum", "const"):
        return all(_is_plain(text, MAX_VALUE_CHARS) for text in texts_in(value))
    if key == "format":
        return isinstance(value, str) and _FORMAT.fullmatch(value) is not None
    return key in _BOUNDS and isinstance(value, int | float)


def _name(text: str, most: int = MAX_NAME_CHARS) -> str:
    """Raises _NoName."""
    if not _is_plain(text, most) or text.split() != [text]:
        raise _NoName
    return text


def _is_plain(text: str, most: int) -> bool:
    return len(text) <= most and visible(text, keep_newlines=False) == text


def _joined(where: str, name: str) -> str:
    return f"{where}{name}" if where.endswith(".") or not where else f"{where}.{name}"


def _line(where: str, key: str, value: Any) -> Iterator[str]:
    """What the server says with the keyword. A title that only says the field's name again is left out."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    if not text or (key == "title" and _letters(text) == _letters(where.rpartition(".")[2])):
        return
    about = where or "the input"
    line = f"{about}: {text}" if key == "description" else f"{about}, {key}: {text}"
    yield line if len(line) <= MAX_LINE_CHARS else f"{line[: MAX_LINE_CHARS - 1]}…"


def _letters(text: str) -> str:
    return "".join(char for char in text.lower() if char.isalnum())

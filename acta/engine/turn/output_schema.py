"""Which JSON Schemas the final answers of sessions may have: a part of JSON Schema 2020-12 (ADR 69).

It is the part that describes what programs read. Schemas are checked here without a library, because `start`, which
answers over HTTP, checks them, and its zip stays small. Answers are checked by the library that checks inputs of tools,
which knows all of JSON Schema.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pydantic_core import SchemaError, SchemaValidator
from pydantic_core.core_schema import str_schema

from acta.engine.untrusted.schemas import BadReference, check_references, schema_at
from acta.engine.untrusted.visible import visible

MAX_SCHEMA_BYTES = 8_192
"""The largest schema, as compact JSON. It is in the head, and in each request to the model."""
TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
MAX_REPETITION = 1_000
"""The most repetitions that RE2 allows in a pattern."""
PLACE = "#/$defs/"
"""A `$ref` leads to a definition here, or to `#`."""


class BadOutputSchema(ValueError):
    """The message is a sentence for whoever wrote the schema."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_type(value: Any) -> bool:
    named = value if isinstance(value, list) else [value]
    return bool(named) and all(isinstance(each, str) and each in TYPES for each in named) and _differ(named)


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value) and _differ(value)


def _differ(texts: list[str]) -> bool:
    return len(set(texts)) == len(texts)


def _is_pattern(value: Any) -> bool:
    """Whether pydantic's engine takes the pattern. Like RE2, which matches it later, that engine knows no look-around
    and no back-reference."""
    if not isinstance(value, str) or any(
        int(most) > MAX_REPETITION for most in re.findall(r"[{,](\d+)", value)
    ):
        return False
    try:
        SchemaValidator(str_schema(pattern=value))
    except SchemaError:
        return False
    return True


def _anything(value: Any) -> bool:
    return True


KEYWORDS: Mapping[str, tuple[Callable[[Any], bool], str]] = MappingProxyType(
    {
        "type": (_is_type, "the name of a type, or several"),
        "enum": (lambda value: isinstance(value, list) and bool(value), "a list of values"),
        "const": (_anything, ""),
        "required": (_are_names, "a list of names, all different"),
        **dict.fromkeys(
            ("minProperties", "maxProperties", "minItems", "maxItems", "minLength", "maxLength"),
            (lambda value: type(value) is int and value >= 0, "a whole number from 0 on"),
        ),
        **dict.fromkeys(
            ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), (_is_number, "a number")
        ),
        "multipleOf": (lambda value: _is_number(value) and value > 0, "a number above 0"),
        "uniqueItems": (lambda value: isinstance(value, bool), "true or false"),
        "pattern": (_is_pattern, "a pattern without look-around, back-references or repetitions above 1,000"),
        **dict.fromkeys(
            ("title", "description", "format", "$comment", "$schema"),
            (lambda value: isinstance(value, str), "a text"),
        ),
        **dict.fromkeys(("default", "examples", "deprecated", "discriminator"), (_anything, "")),
    }
)
"""Keywords without schemas in them: a check of their value, and the words that say what it has to be. The last two
lines do not restrict the answer.
"""
OF_SCHEMAS = ("anyOf", "oneOf", "allOf", "prefixItems")
OF_NAMES = ("properties", "$defs")
OF_ONE = ("items", "additionalProperties")


def check_output_schema(schema: Mapping[str, Any]) -> None:
    """Raises BadOutputSchema, whose message names the place."""
    if len(json.dumps(schema, ensure_ascii=False, separators=(",", ":")).encode()) > MAX_SCHEMA_BYTES:
        raise BadOutputSchema(f"The schema has more than {MAX_SCHEMA_BYTES:,} bytes.")
    to_visit: list[tuple[str, Any]] = [("", schema)]
    while to_visit:
        where, here = to_visit.pop()
        if isinstance(here, bool):
            continue
        if not isinstance(here, dict):
            raise _wrong(where, "an object, or true or false")
        _check_keywords(where, here)
        if "$ref" in here and not _leads_somewhere(here["$ref"], schema):
            raise BadOutputSchema(f"{_shown(where)}/$ref leads to # or to #/$defs/NAME, where NAME is there.")
        to_visit += _inside(where, here)
    try:
        check_references(schema)
    except BadReference as bad:
        raise BadOutputSchema(str(bad)) from None


def _check_keywords(where: str, here: Mapping[str, Any]) -> None:
    for name, value in here.items():
        place = f"{where}/{name}"
        if name in KEYWORDS:
            fits, wanted = KEYWORDS[name]
            if not fits(value):
                raise _wrong(place, wanted)
        elif name in OF_SCHEMAS:
            if not isinstance(value, list) or not value:
                raise _wrong(place, "a list of schemas")
        elif name in OF_NAMES:
            if not isinstance(value, dict):
                raise _wrong(place, "an object with a schema for each name")
        elif name not in OF_ONE and name != "$ref":
            known = ", ".join(sorted((*KEYWORDS, *OF_SCHEMAS, *OF_NAMES, *OF_ONE, "$ref")))
            raise BadOutputSchema(
                f"{_shown(place)}: schemas of answers have no such keyword. There are {known}."
            )


def _inside(where: str, here: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The schemas inside this one, with their places."""
    for name in OF_SCHEMAS:
        yield from ((f"{where}/{name}/{place}", each) for place, each in enumerate(here.get(name, ())))
    for name in OF_NAMES:
        yield from ((f"{where}/{name}/{part}", each) for part, each in here.get(name, {}).items())
    yield from ((f"{where}/{name}", here[name]) for name in OF_ONE if name in here)


def _leads_somewhere(reference: Any, schema: Mapping[str, Any]) -> bool:
    if not isinstance(reference, str) or not reference.startswith(PLACE):
        return bool(reference == "#")
    return "/" not in reference.removeprefix(PLACE) and schema_at(schema, reference) is not None


def _wrong(where: str, wanted: str) -> BadOutputSchema:
    return BadOutputSchema(f"{_shown(where)} has to be {wanted}.")


def _shown(where: str) -> str:
    return visible(where[:200], keep_newlines=False) or "The schema"

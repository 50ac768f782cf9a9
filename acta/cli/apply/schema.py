"""`acta schema KIND`, and what is wrong with a definition by its schema: each thing with its key and its line.

The schemas are made from the models of the API's bodies (`acta/infra/document/schemas.py`).
"""

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from acta.cli import exit_codes
from acta.cli.terminal.text import echo
from acta.engine.untrusted.validation_messages import similar
from acta.yaml_text import Path

Json = dict[str, Any]
TYPES: Mapping[str, str] = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "keys with values",
    "null": "null",
}


SHORT = 60
"""The most characters of a value that are shown."""
WORDS: Mapping[type, str] = dict(
    zip((str, int, float, bool, list, dict, type(None)), TYPES.values(), strict=True)
)
"""The same by the type of a value that was read."""


class Problem(NamedTuple):
    """Something that is wrong with a definition. `at`: where the value stands."""

    at: Path
    message: str


@cache
def schema_of(kind: str) -> Json:
    """`kind`: the word for one definition, such as `agent`."""
    text = files("acta.cli.apply").joinpath("schemas", f"{kind}.json").read_text(encoding="utf-8")
    schema: Json = json.loads(text)
    return schema


def show_schema(arguments: Namespace) -> int:
    """`acta schema KIND`: JSON, for editors and for people."""
    echo(json.dumps(schema_of(arguments.kind), indent=2, ensure_ascii=False))
    return exit_codes.OK


def problems(kind: str, definition: Any) -> list[Problem]:
    """What is wrong, sorted by place; empty if the definition fits its schema."""
    from jsonschema import Draft202012Validator  # imported only now: it takes a moment

    checker = Draft202012Validator(schema_of(kind))
    found = [each for error in checker.iter_errors(definition) for each in _problems(error)]
    return sorted(dict.fromkeys(found), key=lambda each: [str(part) for part in each.at])


def part_of(schema: Json, whole: Json) -> Json:
    """The schema that `$ref` leads to. If the value may be null, the schema of the value that is not."""
    options = [each for each in schema.get("anyOf", ()) if each.get("type") != "null"]
    if len(options) == 1:
        return part_of(options[0], whole)
    name = str(schema.get("$ref", "")).removeprefix("#/$defs/")
    return dict(whole["$defs"][name]) if name else schema


def _problems(error: Any) -> Iterator[Problem]:
    """What one error of the validator says."""
    at: Path = tuple(error.absolute_path)
    rule, wanted, value = error.validator, error.validator_value, error.instance
    if rule == "additionalProperties":
        known = sorted(error.schema.get("properties", ()))
        for key in value:
            if key not in known:
                yield Problem((*at, key), f"there is no key {key!r}. {nearest(key, known)}")
    elif rule == "required":
        for key in wanted:
            if key not in value:
                yield Problem(at, f"the key {key!r} is missing")
    elif rule == "type":
        kinds = [wanted] if isinstance(wanted, str) else wanted
        yield Problem(at, f"this is {' or '.join(TYPES[each] for each in kinds)}, not {WORDS[type(value)]}")
    elif rule in ("enum", "const"):
        known = [str(each) for each in (wanted if rule == "enum" else [wanted])]
        place = (*at, value) if isinstance(value, str) and _is_key(error) else at
        yield Problem(place, f"{_short(value)} is none of: {', '.join(known)}")
    elif rule in ("anyOf", "oneOf"):
        yield from _nearest_branch(error)
    elif rule in ("maxLength", "minLength", "maxItems", "minItems", "maxProperties"):
        most = "at most" if rule.startswith("max") else "at least"
        unit = "characters" if rule.endswith("Length") else "entries"
        yield Problem(at, f"this has {len(value):,} {unit}; {most} {wanted:,} are allowed")
    elif rule in ("maximum", "minimum", "exclusiveMinimum", "exclusiveMaximum"):
        words = {"maximum": "at most", "minimum": "at least", "exclusiveMinimum": "more than"}
        yield Problem(at, f"{value} is not allowed: it is {words.get(rule, 'less than')} {wanted:,}")
    elif rule == "pattern":
        said = (
            "there is nothing in it" if not str(value).strip() else f"{_short(value)} does not fit {wanted}"
        )
        yield Problem((*at, value) if _is_key(error) else at, said)
    else:
        yield Problem(at, f"it breaks the rule {rule!r} of its schema")


def _nearest_branch(error: Any) -> Iterator[Problem]:
    """If a value may have several shapes: the errors for the nearest one, where `null` does not count."""
    branches: dict[int, list[Any]] = {}
    for each in error.context:
        branches.setdefault(each.relative_schema_path[0], []).append(each)
    real = [each for each in branches.values() if each[0].validator_value != "null"] or list(
        branches.values()
    )
    fitting = [each for each in real if not any(one.validator == "type" and not one.path for one in each)]
    for each in min(fitting or real, key=len):
        yield from _problems(each)


def _is_key(error: Any) -> bool:
    return "propertyNames" in error.absolute_schema_path


def nearest(key: str, known: list[str]) -> str:
    near = similar(key, known, most=1, at_least=0.35)
    return f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(known)}."


def quoted(value: Any) -> str:
    """A short text, to stand before a sentence about it; nothing of another value."""
    is_short = isinstance(value, str) and len(value) <= SHORT and value.isprintable()
    return f"{json.dumps(value, ensure_ascii=False)}: " if is_short else ""


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHORT else text[: SHORT - 1] + "…"

"""Checks a JSON Schema that a person has written: of a tool's input, or of the final answers of sessions."""

import json
from collections.abc import Mapping
from typing import Any

from shared.adapters.tools.schema.patterns import BadPattern
from shared.adapters.tools.schema.references import BadReference, check_references


class BadSchema(Exception):
    """The message is a sentence for whoever wrote the schema."""


def check_usable(schema: Mapping[str, Any], most_bytes: int) -> None:
    """Raises BadSchema unless this is a JSON Schema (2020-12) of so many bytes at most, each reference leads to a
    schema inside it, and values can be checked by it in a limited amount of work.
    """
    from jsonschema import Draft202012Validator, FormatChecker, SchemaError

    if len(json.dumps(schema).encode()) > most_bytes:
        raise BadSchema(f"The schema has more than {most_bytes:,} bytes.")
    try:
        Draft202012Validator.check_schema(schema, format_checker=FormatChecker(()))
    except SchemaError as error:
        where = "/".join(str(part) for part in error.absolute_path)
        raise BadSchema(
            f"This is no JSON Schema (2020-12): {where or 'the whole'} breaks its rules."
        ) from None
    except RecursionError:
        raise BadSchema("The schema is nested too deeply.") from None
    if any(not reference.startswith("#") for reference in _references(schema)):
        raise BadSchema("A $ref leads inside the schema only: it begins with #.")
    try:
        check_references(schema)
    except (BadReference, BadPattern) as found:
        raise BadSchema(str(found)) from None


def _references(value: Any) -> list[str]:
    found, waiting = [], [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            found += [item[key] for key in ("$ref", "$dynamicRef") if isinstance(item.get(key), str)]
            waiting += item.values()
        elif isinstance(item, list):
            waiting += item
    return found

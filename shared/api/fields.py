"""Validation errors as `details`: field -> messages, in words for the person who sent the request."""

from collections.abc import Mapping, Sequence
from typing import Any

MAX_FIELDS = 20
"""A request with more wrong fields is answered with the first ones."""
MAX_NAME_CHARS = 100

_WORDS: Mapping[str, str] = {
    "extra_forbidden": "There is no such field.",
    "missing": "This field is required.",
    "string_unicode": "The text has half of a surrogate pair, which is not valid Unicode.",
}


def details_from(errors: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """From pydantic's errors; the first part of each `loc` (`body`, `query`, `path`) is where, not what.
    Values are never quoted.
    """
    details: dict[str, list[str]] = {}
    for error in errors:
        name = field_name(error["loc"])
        if name in details or len(details) < MAX_FIELDS:
            details.setdefault(name, []).append(_message(error))
    return details


def field_name(loc: Sequence[int | str]) -> str:
    parts = [str(part) for part in loc[1:] if part != "[key]"]
    name = ".".join(parts) if parts else str(loc[0]) if loc else "body"
    return name[:MAX_NAME_CHARS].encode("utf-8", "replace").decode()


def _message(error: Mapping[str, Any]) -> str:
    text = _WORDS.get(error["type"]) or str(error["msg"]).removeprefix("Value error, ")
    return text if text.endswith(".") else f"{text}."

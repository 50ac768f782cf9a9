"""Validation errors as `details`: field -> messages, in words for the person who sent the request."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.domain.untrusted.wording import wording

MAX_FIELDS = 20
"""A request with more wrong fields is answered with the first ones."""
MAX_NAME_CHARS = 100


def details_from(errors: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    """From pydantic's errors; the first part of each `loc` (`body`, `query`, `path`) is where, not what.
    Values are never quoted.
    """
    details: dict[str, list[str]] = {}
    for error in errors:
        name = field_name(error["loc"])
        if name in details or len(details) < MAX_FIELDS:
            details.setdefault(name, []).append(wording(error))
    return details


def field_name(loc: Sequence[int | str]) -> str:
    parts = [str(part) for part in loc[1:] if part != "[key]"]
    name = ".".join(parts) if parts else str(loc[0]) if loc else "body"
    return name[:MAX_NAME_CHARS].encode("utf-8", "replace").decode()

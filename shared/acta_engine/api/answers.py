"""How an answer's fields come from what they are about.

A shape is a TypedDict: mypy checks with it, the document's schemas are made of it, and the client's types are these
classes. Its fields have the names that the domain has, so most of an answer is copied by name and a field stands once.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import BaseModel

Shape = TypeVar("Shape")


def instant(at: datetime) -> str:
    """RFC 3339, UTC, milliseconds: `2026-01-31T09:30:00.000Z`."""
    utc = at.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def instant_or_none(at: datetime | None) -> str | None:
    return None if at is None else instant(at)


def copied(shape: type[Shape], source: object, **own: Any) -> Shape:
    """The answer: `own` has the fields that are not as in `source`, which has all others under the same names. A field
    that the shape may leave out is there only where `own` has it.
    """
    required: frozenset[str] = shape.__required_keys__  # type: ignore[attr-defined]
    names = (name for name in shape.__annotations__ if name in own or name in required)
    return {name: own[name] if name in own else as_json(getattr(source, name)) for name in names}  # type: ignore[return-value]


def as_json(value: Any) -> Any:
    """A part of a document as JSON has it. Fields of a nested document that are None are left out."""
    match value:
        case datetime():
            return instant(value)
        case BaseModel():
            fields = ((name, getattr(value, name)) for name in type(value).model_fields)
            return {name: as_json(field) for name, field in fields if field is not None}
        case list() | tuple():
            return [as_json(each) for each in value]
        case Mapping():
            return {name: as_json(each) for name, each in value.items()}
    return value

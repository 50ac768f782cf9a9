"""The base of the classes of answers, and how an answer takes its fields from the domain.

A field of an answer is defined once: in its class, with its docstring. mypy reads it as a TypedDict, the document's
schemas and the client's types are made from it, and `copied` takes fields of the same name from the domain.

The class's name ends in `View`: `SessionView` is how the API shows a `Session`. The document and the client drop this
ending (`published_name` in `acta/infra/document/schemas.py`).
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, cast

from pydantic import BaseModel, Field

if TYPE_CHECKING:
    from typing_extensions import TypedDict as TypedDict
else:

    class TypedDict:
        """The base of an answer's class at run time. It ignores the annotations, which have to be texts (`from
        __future__ import annotations`). A real TypedDict would cost each cold start 30 ms for all of them.
        """

        @classmethod
        def __get_pydantic_core_schema__(cls, _source, handler):
            """Only the API's document needs this, because it makes schemas of answers."""
            from acta.engine.api.answer_schemas import as_typed_dict

            return handler.generate_schema(as_typed_dict(cls))


Shape = TypeVar("Shape")
Instant: TypeAlias = Annotated[
    str,
    Field(
        json_schema_extra={"format": "date-time"},
        pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$",
        examples=["2026-01-31T09:30:00.000Z"],
    ),
]
"""RFC 3339, UTC, milliseconds. `instant` writes it."""
Counter: TypeAlias = Annotated[int, Field(ge=0)]


def instant(at: datetime) -> str:
    """RFC 3339, UTC, milliseconds: `2026-01-31T09:30:00.000Z`."""
    utc = at.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z"


def instant_or_none(at: datetime | None) -> str | None:
    return None if at is None else instant(at)


@cache
def fields_of(shape: Any) -> Mapping[str, bool]:
    """The fields of an answer, each with whether every answer has it."""
    annotations = {
        name: text
        for each in reversed(shape.__mro__)
        for name, text in vars(each).get("__annotations__", {}).items()
    }
    return {name: not str(text).startswith("NotRequired[") for name, text in annotations.items()}


def copied(shape: type[Shape], source: object, **own: Any) -> Shape:
    """The answer. `own` has the fields that differ from `source`; all others come from `source`, under the same names.
    A field that the shape may leave out is there only if `own` has it.
    """
    of: Any = shape
    fields = fields_of(of)
    names = (name for name, is_always_there in fields.items() if is_always_there or name in own)
    answer = {name: own[name] if name in own else as_json(getattr(source, name)) for name in names}
    return cast("Shape", answer)


_PLAIN = (str, int, bool, float, type(None))


def as_json(value: Any) -> Any:
    """A part of a document as JSON has it. Fields of a nested document that are None are left out."""
    # Asking an abstract class costs ten times as much, and a page has 100,000 such values.
    if type(value) in _PLAIN:
        return value
    match value:
        case datetime():
            return instant(value)
        case BaseModel():
            own = type(value).model_fields.items()
            fields = ((info.alias or name, getattr(value, name)) for name, info in own)
            return {name: as_json(field) for name, field in fields if field is not None}
        case list() | tuple():
            return [as_json(each) for each in value]
        case dict() | Mapping():
            return {name: as_json(each) for name, each in value.items()}
    return value

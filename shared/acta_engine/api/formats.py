"""Texts of a certain form."""

from typing import Annotated, TypeAlias

from pydantic import Field

Instant: TypeAlias = Annotated[
    str,
    Field(
        json_schema_extra={"format": "date-time"},
        pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$",
        examples=["2026-01-31T09:30:00.000Z"],
    ),
]
"""RFC 3339, UTC, milliseconds."""
Counter: TypeAlias = Annotated[int, Field(ge=0)]

"""The base of every domain document: frozen, closed, and cheap to import."""

from pydantic import BaseModel, ConfigDict


class Value(BaseModel):
    """Immutable; unknown fields are refused; the validator is built at first use, not at import (cold start)."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

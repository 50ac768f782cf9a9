"""The base class of every domain document."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """Instances are immutable. Unknown fields raise a ValidationError.

    Pydantic builds the validator at the first use, not at import: this keeps cold starts short.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

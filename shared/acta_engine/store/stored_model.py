"""The base classes of what a session's log holds."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import ConfigDict

from acta_engine.store.frozen_model import FrozenModel
from acta_engine.store.versions import CURRENT


class StoredModel(FrozenModel):
    """A part of a stored document. Fields that the next release has added are kept and written back, so that a session
    loses nothing where two releases work on it in turns.
    """

    model_config = ConfigDict(extra="allow")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Raises TypeError for a field that the model does not have: it would be stored for ever."""
        unknown = sorted((update or {}).keys() - type(self).model_fields.keys())
        if unknown:
            raise TypeError(f"{type(self).__name__} has no field {unknown}")
        return super().model_copy(update=update, deep=deep)


class VersionedModel(StoredModel):
    """A document that holds its own version. In memory it has the shape of `CURRENT`, whatever was stored."""

    version: int = CURRENT

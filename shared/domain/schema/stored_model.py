"""The base classes of what a session's log holds."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import ConfigDict

from shared.domain.frozen_model import FrozenModel
from shared.domain.schema.versions import CURRENT

_set = object.__setattr__


class StoredModel(FrozenModel):
    """A part of a stored document. Fields that the next release has added are kept and written back, so that a session
    loses nothing where two releases work on it in turns.
    """

    model_config = ConfigDict(extra="allow")

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> Self:
        """Raises TypeError for a field that the model does not have: it would be stored for ever.

        The same as pydantic's, which takes five times as many calls: a turn makes some sixty copies (ADR 80).
        """
        cls, changed = type(self), update or {}
        if not changed.keys() <= cls.__pydantic_fields__.keys():
            unknown = sorted(changed.keys() - cls.__pydantic_fields__.keys())
            raise TypeError(f"{cls.__name__} has no field {unknown}")
        if deep or self.__pydantic_private__:
            return super().model_copy(update=update, deep=deep)
        copied, extra = cls.__new__(cls), self.__pydantic_extra__
        _set(copied, "__dict__", {**self.__dict__, **changed})
        _set(copied, "__pydantic_extra__", None if extra is None else {**extra})
        _set(copied, "__pydantic_fields_set__", {*self.__pydantic_fields_set__, *changed})
        _set(copied, "__pydantic_private__", None)
        return copied


class VersionedModel(StoredModel):
    """A document that holds its own version. In memory it has the shape of `CURRENT`, whatever was stored."""

    version: int = CURRENT

"""The shapes of what is stored, and their versions (docs/design/releases.md 7).

A release reads all versions up to the one after its own. It writes `CURRENT`, or the version before that while Lambdas
of the release before it may still run (`ACTA_WRITE_VERSION`). So old and new Lambdas work on the same sessions.

To add a field to a stored model, give it a default that means what its absence means. Then raise `CURRENT` if a release
has written it already, and name the field in `ADDED` under `CURRENT` and its model. A nested model that is new needs no
entry, because it is reached through its field. Nothing stored is renamed, removed or narrowed, and an existing field
gets no new kind of value. `tests/releases` runs this release beside a next one that is made from it in this way.

Conversion is done by pure functions on JSON. Reading: a document of an older or of the next version is read as if this
release had written it. A missing field has its default, and an unknown field is kept. Writing: the fields that the
written version does not know are left out.
"""

import json
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Self, TypeVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict
from pydantic_core import from_json

from acta.engine.errors import PoisonedSession, SchemaUnknown

CURRENT = 1
"""What this release writes once no Lambda of the release before it runs any more."""
NEXT = CURRENT + 1
"""The newest version that is read. Fields that are unknown are kept and written back."""
OLDEST_WRITTEN = max(CURRENT - 1, 1)
"""The oldest version that is written."""

ADDED: Mapping[int, Mapping[str, frozenset[str]]] = MappingProxyType({})
"""Version -> name of the model -> fields that the version adds."""


Fields = frozenset[tuple[str, str]]
"""Pairs of a model's name and a field's."""


def added_after(version: int) -> Fields:
    """The fields that readers of `version` do not know."""
    return frozenset(
        (model, field)
        for later, models in ADDED.items()
        if later > version
        for model, fields in models.items()
        for field in fields
    )


class FrozenModel(BaseModel):
    """Instances are immutable. Unknown fields raise a ValidationError.

    Pydantic builds the validator at the first use, not at import: this keeps cold starts short.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


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


READ_LEVELS = 150
"""Pydantic's parser reads more levels than this for certain. It writes more than it reads."""
Json = dict[str, Any]
_Spec = dict[str, Any]
Document = TypeVar("Document", bound=BaseModel)
_Versioned = TypeVar("_Versioned", bound=VersionedModel)


def check_version(what: str, version: int) -> None:
    """Raises SchemaUnknown. `what`: the kind of document, for the message."""
    if not 1 <= version <= NEXT:
        raise SchemaUnknown(f"a stored {what} has schema version {version}, this release reads 1 to {NEXT}")


def read_json(what: str, model: type[Document], version: int, raw: bytes | str) -> Document:
    """The document in the shape of `CURRENT`. `what`: its kind, for messages. `version`: the stored one.

    Raises SchemaUnknown for a version that this release does not know, and for a newer shape that it cannot read;
    PoisonedSession for a damaged document. No message quotes the document.
    """
    check_version(what, version)
    try:
        if version == CURRENT:
            document = model.model_validate_json(raw)
            if not isinstance(document, VersionedModel):
                return document
            inner = (getattr(document, name) for name in _versioned_fields(type(document)))
            if all(each.version == CURRENT for each in (document, *inner)):
                return document
        return _read_other(what, model, version, raw)
    except (ValueError, LookupError, TypeError, RecursionError):
        newest = max(version, *_inner_versions(model, raw))
    check_version(what, newest)
    if newest > CURRENT:
        raise SchemaUnknown(
            f"a stored {what} has schema version {newest} and a shape this release cannot read"
        )
    raise PoisonedSession(f"a stored {what} does not have the shape its version says")


def to_json(document: BaseModel, version: int) -> bytes:
    """The document's complete JSON, as readers of `version` expect it. Defaults are in it, so that it means the same
    when a later release changes a default.

    Raises PoisonedSession, before anything is stored, for what no JSON can hold and for what could not be read again.
    """
    stamped = _stamped(document, version) if isinstance(document, VersionedModel) else document
    exclude = left_out(type(document), added_after(version))
    try:
        text = stamped.model_dump_json(exclude=exclude).encode()
        # only a document with so many objects and lists can have more of them inside each other than are read
        if text.count(b"{") + text.count(b"[") > READ_LEVELS:
            from_json(text)
    except ValueError:
        raise PoisonedSession("a document could not be read again, so it was not stored") from None
    return text


def as_written(document: Document, version: int) -> Document:
    """The document as it is once it was written in `version` and read again: what is left out has its default.

    So what a process goes on with is what every other process reads.
    """
    if version == CURRENT:
        return document
    return type(document).model_validate_json(to_json(document, version))


def _read_other(what: str, model: type[Document], version: int, raw: bytes | str) -> Document:
    """Reads a document that is not wholly of `CURRENT`. Raises SchemaUnknown, and any error where it is damaged."""
    parsed = json.loads(raw)
    if not isinstance(parsed, dict):
        raise ValueError("not a document")
    for name in _versioned_fields(model):
        check_version(what, parsed[name]["version"])
        parsed[name] |= {"version": CURRENT}
    if issubclass(model, VersionedModel):
        parsed["version"] = CURRENT
    text = json.dumps(parsed)
    if version > CURRENT and not issubclass(model, StoredModel):
        # A definition is always written whole by a person, so what is unknown of it need not be kept.
        return model.model_validate_json(text, extra="ignore")
    return model.model_validate_json(text)


def _inner_versions(model: type[BaseModel], raw: bytes | str) -> list[int]:
    """The versions of the documents inside a document that cannot be read, as far as they can be found; else 1."""
    found = [1]
    for name in _versioned_fields(model):
        try:
            version = json.loads(raw)[name]["version"]
        except (ValueError, LookupError, TypeError, RecursionError):
            continue
        found += [version] if isinstance(version, int) else []
    return found


def _stamped(document: _Versioned, version: int) -> _Versioned:
    inner = {name: _stamped(getattr(document, name), version) for name in _versioned_fields(type(document))}
    return document.model_copy(update={"version": version, **inner})


@cache
def _versioned_fields(model: type[BaseModel]) -> dict[str, type[VersionedModel]]:
    """The model's fields that hold a document with a version of its own."""
    return {
        name: info.annotation
        for name, info in model.model_fields.items()
        if isinstance(info.annotation, type) and issubclass(info.annotation, VersionedModel)
    }


@cache
def left_out(model: type[BaseModel], fields: Fields) -> _Spec:
    """Pydantic's `exclude` that leaves out `fields` of documents of `model`, at any depth.

    Raises ValueError where one member of a union has such a field and another has one of the same name that stays.
    """
    spec: _Spec = {name: True for name in model.model_fields if (model.__name__, name) in fields}
    for name, info in model.model_fields.items():
        inner = {} if name in spec else _left_out_of(info.annotation, fields)
        if inner:
            spec[name] = inner
    return spec


def _left_out_of(annotation: Any, fields: Fields) -> _Spec:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return left_out(annotation, fields)
    inside = get_args(annotation)
    merged: _Spec = {}
    for each in inside:
        merged |= _left_out_of(each, fields)
    for each in inside if merged else ():
        if isinstance(each, type) and issubclass(each, BaseModel):
            stays = merged.keys() & (each.model_fields.keys() - left_out(each, fields).keys())
            if stays:
                raise ValueError(f"{sorted(stays)} of {each.__name__} would be left out with another model's")
    is_collection = get_origin(annotation) in (tuple, list, dict)
    return {"__all__": merged} if merged and is_collection else merged

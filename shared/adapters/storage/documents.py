"""Converts domain documents to the bytes that are stored, and back.

The bytes are the document's complete JSON, compressed. Default values are included, so that a stored document means the
same when a later release changes a default. The schema version is stored beside the bytes and is checked first. An
unknown version raises SchemaUnknown, a damaged document PoisonedSession; no message quotes the document.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import ValidationError

from shared.adapters.storage.compression import BY_CHECKSUM, CURRENT
from shared.domain.errors import PoisonedSession, SchemaUnknown
from shared.domain.frozen_model import FrozenModel
from shared.domain.interventions.intervention import Intervention
from shared.domain.session.commit import COMMIT_VERSION, Commit
from shared.domain.session.head import HEAD_VERSION

INTERVENTION_VERSION = 1
RECORD_VERSION = 1
LISTING_VERSION = 1

_HAS_DICTIONARY = 0x20
"""A flag in the second byte of zlib's format. The next four bytes then are the dictionary's checksum (RFC 1950)."""

_Document = TypeVar("_Document", bound=FrozenModel)
_Stored = TypeVar("_Stored")


def pack(data: bytes) -> bytes:
    press = zlib.compressobj(zdict=CURRENT)
    return press.compress(data) + press.flush()


def unpack(data: bytes) -> bytes:
    """Raises SchemaUnknown where the dictionary is unknown, PoisonedSession where the data is damaged."""
    phrases = b""
    if _names_dictionary(data):
        phrases = BY_CHECKSUM.get(int.from_bytes(data[2:6], "big"), b"")
        if not phrases:
            raise SchemaUnknown("a stored document needs a dictionary this release does not have")
    try:
        press = zlib.decompressobj(zdict=phrases)
        whole = press.decompress(data)
    except zlib.error:
        raise PoisonedSession("a stored document cannot be decompressed") from None
    if not press.eof or press.unused_data:
        raise PoisonedSession("a stored document is cut off, or has bytes after its end")
    return whole


def _names_dictionary(data: bytes) -> bool:
    """Whether the data has a header of zlib's format that names a dictionary (RFC 1950)."""
    is_zlib = len(data) > 6 and data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
    return is_zlib and bool(data[1] & _HAS_DICTIONARY)


def check_version(what: str, version: int, known: int) -> None:
    """Raises SchemaUnknown. `what`: the kind of document, for the message. `version`: the stored one. `known`: this
    release's.
    """
    if version != known:
        raise SchemaUnknown(f"a stored {what} has schema version {version}, this release knows {known}")


def dump(document: FrozenModel) -> bytes:
    return pack(document.model_dump_json().encode())


def load(what: str, model: type[_Document], version: int, known: int, data: bytes) -> _Document:
    """Reads a document. `version`: the stored one. `known`: this release's. Raises SchemaUnknown, PoisonedSession."""
    check_version(what, version, known)
    return _parse(what, model, unpack(data))


def load_json(what: str, data: bytes) -> Any:
    """Reads JSON that is no domain document. Raises SchemaUnknown, PoisonedSession."""
    try:
        return json.loads(unpack(data))
    except ValueError:
        raise PoisonedSession(f"a stored {what} is not JSON") from None


def _parse(what: str, model: type[_Document], raw: bytes) -> _Document:
    try:
        return model.model_validate_json(raw)
    except ValidationError:
        raise PoisonedSession(f"a stored {what} does not have the shape its version says") from None


def skip_damaged(read: Callable[[_Stored], _Document], found: Iterable[_Stored]) -> Iterator[_Document]:
    """Reads what a listing has found and leaves out damaged documents, so that the others can be listed."""
    for stored in found:
        with suppress(PoisonedSession):
            yield read(stored)


def from_commit(commit: Commit) -> bytes:
    return dump(commit)


def to_commit(version: int, data: bytes) -> Commit:
    """Checks the version of the commit and of the head in it. Raises SchemaUnknown, PoisonedSession."""
    check_version("commit", version, COMMIT_VERSION)
    raw = unpack(data)
    try:
        commit = _parse("commit", Commit, raw)
    except PoisonedSession:
        check_version("head", _head_version(raw), HEAD_VERSION)
        raise
    check_version("head", commit.head.version, HEAD_VERSION)
    return commit


def _head_version(raw: bytes) -> int:
    """The head's version in a commit that does not parse; this release's version where none can be found."""
    try:
        version = json.loads(raw)["head"]["version"]
    except (ValueError, LookupError, TypeError):
        return HEAD_VERSION
    return version if isinstance(version, int) else HEAD_VERSION


def from_intervention(intervention: Intervention) -> bytes:
    return dump(intervention)


def to_intervention(version: int, data: bytes) -> Intervention:
    """Raises SchemaUnknown, PoisonedSession."""
    return load("intervention", Intervention, version, INTERVENTION_VERSION, data)

"""Converts domain documents to the bytes that are stored, and back.

The bytes are the document's complete JSON, compressed. The schema version is stored beside the bytes and is checked
first; `convert.py` converts between versions. An unknown version raises SchemaUnknown, a damaged document
PoisonedSession; no message quotes the document.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import Any, TypeVar

from acta_engine.errors import PoisonedSession, SchemaUnknown
from acta_engine.log.commit import Commit
from acta_engine.people.intervention import Intervention
from acta_engine.store.compression import BY_CHECKSUM, CURRENT
from acta_engine.store.convert import check_version, read_json, to_json
from acta_engine.store.frozen_model import FrozenModel

ATTRIBUTES_VERSION = 1
"""The version of items that are plain attributes. A new attribute needs no new version: readers take what they know."""

_HAS_DICTIONARY = 0x20
"""A flag in the second byte of zlib's format. The next four bytes then are the dictionary's checksum (RFC 1950)."""

_Document = TypeVar("_Document", bound=FrozenModel)
_Stored = TypeVar("_Stored")
_Read = TypeVar("_Read")


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


def dump(document: FrozenModel, version: int) -> bytes:
    """`version`: the one to write."""
    return pack(to_json(document, version))


def load(what: str, model: type[_Document], version: int, data: bytes) -> _Document:
    """Reads a document. `version`: the stored one. Raises SchemaUnknown, PoisonedSession."""
    check_version(what, version)
    return read_json(what, model, version, unpack(data))


def load_json(what: str, data: bytes) -> Any:
    """Reads JSON that is no domain document. Raises SchemaUnknown, PoisonedSession."""
    try:
        return json.loads(unpack(data))
    except ValueError:
        raise PoisonedSession(f"a stored {what} is not JSON") from None


def skip_damaged(read: Callable[[_Stored], _Read], found: Iterable[_Stored]) -> Iterator[_Read]:
    """Reads what a listing has found and leaves out what is damaged, so that the others can be listed."""
    for stored in found:
        with suppress(PoisonedSession):
            yield read(stored)


def from_commit(commit: Commit) -> bytes:
    """In the version that the commit has."""
    return dump(commit, commit.version)


def to_commit(version: int, data: bytes) -> Commit:
    """Raises SchemaUnknown, PoisonedSession; also for the version of the head in the commit."""
    return load("commit", Commit, version, data)


def from_intervention(intervention: Intervention, version: int) -> bytes:
    return dump(intervention, version)


def to_intervention(version: int, data: bytes) -> Intervention:
    """Raises SchemaUnknown, PoisonedSession."""
    return load("intervention", Intervention, version, data)

"""Domain documents as the bytes that are stored, and back: exact, compact, and refused where not
understood.

A document is its whole JSON, defaults included, so that a stored one means the same when a later release
changes a default; the compression takes what that costs away again. Its schema version is stored beside the
bytes and checked before they are touched. Whatever cannot be read raises SchemaUnknown, whose message never
quotes the document.
"""

import zlib
from typing import TypeVar

from pydantic import ValidationError

from shared.adapters.phrases import BY_CHECKSUM, CURRENT
from shared.domain.commit import COMMIT_VERSION, Commit
from shared.domain.errors import SchemaUnknown
from shared.domain.intervention import Intervention
from shared.domain.session import HEAD_VERSION
from shared.domain.value import Value

INTERVENTION_VERSION = 1
RECORD_VERSION = 1
LISTING_VERSION = 1

_HAS_DICTIONARY = 0x20
"""A flag of zlib's second byte; the dictionary's checksum is in the next four (RFC 1950)."""

_Document = TypeVar("_Document", bound=Value)


def pack(data: bytes) -> bytes:
    press = zlib.compressobj(zdict=CURRENT)
    return press.compress(data) + press.flush()


def unpack(data: bytes) -> bytes:
    phrases = b""
    if len(data) > 6 and data[1] & _HAS_DICTIONARY:
        phrases = BY_CHECKSUM.get(int.from_bytes(data[2:6], "big"), b"")
        if not phrases:
            raise SchemaUnknown("a stored document needs a dictionary this release does not have")
    try:
        press = zlib.decompressobj(zdict=phrases)
        whole = press.decompress(data)
    except zlib.error:
        raise SchemaUnknown("a stored document cannot be decompressed") from None
    if not press.eof:
        raise SchemaUnknown("a stored document is cut off")
    return whole


def check_version(what: str, version: int, known: int) -> None:
    if version != known:
        raise SchemaUnknown(f"a stored {what} has schema version {version}, this release knows {known}")


def dump(document: Value) -> bytes:
    return pack(document.model_dump_json().encode())


def load(what: str, model: type[_Document], version: int, known: int, data: bytes) -> _Document:
    """`version`: the stored one; `known`: this release's."""
    check_version(what, version, known)
    try:
        return model.model_validate_json(unpack(data))
    except ValidationError:
        raise SchemaUnknown(f"a stored {what} does not have the shape its version says") from None


def from_commit(commit: Commit) -> bytes:
    return dump(commit)


def to_commit(version: int, data: bytes) -> Commit:
    commit = load("commit", Commit, version, COMMIT_VERSION, data)
    check_version("head", commit.head.version, HEAD_VERSION)
    return commit


def from_intervention(intervention: Intervention) -> bytes:
    return dump(intervention)


def to_intervention(version: int, data: bytes) -> Intervention:
    return load("intervention", Intervention, version, INTERVENTION_VERSION, data)

"""Partial texts as stored bytes; apart from the session's documents, which most functions need alone."""

from shared.adapters.documents import dump, load
from shared.domain.partial import PARTIAL_VERSION, Partial


def from_partial(partial: Partial) -> bytes:
    return dump(partial)


def to_partial(version: int, data: bytes) -> Partial:
    return load("partial text", Partial, version, PARTIAL_VERSION, data)

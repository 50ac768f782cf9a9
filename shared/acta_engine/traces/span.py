"""A span of a session's trace, and its ids.

Ids are hashes of where a span comes from: a run, or a part of a commit. So the same commit gives the same spans however
often it is read, and a span that is sent again can be told by its id.
"""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Literal, NamedTuple

SpanKind = Literal["internal", "client"]
Value = str | int | float | bool
TRACE_BYTES, SPAN_BYTES = 16, 8
"""Source: W3C Trace Context, "trace-id" and "parent-id"."""


class Link(NamedTuple):
    """A span of another trace that this one has to do with."""

    trace_id: bytes
    span_id: bytes


class Span(NamedTuple):
    """`parent_id` empty: it is the root of its trace. `error`: the code of what failed; empty: nothing did."""

    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    name: str
    kind: SpanKind
    start: datetime
    end: datetime
    attributes: Mapping[str, Value]
    error: str = ""
    links: tuple[Link, ...] = ()


class RunName(NamedTuple):
    """A run has a trace of its own. Its root is known before it is sent, so that all others can name it."""

    tenant: str
    session_id: str
    run_id: str

    @property
    def trace_id(self) -> bytes:
        return _hash("trace", *self)[:TRACE_BYTES]

    @property
    def root_id(self) -> bytes:
        return _hash("run", *self)[:SPAN_BYTES]

    def span_id(self, number: int, key: str, part: str) -> bytes:
        """`number`, `key`: of a commit of the session. A table that is restored to an earlier time gives numbers again,
        and no keys. `part`: what of it the span is.
        """
        return _hash("span", *self, str(number), key, part)[:SPAN_BYTES]


def _hash(*parts: str) -> bytes:
    """Of the parts and their lengths, so that no two lists of parts are the same bytes."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8) + data)
    return digest.digest()

"""What views show the beginning of, whole: a run's answer, and the results of calls (design §3).

Neither searches the log: an answer is in the last commits of its run, and a large result has a name of its own.
"""

from collections.abc import Iterator
from typing import NamedTuple

from shared.agent.session.large_texts import load_entry, pointers
from shared.domain.errors import NotFound, SessionNotFound
from shared.domain.rules.goal_marker import without_marker
from shared.domain.session.conversation import AssistantEntry
from shared.domain.session.head import MAX_ANSWER_CHARS, Head
from shared.ports.blobs import BlobMissing, BlobStore
from shared.ports.log import SessionLog

NEAR_COMMITS = 100
"""An answer is in the commit that its run's last turn began with, or a little before it: what came after it, and the
first half of one that was cut off, are few commits."""


def whole_answer(log: SessionLog, blobs: BlobStore, head: Head) -> str | None:
    """The answer of a run that is over. None: it has none. Where its message is not found its beginning."""
    result = head.result
    if result is None or result.answer is None or len(result.answer) < MAX_ANSWER_CHARS:
        return result.answer if result is not None else None
    replies = {entry.message_id: entry for entry in _replies_near_the_end(log, head)}
    text, message_id = "", result.message_id or ""
    while message_id in replies:
        reply = replies.pop(message_id)
        text = _loaded(blobs, head, reply).content.loaded + text
        message_id = reply.continues
    return without_marker(text) or result.answer


def _replies_near_the_end(log: SessionLog, head: Head) -> Iterator[AssistantEntry]:
    first = head.run.first if head.run is not None else 1
    since = max(1, first - NEAR_COMMITS // 2)
    for commit in log.read(head.tenant, head.session_id, since=since, limit=NEAR_COMMITS).commits:
        yield from (entry for entry in commit.entries if isinstance(entry, AssistantEntry))


def _loaded(blobs: BlobStore, head: Head, reply: AssistantEntry) -> AssistantEntry:
    shown = reply.model_copy(update={"private": None, "calls": ()})
    names = pointers((shown,))
    try:
        return load_entry(shown, blobs.get(head.tenant, head.session_id, names) if names else {})
    except BlobMissing:
        raise SessionNotFound("There is no such session.") from None


NAME_CHARS = 64


class Part(NamedTuple):
    """`offset`: of the text's first byte; `bytes`: of the whole; `next_offset` None: this is the end."""

    text: str
    offset: int
    bytes: int
    next_offset: int | None


def part_of(blobs: BlobStore, head: Head, name: str, offset: int, limit: int) -> Part:
    """At most `limit` bytes of the stored text from `offset` on, in whole characters. Only texts that are named after
    their content are read so, and no other object of the session. Raises NotFound.
    """
    if len(name) != NAME_CHARS or not set(name) <= set("0123456789abcdef"):
        raise NotFound("The session has no text of that name.")
    try:
        data = blobs.get(head.tenant, head.session_id, (name,))[name].encode()
    except BlobMissing:
        raise NotFound("The session has no text of that name.") from None
    begin = _boundary(data, min(offset, len(data)))
    end = _boundary(data, min(begin + limit, len(data)))
    return Part(data[begin:end].decode(), begin, len(data), end if end < len(data) else None)


def _boundary(data: bytes, offset: int) -> int:
    while offset < len(data) and data[offset] & 0xC0 == 0x80:
        offset += 1
    return offset

"""What views show the beginning of, whole: a run's answer, the results of calls, and their inputs (design §3).

Only a large input is searched for in the log: an answer is in the last commits of its run, and a large result has a
name of its own.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from acta_engine.errors import InterventionNotFound, NotFound, SessionNotFound, ValidationFailed
from acta_engine.log.commit import Commit
from acta_engine.log.conversation import AssistantEntry, ToolCall, input_hash
from acta_engine.log.head import MAX_ANSWER_CHARS, Head
from acta_engine.log.store import SessionLog
from acta_engine.log.texts import BlobMissing, BlobStore, load_call, load_entry, pointers
from acta_engine.people.intervention import Intervention, PendingCall, reviewed_calls
from acta_engine.turn.final_answer import without_marker

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


PAGE = 200
"""Commits of one read."""


class CallInput(NamedTuple):
    """`input_hash` is the hash that the decision is bound to."""

    name: str
    input: dict[str, Any]
    input_hash: str


def full_call_input(
    log: SessionLog, blobs: BlobStore, tenant: str, one: Intervention, call_id: str | None = None
) -> CallInput:
    """`call_id`: which of a review's calls; needed where the review has more than one.

    Raises InterventionNotFound where the intervention is not about this call, or where its session is gone, and
    ValidationFailed where `call_id` is needed.
    """
    call = _chosen(one, call_id)
    if not call.shortened:
        return CallInput(call.name, call.input, call.input_hash)
    for call_made in _inputs_of(log, tenant, one.session_id, call.call_id):
        pointer = call_made.input_content
        if pointer is not None and pointer.blob is not None:
            call_made = load_call(call_made, blobs.get(tenant, one.session_id, (pointer.blob,)))
        if call_made.input is not None and input_hash(call_made.input) == call.input_hash:
            return CallInput(call.name, call_made.input, call.input_hash)
    raise InterventionNotFound("The session does not have this call any more.")


def _chosen(one: Intervention, call_id: str | None) -> PendingCall:
    calls = reviewed_calls(one) if one.tool_call is None else (one.tool_call,)
    if not calls:
        raise InterventionNotFound("This intervention is not about a call: it has no input.")
    if call_id is None and len(calls) > 1:
        ids = ", ".join(call.call_id for call in calls)
        raise ValidationFailed("This review is about several calls.", {"call_id": [f"one of {ids}"]})
    found = next((call for call in calls if call_id in (None, call.call_id)), None)
    if found is None:
        raise InterventionNotFound("This intervention is not about a call of that id.")
    return found


def _inputs_of(log: SessionLog, tenant: str, session_id: str, call_id: str) -> Iterator[ToolCall]:
    """The call as the model made it, then as people changed it: people may be asked about a changed call again."""
    for commit in _commits(log, tenant, session_id):
        for entry in commit.entries:
            if isinstance(entry, AssistantEntry):
                yield from (call for call in entry.calls if call.call_id == call_id)
        open_call = commit.head.open_call(call_id)
        if open_call is not None and open_call.amended is not None:
            yield ToolCall(call_id=call_id, effect_id="", name=open_call.name, input=open_call.amended)


def _commits(log: SessionLog, tenant: str, session_id: str) -> Iterator[Commit]:
    since = 1
    while page := log.read(tenant, session_id, since, limit=PAGE).commits:
        yield from page
        since = page[-1].number + 1

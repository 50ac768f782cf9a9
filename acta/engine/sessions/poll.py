"""Polling: the session as it is now and the events since a cursor, in one read and without a write
(docs/design/api.md 41)."""

import re
from typing import NamedTuple

from acta.engine.clock import Clock
from acta.engine.errors import CursorInvalid, SessionNotFound
from acta.engine.log.commit import Commit
from acta.engine.log.conversation import INLINE_BYTES, AssistantEntry, Content, ToolCall, UserEntry
from acta.engine.log.events import Event
from acta.engine.log.head import Head
from acta.engine.log.store import SessionLog
from acta.engine.turn.final_answer import for_people

PAGE_COMMITS = 100
LOOK_SECONDS = (0.1, 0.2, 0.3, 0.5, 1.0)
"""Pauses between the reads of a long poll; the last one repeats."""


class Cursor(NamedTuple):
    """The number of the last commit that was read and the `seq` of the last event: `12.34`. `0` is the start.

    Reading goes on in that commit, which may have more events.
    """

    number: int = 0
    seq: int = 0

    def __str__(self) -> str:
        return f"{self.number}.{self.seq}" if self.number else "0"

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Raises CursorInvalid naming `after`."""
        found = _CURSOR.fullmatch(text)
        if found is None:
            raise CursorInvalid("after")
        return cls() if text == "0" else cls(int(found[1]), int(found[2]))


_CURSOR = re.compile(r"0|([1-9][0-9]{0,11})\.([1-9][0-9]{0,11}|0)")


class EventWithCursor(NamedTuple):
    """An event, and the cursor with which reading goes on after it."""

    event: Event
    cursor: Cursor


class SessionSnapshot(NamedTuple):
    """`cursor`: where reading goes on, after the last event and after commits without events. `has_more`: more events
    are there already.
    """

    head: Head
    events: tuple[EventWithCursor, ...]
    cursor: Cursor
    has_more: bool


def poll(
    log: SessionLog, clock: Clock, tenant: str, session_id: str, after: Cursor, wait: float
) -> SessionSnapshot:
    """Returns as soon as there are events, the session has ended, or `wait` seconds are over.

    `wait`: the request's, or `STREAM_WAIT_SECONDS`; both are in `acta/engine/sessions/routes.py`.

    Raises SessionNotFound, and CursorInvalid for a cursor beyond the log's end.
    """
    waited, looks = 0.0, 0
    while True:
        seen = _look(log, tenant, session_id, after)
        if seen.events or seen.head.is_over or waited >= wait:
            return seen
        nap = min(LOOK_SECONDS[min(looks, len(LOOK_SECONDS) - 1)], wait - waited)
        clock.sleep(nap)
        waited, looks = waited + nap, looks + 1


def _look(log: SessionLog, tenant: str, session_id: str, after: Cursor) -> SessionSnapshot:
    # The cursor's own commit is read again. It has the head where nothing is newer, so one read is enough.
    page = log.read(tenant, session_id, since=max(after.number, 1), limit=PAGE_COMMITS)
    if page.commits and page.commits[-1].head.deleted:
        raise SessionNotFound("There is no such session.")
    if not page.commits:
        if log.latest(tenant, session_id) is None:
            raise SessionNotFound("There is no such session.")
        raise CursorInvalid("after")
    events = tuple(
        EventWithCursor(event, Cursor(commit.number, event.seq))
        for commit in page.commits
        for event in _visible(commit)
        if event.seq > after.seq
    )
    last = page.commits[-1]
    head = last.head
    if not page.complete:
        newest = log.latest(tenant, session_id)
        if newest is None or newest.head.deleted:
            raise SessionNotFound("There is no such session.")
        head = newest.head
    cursor = Cursor(last.number, max(last.head.last_seq, after.seq))
    return SessionSnapshot(head, events, cursor, has_more=not page.complete)


def _visible(commit: Commit) -> tuple[Event, ...]:
    """The commit's events, each with the text of its message, or the input of its call, where that is short enough to
    be in the commit.
    """
    texts, calls = {}, {}
    for entry in commit.entries:
        if isinstance(entry, UserEntry | AssistantEntry):
            texts[entry.message_id] = _said(entry)
        if isinstance(entry, AssistantEntry):
            calls.update({call.call_id: call for call in entry.calls})
    return tuple(_with_input(_with_text(event, texts), calls) for event in commit.events)


def _said(entry: UserEntry | AssistantEntry) -> Content:
    """As people see it. For a reply without text it is the beginning of what the model thought."""
    if isinstance(entry, UserEntry):
        return entry.content
    content = entry.content if entry.content.bytes else Content.of(entry.thinking[:INLINE_BYTES])
    return content if content.text is None else Content.of(for_people(content.text))


def _with_text(event: Event, texts: dict[str, Content]) -> Event:
    content = texts.get(event.data.get("message_id", ""))
    if content is None:
        return event
    data = event.data | {"content": content.text, "bytes": content.bytes}
    return event.model_copy(update={"data": data})


def _with_input(event: Event, calls: dict[str, ToolCall]) -> Event:
    """What a call asks for, told once: where it is asked for."""
    call = calls.get(event.data.get("call_id", "")) if event.type == "tool.requested" else None
    if call is None or call.input is None:
        return event
    return event.model_copy(update={"data": event.data | {"input": call.input}})

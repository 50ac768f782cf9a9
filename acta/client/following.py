"""Following a session: its state and its events by polling, until it ends.

Following outlives what it follows with: connections that break, a stack that is stopped and started again, a service
that is overloaded. It goes on at the cursor of the last answer, so that no event is missed and none comes twice.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from acta.client.errors import ClientError, RateLimited, ServerError, UnexpectedAnswer, Unreachable
from acta.client.flows import Item, Pause, Request, Stream, data, session_path
from acta.client.interventions import has_ended, is_paused, needs_a_person, open_interventions

if TYPE_CHECKING:
    from acta.client import shapes

LONG_POLL_SECONDS = 10
MAX_PAUSE_MS = 60_000
OUTAGE_PAUSES = (1.0, 2.0, 5.0)
"""Seconds between polls that fail, each after its own attempts; the last one is repeated."""
PATIENCE_SECONDS = 900.0
"""How long polls may fail before following ends, in pauses: what the attempts themselves take comes on top."""
PASSING = (Unreachable, UnexpectedAnswer, ServerError, RateLimited)


@dataclass(frozen=True)
class Update:
    """One answer to a poll. `session`: the session as it is; `events`: those since the update before. `cursor`: the
    place after them, to go on from later. `partial`: the end of what the model is writing, where that is told.
    """

    session: shapes.Session
    events: list[shapes.Event]
    cursor: str = "0"
    partial: str | None = None

    @property
    def has_ended(self) -> bool:
        return has_ended(self.session)

    @property
    def is_paused(self) -> bool:
        return is_paused(self.session)

    @property
    def open_interventions(self) -> list[dict[str, Any]]:
        return open_interventions(self.session)

    def is_open(self, intervention_id: str) -> bool:
        """A person can still decide this intervention."""
        waiting = () if self.has_ended else self.open_interventions
        return any(one.get("intervention_id") == intervention_id for one in waiting)

    @property
    def waits_for_a_person(self) -> bool:
        return needs_a_person(self.session)


Told = Callable[[ClientError], None]


def updates(
    session_id: str,
    after: str = "0",
    *,
    patience_seconds: float = PATIENCE_SECONDS,
    on_outage: Told | None = None,
) -> Stream[Update]:
    """Every update from the cursor `after` on; "0" is the session's beginning.

    Ends after the update that brings the last event of an ended or idle session. The first poll returns at once (from
    the beginning there are always events); the server holds each later one until there is something new,
    `LONG_POLL_SECONDS` at most. Between polls it pauses as long as the server says: no time after a poll that was to be
    held. An outage is waited out for `patience_seconds`, but not before the first answer: then the address may be
    wrong. So is a limit of the tenant's that the call itself has waited for in vain, and an answer that is not Acta's:
    a proxy may have given it. No pause is longer than what is left of the patience, whatever a server asks for.
    `on_outage` is told of each poll that failed.
    """
    wait, failed, waited, has_answered = LONG_POLL_SECONDS if after == "0" else 0, 0, 0.0, False
    while True:
        try:
            answer = yield from data(Request("GET", session_path(session_id), {"after": after, "wait": wait}))
            update = update_of(answer)
        except PASSING as error:
            may_be_wrong = not has_answered and not isinstance(error, RateLimited)
            if may_be_wrong or waited >= patience_seconds:
                raise
            if on_outage is not None:
                on_outage(error)
            asked = getattr(error, "retry_after", None) or 0.0
            pause = max(asked, OUTAGE_PAUSES[min(failed, len(OUTAGE_PAUSES) - 1)])
            seconds = min(pause, patience_seconds - waited)
            failed, waited = failed + 1, waited + seconds
            yield Pause(seconds)
            continue
        wait, failed, waited, has_answered = LONG_POLL_SECONDS, 0, 0.0, True
        after = update.cursor
        yield Item(update)
        if answer.get("has_more"):
            continue
        if update.has_ended or update.session.get("state") == "idle":
            return
        yield Pause(min(answer.get("poll_after_ms") or 0, MAX_PAUSE_MS) / 1_000)


def update_of(answer: Any) -> Update:
    """Raises UnexpectedAnswer."""
    match answer:
        case {"session": {**session}, "events": [*events], "cursor": cursor}:
            partial = (answer.get("partial") or {}).get("text")
            told: Any = session
            return Update(told, events, str(cursor), partial)
        case _:
            raise UnexpectedAnswer("this answer is not a session's: check the API's URL")


Listener = Callable[[Update | None], None]
"""Gets each update when it comes, in the feed's thread; None when no further one will come."""


class Feed:
    """Takes `updates` in a thread of its own, so that they keep coming while the reader does something else.

    Iterating over it gives all of them in their order, and raises what taking them raised.
    """

    def __init__(self, updates: Iterator[Update]) -> None:
        self.updates = updates
        self.queue: SimpleQueue[Update | BaseException | None] = SimpleQueue()
        self.lock = threading.Lock()
        self.latest: Update | None = None
        self.has_ended = False
        self.listener: Listener | None = None
        threading.Thread(target=self.run, daemon=True).start()

    def __iter__(self) -> Iterator[Update]:
        while (found := self.queue.get()) is not None:
            if isinstance(found, BaseException):
                raise found
            yield found

    def subscribe(self, listener: Listener) -> None:
        """From now on `listener`, and no earlier one, gets each update; the latest one at once, in this thread."""
        with self.lock:
            self.listener = listener
            latest = None if self.has_ended else self.latest
        listener(latest)

    def unsubscribe(self) -> None:
        with self.lock:
            self.listener = None

    def is_open(self, intervention_id: str) -> bool:
        """By the latest update."""
        return self.latest is not None and self.latest.is_open(intervention_id)

    def run(self) -> None:
        """In the feed's thread."""
        end: BaseException | None = None
        try:
            for update in self.updates:
                self.publish(update)
        except Exception as error:
            end = error
        self.queue.put(end)
        with self.lock:
            self.has_ended = True
            listener = self.listener
        if listener is not None:
            listener(None)

    def publish(self, update: Update) -> None:
        self.queue.put(update)
        with self.lock:
            self.latest = update
            listener = self.listener
        if listener is not None:
            listener(update)

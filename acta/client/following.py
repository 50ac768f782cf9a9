"""Following a session: its state and its events by polling, until it ends."""

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

from acta.client.api import Client, session_path
from acta.client.errors import ApiError, Unreachable
from acta.client.interventions import open_interventions

ENDED_STATES = ("completed", "failed", "cancelled")
LONG_POLL_SECONDS = 10
MAX_PAUSE_MS = 10_000
MAX_OUTAGES = 10
"""How many polls in a row may fail, each after the client's own attempts, before following ends."""
OUTAGE_PAUSE_SECONDS = 5.0


@dataclass(frozen=True)
class Update:
    """One answer to a poll. `session`: the session as it is; `events`: those since the update before."""

    session: dict[str, Any]
    events: list[dict[str, Any]]

    @property
    def has_ended(self) -> bool:
        return self.session.get("state") in ENDED_STATES

    @property
    def is_paused(self) -> bool:
        """A person paused it. That is no state of its own (design §3)."""
        return (self.session.get("state"), self.session.get("state_reason")) == ("waiting_for_user", "paused")

    @property
    def open_interventions(self) -> list[dict[str, Any]]:
        return open_interventions(self.session)

    def is_open(self, intervention_id: str) -> bool:
        """A person can still decide this intervention."""
        waiting = () if self.has_ended else self.open_interventions
        return any(one.get("intervention_id") == intervention_id for one in waiting)

    @property
    def waits_for_a_person(self) -> bool:
        return not self.has_ended and (self.is_paused or bool(self.open_interventions))


def current(client: Client, session_id: str) -> dict[str, Any]:
    """The session as it is now. Raises ClientError."""
    session: dict[str, Any] = client.get(session_path(session_id), after=0, wait=0)["session"]
    return session


def follow(
    client: Client,
    session_id: str,
    *,
    cursor: str | int = 0,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[Update]:
    """Every update from `cursor` on; 0 is the session's beginning. Raises ClientError.

    Ends after the update that brings the last event of an ended or idle session. The first poll returns at once; the
    server holds each later one until there is something new, `LONG_POLL_SECONDS` at most. Between polls it pauses as
    long as the server says (`Settings.poll_after_ms`). An outage is waited out, but not before the first answer: then
    the address may be wrong. So is a limit of the tenant's that the client has waited for in vain. `pause` takes
    seconds.
    """
    wait = 0
    outages = 0
    while True:
        try:
            answer = client.get(session_path(session_id), after=cursor, wait=wait)
        except (Unreachable, ApiError) as error:
            is_limit = isinstance(error, ApiError) and error.status == 429
            if isinstance(error, ApiError) and not is_limit:
                raise
            outages += 1
            if (cursor == 0 and not is_limit) or outages > MAX_OUTAGES:
                raise
            pause(OUTAGE_PAUSE_SECONDS)
            continue
        outages = 0
        wait = LONG_POLL_SECONDS
        update = Update(answer["session"], answer["events"])
        yield update
        cursor = answer["cursor"]
        if answer.get("has_more"):
            continue
        if update.has_ended or update.session.get("state") == "idle":
            return
        pause(min(answer.get("poll_after_ms") or 0, MAX_PAUSE_MS) / 1_000)


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

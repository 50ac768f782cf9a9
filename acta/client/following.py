"""A session as a client sees it: whether it has ended, which interventions are open and what they are about. Its state
and its events are polled until it ends.

Following goes on through broken connections, restarts of the stack and overloaded services. It continues at the cursor
of the last answer, so that no event is missed and none comes twice.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from acta.client.errors import (
    ApiConnectionError,
    ClientError,
    RateLimitError,
    ServerError,
    UnexpectedAnswerError,
)
from acta.client.flows import (
    Flow,
    HttpRequest,
    Item,
    Pause,
    Stream,
    data,
    first,
    pages,
    path_of,
    session_path,
)

if TYPE_CHECKING:
    from acta.client import shapes

ENDED_STATES = ("completed", "failed", "cancelled")
ID_PREFIX = "int_"
"""How the id of an intervention begins; that of a session begins differently."""


def open_interventions(session: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The interventions of a session that a person can decide."""
    return [one for one in session.get("interventions") or [] if one.get("state", "pending") == "pending"]


def needs_a_person(session: Mapping[str, Any]) -> bool:
    """Whether the session has not ended, and a person paused it or is asked something."""
    return not has_ended(session) and (is_paused(session) or bool(open_interventions(session)))


def has_ended(session: Mapping[str, Any]) -> bool:
    return session.get("state") in ENDED_STATES


def is_paused(session: Mapping[str, Any]) -> bool:
    """Whether a person paused the session. A pause is no state of its own (docs/design/api.md 30)."""
    return (session.get("state"), session.get("state_reason")) == ("waiting_for_user", "paused")


def waits_for_tokens(session: Mapping[str, Any]) -> bool:
    """Whether the session waits for its token budget to renew. A higher budget ends that wait."""
    return not has_ended(session) and session.get("state_reason") == "waiting_for_tokens"


def is_intervention_id(text: str) -> bool:
    return text.startswith(ID_PREFIX)


def whole_inputs(session_id: str, intervention: Mapping[str, Any]) -> Flow[dict[str, Any]]:
    """The intervention with the whole input of each of its tool calls. Raises ClientError.

    A session's snapshot carries only the beginning of a large input, and a person must see all of what they approve.
    Raises UnexpectedAnswerError if an input is not the one to which the decision will be bound.
    """
    path = session_path(session_id, "interventions", str(intervention.get("intervention_id")), "input")
    whole = dict(intervention)
    if intervention.get("tool_call"):
        whole["tool_call"] = yield from _whole_call(path, intervention["tool_call"])
    context = intervention.get("context") or {}
    if context.get("calls"):
        calls = []
        for call in context["calls"]:
            calls.append((yield from _whole_call(path, call, is_one_of_several=True)))
        whole["context"] = {**context, "calls": calls}
    return whole


def _whole_call(path: str, call: Mapping[str, Any], *, is_one_of_several: bool = False) -> Flow[Any]:
    if not call.get("shortened"):
        return call
    query = {"call_id": str(call.get("call_id"))} if is_one_of_several else {}
    text = (yield from data(HttpRequest("GET", path, query))).get("input_text")
    if not isinstance(text, str) or input_hash(text) != call.get("input_hash"):
        raise UnexpectedAnswerError("the deployment sent another input than the one to decide on")
    return {**call, "input": json.loads(text), "input_text": text}


def input_hash(input_text: str) -> str:
    """The `input_hash` of a tool call: SHA-256 of the canonical JSON text of its input, 32 hex digits."""
    return hashlib.sha256(input_text.encode()).hexdigest()[:32]


LONG_POLL_SECONDS = 10
MAX_PAUSE_MS = 60_000
OUTAGE_PAUSES = (1.0, 2.0, 5.0)
"""Seconds between polls that fail; each poll makes several attempts of its own. The last pause is repeated."""
PATIENCE_SECONDS = 900.0
"""The seconds of pauses after which following gives up; the time that the attempts take is not counted."""
PAGE_SIZE = 100
MAX_SEARCHED = 500
"""How many of a tenant's newest interventions are searched."""
PASSING = (ApiConnectionError, UnexpectedAnswerError, ServerError, RateLimitError)


@dataclass(frozen=True)
class Update:
    """One answer to a poll. `session`: the session as it is. `events`: those since the last update. `cursor`: the place
    after them, from which following can go on later. `partial`: the end of what the model is writing, if that is shown.
    `below`: the open interventions of sessions below this one, if they are looked for, as far as they are among the
    tenant's newest `MAX_SEARCHED` open ones.
    """

    session: shapes.Session
    events: list[shapes.Event]
    cursor: str = "0"
    partial: str | None = None
    below: Sequence[shapes.Intervention] = ()

    @property
    def has_ended(self) -> bool:
        return has_ended(self.session)

    @property
    def is_paused(self) -> bool:
        return is_paused(self.session)

    @property
    def open_interventions(self) -> list[Mapping[str, Any]]:
        return [*open_interventions(self.session), *self.below]

    def is_open(self, intervention_id: str) -> bool:
        """Whether a person can still decide this intervention."""
        waiting = () if self.has_ended else self.open_interventions
        return any(one.get("intervention_id") == intervention_id for one in waiting)

    @property
    def waits_for_a_person(self) -> bool:
        return needs_a_person(self.session) or bool(self.below)


Told = Callable[[ClientError], None]


def updates(
    session_id: str,
    after: str = "0",
    *,
    patience_seconds: float = PATIENCE_SECONDS,
    on_outage: Told | None = None,
    looks_below: bool = True,
) -> Stream[Update]:
    """Every update from the cursor `after` on; "0" is the session's beginning.

    Ends after the update that brings the last event of an ended or idle session. The first poll returns at once; the
    server holds each later one until there is something new, at most `LONG_POLL_SECONDS`. Between polls it pauses as
    long as the server says: not at all after a poll that was to be held. An outage is waited out for
    `patience_seconds`, and so are a tenant's limit that outlasts the call's own attempts and an answer that is not
    Acta's, which a proxy may have given. Before the first answer only the limit is waited out, because the address may
    be wrong. No pause is longer than what is left of the patience, whatever a server asks for. `on_outage` is called
    for each poll that failed. `looks_below`: also ask, after each poll, for what sessions below this one ask people.
    """
    wait, failed, waited, has_answered = LONG_POLL_SECONDS if after == "0" else 0, 0, 0.0, False
    below: list[shapes.Intervention] = []
    while True:
        try:
            answer = yield from data(
                HttpRequest("GET", session_path(session_id), {"after": after, "wait": wait})
            )
            update = update_of(answer)
        except PASSING as error:
            may_be_wrong = not has_answered and not isinstance(error, RateLimitError)
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
        if looks_below:
            below = yield from _asked_below(update.session, below)
        yield Item(replace(update, below=below))
        if answer.get("has_more"):
            continue
        if update.has_ended or update.session.get("state") == "idle":
            return
        yield Pause(min(answer.get("poll_after_ms") or 0, MAX_PAUSE_MS) / 1_000)


def _asked_below(
    session: Mapping[str, Any], before: list[shapes.Intervention]
) -> Flow[list[shapes.Intervention]]:
    """The open interventions of sessions below this one; those found `before` if there is no answer."""
    if has_ended(session) or not (session.get("children") or {}).get("at_work"):
        return []
    searched: list[shapes.Intervention] = []

    def is_last(one: shapes.Intervention) -> bool:
        searched.append(one)
        return len(searched) == MAX_SEARCHED

    try:
        yield from first(pages(path_of("interventions"), state="pending", limit=PAGE_SIZE), is_last)
    except ClientError:
        return before
    above = session["session_id"]
    return [one for one in searched if any(each["session_id"] == above for each in one["chain"])]


def update_of(answer: Any) -> Update:
    """Raises UnexpectedAnswerError."""
    match answer:
        case {"session": {**session}, "events": [*events], "cursor": cursor}:
            partial = (answer.get("partial") or {}).get("text")
            told: Any = session
            return Update(told, events, str(cursor), partial)
        case _:
            raise UnexpectedAnswerError("this answer is not a session's: check the API's URL")


Listener = Callable[[Update | None], None]
"""Called with each update in the feed's thread; with None when no further update will come."""


class Feed:
    """Takes `updates` in a thread of its own, so that they keep coming while the reader does something else.

    Iterating over a feed gives all updates in their order, and raises the error that ended them.
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
        """From now on only this `listener` gets each update. It gets the latest one at once, in the caller's thread."""
        with self.lock:
            self.listener = listener
            latest = None if self.has_ended else self.latest
        listener(latest)

    def unsubscribe(self) -> None:
        with self.lock:
            self.listener = None

    def is_open(self, intervention_id: str) -> bool:
        """Whether a person can still decide it, by the latest update."""
        return self.latest is not None and self.latest.is_open(intervention_id)

    def run(self) -> None:
        """Takes the updates; runs in the feed's thread."""
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

"""Serves one place of a provider's line: admits its session, or drops the place (ADR 106).

    pay for the call -> commit the admission -> start the session's next generation -> remove the place

If a dispatcher dies between two of these, the place is still there and the session's head says how far it came. The
scan of recovery finds a session that was admitted and not started.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import datetime
from threading import Lock
from typing import Literal, NamedTuple

from acta_engine.clock import Clock
from acta_engine.errors import Fenced, SchemaUnknown, SessionNotFound, TransientError
from acta_engine.log.change import Change
from acta_engine.log.repository import CommitDraft, SessionRepository
from acta_engine.log.session import Session
from acta_engine.queue.places import PASSED_OVER_FOR, InLine, ProviderLimits
from acta_engine.queue.store import AdmissionStore
from acta_engine.recovery.restart import restart, try_now
from acta_engine.recovery.workers import RecoveryWorkers
from acta_engine.turn.engine_decision import next_decision, position
from acta_engine.turn.workflow import Workflow

SESSIONS_PER_SECOND = 25.0
"""Of one invocation. Half the CPU that its memory gives it (ADR 108)."""


class Pace:
    """Waits until the next session may be looked at, at so many `per_second`, whichever thread asks."""

    def __init__(self, clock: Clock, per_second: float = SESSIONS_PER_SECOND) -> None:
        self._clock = clock
        self._seconds = 1 / per_second
        self._lock = Lock()
        self._next = clock.now().timestamp()

    def __call__(self) -> None:
        with self._lock:
            now = self._clock.now().timestamp()
            wait = self._next - now
            self._next = max(self._next, now) + self._seconds
        if wait > 0:
            self._clock.sleep(wait)


class Sharing(NamedTuple):
    """When a dispatcher has other workers admit the places of a line."""

    min_places: int = 100
    """A shorter line it serves alone."""
    min_affordable: int = 50
    """Places that the bucket has to carry at once: what a dispatcher alone admits in some four seconds."""
    batch_size: int = 100
    """Places of one worker: what it admits in four seconds (`SESSIONS_PER_SECOND`)."""


class AdmitDeps(NamedTuple):
    repository: SessionRepository
    workflow: Workflow
    store: AdmissionStore
    limits: Mapping[str, ProviderLimits]
    """By provider."""
    time_is_left: Callable[[], bool]
    """Whether there is time for one more session."""
    on_error: Callable[[str, Exception], None] = lambda subject, error: None
    """Is called with the id of a session for which something failed."""
    workers: RecoveryWorkers | None = None
    """Admit the places of a long line. None: the dispatcher is alone."""
    threads: int = 1
    """Sessions that one worker admits at once."""
    pace: Callable[[], None] = lambda: None
    """Waits until a worker may admit the next session."""
    sharing: Sharing = Sharing()


class AdmissionCounts(NamedTuple):
    admitted: int = 0
    dropped: int = 0
    """Places that were removed without an admission."""
    unanswered: int = 0
    """Sessions that could not be read or moved on."""
    shared: int = 0
    """Places that were handed to other workers."""

    def plus(self, name: str, count: int = 1) -> "AdmissionCounts":
        return self._replace(**{name: getattr(self, name) + count})


Outcome = Literal["admitted", "dropped", "passed_over", "full"]
"""`passed_over`: the session may be served at a later look. `full`: the bucket does not carry its call yet."""


class Admitter:
    """Serves places and counts what came of them. Several threads may use it.

    `pay`: takes what the call may use from the bucket; False: the bucket does not carry it.
    `is_paid_ahead`: a place was paid for when it was read, so it admits only the wait that it was read for.
    """

    def __init__(
        self, deps: AdmitDeps, pay: Callable[[InLine], bool], *, is_paid_ahead: bool = False
    ) -> None:
        self._deps = deps
        self._pay = pay
        self._is_paid_ahead = is_paid_ahead
        self._clock = deps.repository.clock
        self._lock = Lock()
        self._passed_over: dict[InLine, datetime] = {}
        """When each place was first passed over, as the store says: one write a place, however often it is met."""
        self.counts = AdmissionCounts()

    def serve(self, place: InLine) -> Outcome:
        try:
            outcome = self._serve(place, self._deps.repository.newest(place.tenant, place.session_id))
        except (SessionNotFound, Fenced):  # deleted
            outcome = "dropped"
        except Exception as error:  # whatever it is, it concerns this session alone
            self._deps.on_error(place.session_id, error)
            self.count("unanswered")
            # A release that cannot read the session now will not read it at the next look either.
            is_temporary = isinstance(error, TransientError) and not isinstance(error, SchemaUnknown)
            outcome = "passed_over" if is_temporary else "dropped"
        if outcome == "passed_over" and self._is_too_old(place):
            outcome = "dropped"
        if outcome in ("admitted", "dropped"):
            self._deps.store.leave(place)
            self.count(outcome)
        return outcome

    def count(self, name: str, count: int = 1) -> None:
        with self._lock:
            self.counts = self.counts.plus(name, count)

    def _is_too_old(self, place: InLine) -> bool:
        """A place that stays keeps the line in being, and everybody else in it. Its session loses nothing for good: it
        joins again at its next call, which recovery starts at the latest when its wait is over (`ASKS_AGAIN`).
        """
        now = self._clock.now()
        if place not in self._passed_over:
            with suppress(TransientError):
                self._passed_over[place] = self._deps.store.pass_over(place, now)
        return now - self._passed_over.get(place, now) > PASSED_OVER_FOR

    def _serve(self, place: InLine, session: Session) -> Outcome:
        head = session.head
        delay = head.delay
        if head.is_over:
            return "dropped"
        if delay is None or not delay.is_queued:  # the commit that says that it waits comes after its place
            return "passed_over"
        if delay.admitted:  # and nobody knows whether it was started
            self._start(session)
            return "dropped"
        if delay.until is None:  # resumed: it is on its way to its call, unless it asks a person now
            return "dropped" if head.interventions else "passed_over"
        if not delay.is_ahead(self._clock.now()):  # its wait is over, and it goes on by itself
            return "dropped"
        if self._is_paid_ahead and delay.since != place.since:  # it waits in another place by now
            return "dropped"
        if head.interventions:  # who waits for a person needs no call now
            self._end_wait(session, is_admitted=False)
            return "dropped"
        if not self._pay(place):
            return "full"
        self._end_wait(session, is_admitted=True)
        return "admitted"

    def _end_wait(self, session: Session, *, is_admitted: bool) -> None:
        def build(_: Session, change: Change) -> CommitDraft | None:
            delay = change.head.delay
            if delay is None or not delay.is_queued or not delay.is_ahead(change.now):
                return None
            try_now(change, admitted=is_admitted)
            return CommitDraft(change, next_decision(change.head, change.now))

        if self._deps.repository.commit(session, position(session.head).key("admit"), build) is not None:
            self._start(session)

    def _start(self, session: Session) -> None:
        """Starts the next generation, by its name: once, however often this is called. It overtakes the execution
        before.
        """
        head = session.head
        if not head.is_over and not self._deps.workflow.start(next_decision(head, self._clock.now())):
            restart(self._deps.repository, self._deps.workflow, session)

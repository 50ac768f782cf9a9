"""Sessions in the line of a provider are admitted, fairly between tenants, as its bucket carries them (ADR 106).

One session of each tenant in turn, of a tenant the one that has waited longest. Two of these at once do no harm: what
admits a session is a commit, and it is made once.

    its bucket carries the call -> the admission is committed -> its next generation starts -> its place is given up

A death between two of these leaves a place whose session tells how far it came. The scan of recovery finds a session
that was admitted and not started.
"""

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from shared.agent.recovery.restart import restart, try_now
from shared.agent.session.engine_decision import next_decision, position
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.errors import Fenced, SessionNotFound
from shared.domain.limits.admission import (
    COMMITTED,
    LEARN,
    LINE,
    InLine,
    Price,
    ProviderLimits,
    Wanted,
    in_milliseconds,
)
from shared.domain.rules.outage import as_queued
from shared.domain.session.change import Change
from shared.ports.deployment.admission import AdmissionStore
from shared.ports.workflow import Workflow

SHORTEST, LONGEST = 0.5, 5.0
"""Seconds between two looks at a line."""


class AdmitDeps(NamedTuple):
    """`limits`: by provider. `time_is_left`: whether there is time for one more session. `told`: hears of what could
    not be done for a session, by its id.
    """

    repository: SessionRepository
    workflow: Workflow
    store: AdmissionStore
    limits: Mapping[str, ProviderLimits]
    time_is_left: Callable[[], bool]
    told: Callable[[str, Exception], None] = lambda what, error: None


class Tally(NamedTuple):
    """`dropped`: places of sessions that do not wait any more. `unanswered`: sessions that could not be read or moved
    on.
    """

    admitted: int = 0
    dropped: int = 0
    unanswered: int = 0

    def plus(self, name: str) -> "Tally":
        return self._replace(**{name: getattr(self, name) + 1})


def admit(deps: AdmitDeps) -> Tally:
    """Until no session waits, or there is no more time. Raises what the store of the line raises."""
    return _Dispatch(deps).made()


Tried = Literal["admitted", "dropped", "early", "full"]
"""`early`: its commit has not come yet, or it could not be read. `full`: the bucket does not carry it yet."""


class _Dispatch:
    def __init__(self, deps: AdmitDeps) -> None:
        self._deps = deps
        self._clock = deps.repository.clock
        self._tally = Tally()
        self._full = 0.0
        """Seconds until the bucket that was met last carries the session that it did not carry."""

    def made(self) -> Tally:
        while self._deps.time_is_left():
            waits = [wait for provider in self._deps.limits if (wait := self._look(provider)) is not None]
            if not waits:
                break
            self._clock.sleep(min(LONGEST, max(SHORTEST, *waits)) if len(waits) == 1 else SHORTEST)
        return self._tally

    def _look(self, provider: str) -> float | None:
        """Seconds until it is worth looking again; None: nobody waits."""
        store = self._deps.store
        bucket = store.bucket(provider)
        if store.first_after(provider, "") is None:
            is_over = not bucket.line or store.keep_line(provider, bucket, None)
            return None if is_over else SHORTEST
        store.keep_line(provider, bucket, self._clock.now() + LINE)
        last, early = bucket.last, set[InLine]()
        while self._deps.time_is_left():
            one = self._next(provider, last, early)
            if one is None:
                return SHORTEST  # another look tells whether that was the end
            match self._tried(one):
                case "full":
                    return self._full
                case "admitted":
                    last = one.tenant
                case "early":
                    early.add(one)
                case "dropped":
                    pass
        return SHORTEST

    def _next(self, provider: str, last: str, early: set[InLine]) -> InLine | None:
        """The oldest of the next tenant that has one which may be admitted."""
        first = one = self._after(provider, last)
        while one is not None:
            mine: InLine | None = one
            while mine is not None and mine in early:
                mine = self._deps.store.next_of(mine)
            if mine is not None:
                return mine
            one = self._after(provider, one.tenant)
            if one == first:
                return None
        return None

    def _after(self, provider: str, tenant: str) -> InLine | None:
        store = self._deps.store
        return store.first_after(provider, tenant) or store.first_after(provider, "")

    def _tried(self, one: InLine) -> Tried:
        try:
            session = self._deps.repository.newest(one.tenant, one.session_id)
            tried = self._moved(one, session)
        except (SessionNotFound, Fenced):  # deleted
            tried = "dropped"
        except Exception as error:  # whatever it is, it is this session's alone
            self._deps.told(one.session_id, error)
            self._tally = self._tally.plus("unanswered")
            return "early"
        if tried in ("admitted", "dropped"):
            self._deps.store.leave(one)
            self._tally = self._tally.plus(tried)
        return tried

    def _moved(self, one: InLine, session: Session) -> Tried:
        head, now = session.head, self._clock.now()
        queued = as_queued(head.outage)
        if head.is_over:
            return "dropped"
        if queued is None:
            return "dropped" if now - one.since > COMMITTED else "early"
        if queued.admitted:  # and nobody knows whether it was started
            self._start(session)
            return "dropped"
        if queued.retry_at is None:  # somebody has resumed it: it comes again, or calls
            return "early"
        if not queued.is_ahead(now):  # it goes on by itself
            return "dropped"
        if head.interventions:  # who waits for a person needs no call now
            self._release(session, is_admitted=False)
            return "dropped"
        price = Price.of(self._limits_of(one.provider), Wanted(one.tokens))
        took = self._deps.store.take_for(one.tenant, one.provider, price, now)
        if not took.granted:
            self._full = took.bucket.seconds_until(price, in_milliseconds(now))
            return "full"
        self._release(session, is_admitted=True)
        return "admitted"

    def _limits_of(self, provider: str) -> ProviderLimits:
        limits = self._deps.limits[provider]
        return limits if limits != LEARN else self._deps.store.bucket(provider).limits

    def _release(self, session: Session, *, is_admitted: bool) -> None:
        """Ends the wait by a commit, and has the next generation go on."""

        def build(_: Session, change: Change) -> CommitDraft | None:
            queued = as_queued(change.head.outage)
            if change.head.is_over or queued is None or not queued.is_ahead(change.now):
                return None
            try_now(change)
            change.set(outage=queued.tried_now().model_copy(update={"admitted": is_admitted}))
            return CommitDraft(change, next_decision(change.head, change.now))

        done = self._deps.repository.commit(session, position(session.head).key("admit"), build)
        if done is not None:
            self._start(session)

    def _start(self, session: Session) -> None:
        """By the name of its generation: once, however often. The execution before is overtaken."""
        head = session.head
        if head.is_over:
            return
        if not self._deps.workflow.start(next_decision(head, self._clock.now())):
            restart(self._deps.repository, self._deps.workflow, session)

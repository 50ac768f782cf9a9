"""One session of a provider's line is admitted, or its place is given up (ADR 106).

    what its call may use is paid for -> the admission is committed -> its next generation starts -> its place is left

A death between two of these leaves a place whose session tells how far it came. The scan of recovery finds a session
that was admitted and not started.
"""

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Literal, NamedTuple

from shared.agent.recovery.restart import restart, try_now
from shared.agent.session.engine_decision import next_decision, position
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.errors import Fenced, SchemaUnknown, SessionNotFound, TransientError
from shared.domain.limits.admission import COMMITTED, InLine, ProviderLimits
from shared.domain.session.change import Change
from shared.ports.deployment.admission import AdmissionStore
from shared.ports.deployment.recovery_workers import RecoveryWorkers
from shared.ports.workflow import Workflow


class Sharing(NamedTuple):
    """When a line is shared out. `long`: places from which on. `few`: places that the bucket has to carry at once, for
    others to be asked: what a dispatcher alone admits in some four seconds. `batch`: places that one invocation is
    handed, what it does in four seconds (`shared/agent/recovery/pace.py`).
    """

    long: int = 100
    few: int = 50
    batch: int = 100


class AdmitDeps(NamedTuple):
    """`limits`: by provider. `time_is_left`: whether there is time for one more session. `told`: hears of what could
    not be done for a session, by its id. `workers`: what admits the places of a long line; None: nothing does.
    `threads`: sessions that one of these admits at once. `pace`: waits until it may admit another.
    """

    repository: SessionRepository
    workflow: Workflow
    store: AdmissionStore
    limits: Mapping[str, ProviderLimits]
    time_is_left: Callable[[], bool]
    told: Callable[[str, Exception], None] = lambda what, error: None
    workers: RecoveryWorkers | None = None
    threads: int = 1
    pace: Callable[[], None] = lambda: None
    sharing: Sharing = Sharing()


class Tally(NamedTuple):
    """`dropped`: places of sessions that do not wait any more. `unanswered`: sessions that could not be read or moved
    on. `shared`: places that others were handed.
    """

    admitted: int = 0
    dropped: int = 0
    unanswered: int = 0
    shared: int = 0

    def plus(self, name: str, count: int = 1) -> "Tally":
        return self._replace(**{name: getattr(self, name) + count})


Tried = Literal["admitted", "dropped", "early", "full"]
"""`early`: its commit has not come yet, or the store does not answer. `full`: the bucket does not carry it yet."""


class Admitting:
    """`is_paid`: takes what the call of this place may use; False: the bucket does not carry it. `tally` is of all that
    were tried. `once`: only who waits since then is admitted, so what was paid for one wait is spent on no other.
    """

    def __init__(self, deps: AdmitDeps, is_paid: Callable[[InLine], bool], *, once: bool = False) -> None:
        self._deps = deps
        self._is_paid = is_paid
        self._once = once
        self._clock = deps.repository.clock
        self._lock = Lock()
        self.tally = Tally()

    def tried(self, one: InLine) -> Tried:
        try:
            session = self._deps.repository.newest(one.tenant, one.session_id)
            tried = self._moved(one, session)
        except (SessionNotFound, Fenced):  # deleted
            tried = "dropped"
        except Exception as error:  # whatever it is, it is this session's alone
            self._deps.told(one.session_id, error)
            self.count("unanswered")
            if isinstance(error, TransientError) and not isinstance(error, SchemaUnknown):
                return "early"
            # This release cannot read it, and a place that stays keeps the line in being for ever. A session that does
            # wait takes a place again (`ASKS_AGAIN`).
            self._deps.store.leave(one)
            return "dropped"
        if tried in ("admitted", "dropped"):
            self._deps.store.leave(one)
            self.count(tried)
        return tried

    def count(self, name: str, count: int = 1) -> None:
        with self._lock:
            self.tally = self.tally.plus(name, count)

    def _moved(self, one: InLine, session: Session) -> Tried:
        head, now = session.head, self._clock.now()
        queued = head.delay
        if head.is_over:
            return "dropped"
        if queued is None or not queued.is_queued:
            return "dropped" if now - one.since > COMMITTED else "early"
        if queued.admitted:  # and nobody knows whether it was started
            self._start(session)
            return "dropped"
        if queued.until is None:
            # Somebody has resumed it. Unless it asks a person now, it comes again or calls, and either ends this.
            return "dropped" if head.interventions else "early"
        if not queued.is_ahead(now):  # it goes on by itself
            return "dropped"
        if self._once and queued.since != one.since:  # it waits in another place by now
            return "dropped"
        if head.interventions:  # who waits for a person needs no call now
            self._release(session, is_admitted=False)
            return "dropped"
        if not self._is_paid(one):
            return "full"
        self._release(session, is_admitted=True)
        return "admitted"

    def _release(self, session: Session, *, is_admitted: bool) -> None:
        """Ends the wait by a commit, and has the next generation go on."""

        def build(_: Session, change: Change) -> CommitDraft | None:
            queued = change.head.delay
            if queued is None or not queued.is_queued or not queued.is_ahead(change.now):
                return None
            try_now(change, admitted=is_admitted)
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

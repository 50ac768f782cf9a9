"""Finds, each minute, the sessions whose execution is gone and those whose wake-up was lost (design §2).

It is the net below `recover`'s other caller: executions that end are told of at once. So what it has to withstand
matters more than how soon it finds something. Nothing that one request meets stops the others: not a throttled page of
the index, nor a list of executions that breaks off, nor a session that cannot be read. What there was no time for has
its chance in the next scan, which begins with another shard and goes through each in another order.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple, get_args
from zlib import crc32

from shared.agent.recovery.recover import RecoveryResult, recover
from shared.agent.recovery.unreadable import Unreadable, is_away
from shared.agent.session.parking import LEAD
from shared.agent.session.repository import SessionRepository
from shared.domain.errors import Fenced, SessionNotFound
from shared.domain.rules.outage import DEFAULT_LIMITS, OutageLimits
from shared.ports.deployment.recovery_scans import Tally
from shared.ports.log import LIVE_SHARDS, LiveKind, LiveSession, SessionIndex
from shared.ports.workflow import Workflow

PAGE = 500
WAKE_SECONDS = 5.0
"""For so long after a decision the one who decided is left to wake the execution."""
SKEW = timedelta(seconds=5)
"""How far the clock of whoever made a session active may be ahead."""
SCAN_SECONDS = 60
SHARDS: tuple[int | None, ...] = (*range(LIVE_SHARDS), None)
"""None: the entries that commits in the version before wrote (`SHARDED_SINCE`)."""
MOST_LISTED = 100_000
"""Running executions that are asked for. The list may not take the time that the sessions need."""

Told = Callable[[str, Exception], None]


class SweepDeps(NamedTuple):
    """What a sweep needs. `grace`: seconds for which a session is left to the worker it may have
    (`Settings.recovery_grace_seconds`). `warn`: seconds before its end at which a wait is looked after
    (`Settings.intervention_warn_seconds`). `time_is_left`: whether another request can be made. `unreadable`: what the
    scans before this one could not read. `told`: is called with each error and what it was met at: a session's id,
    `index` or `executions`. `limits`: as in `restart`.
    """

    repository: SessionRepository
    session_index: SessionIndex
    workflow: Workflow
    grace: float
    warn: float
    unreadable: Unreadable
    time_is_left: Callable[[], bool] = lambda: True
    told: Told = lambda what, error: None
    limits: OutageLimits = DEFAULT_LIMITS


def sweep(deps: SweepDeps, *, everything: bool = False) -> Tally:
    """Recovers every session that needs it, as far as there is time, and returns what it did.

    `everything`: looks at every live session, however young, at those that wait for people without a deadline, and at
    those that are at work. Raises what the index raises where not one page of it could be read.
    """
    return _Scan(deps, everything).made()


class _Found(NamedTuple):
    """Sessions of one shard. `lost`: without an execution, or perhaps without a wake-up. `at_work`: whose execution
    runs, and that are looked at all the same.
    """

    lost: list[LiveSession]
    at_work: list[LiveSession]


class _Scan:
    def __init__(self, deps: SweepDeps, everything: bool) -> None:
        self._deps = deps
        self._everything = everything
        self._now = deps.repository.clock.now()
        self._number = int(self._now.timestamp() // SCAN_SECONDS)
        self._tally = Tally()
        self._pages = 0
        self._error: Exception | None = None

    def made(self) -> Tally:
        running = self._running()
        last: list[LiveSession] = []
        for shard in _from_another(self._number):
            found = self._found(shard, running)
            for session in self._in_turn(found.lost):
                if self._deps.unreadable.has(session):
                    last.append(session)
                else:
                    self._look(session)
            last += found.at_work
        for session in self._in_turn(last):
            self._look(session)
        if self._error is not None and not self._pages:
            raise self._error
        return self._tally

    def _running(self) -> frozenset[str]:
        """The sessions with an execution, as far as they can be told. One that is missing here is looked at needlessly;
        what is found there decides.
        """
        found: set[str] = set()
        try:
            for session_id in islice(self._deps.workflow.running(), MOST_LISTED):
                found.add(session_id)
        except Exception as error:
            self._met(error, "executions")
        return frozenset(found)

    def _found(self, shard: int | None, running: frozenset[str]) -> _Found:
        found = _Found([], [])
        for kind, before in self._wanted.items():
            # Where no kind `woken` was written, a woken session is an active one like any other.
            may_be_woken = kind == "woken" or (kind == "active" and shard is None)
            for session in self._live(kind, shard, before):
                if kind == "active" and self._is_young(session):
                    continue
                if kind == "woken" or session.session_id not in running:
                    found.lost.append(session)
                elif may_be_woken or self._everything:
                    found.at_work.append(session)
        return found

    def _is_young(self, session: LiveSession) -> bool:
        """Whether an active session is left to the worker it may have. One with a time ahead has none: it is parked."""
        late = self._now - timedelta(seconds=self._deps.grace)
        return not self._everything and late <= session.at <= self._now + SKEW

    @property
    def _wanted(self) -> Mapping[LiveKind, datetime | None]:
        """The kinds to read, and the time before which a session's has to be; None: any."""
        if self._everything:
            return dict.fromkeys(get_args(LiveKind))
        soon = self._now + timedelta(seconds=self._deps.warn) + LEAD
        decided = self._now - timedelta(seconds=min(self._deps.grace, WAKE_SECONDS))
        return {"woken": decided, "active": self._now + LEAD, "waiting": soon}

    def _live(self, kind: LiveKind, shard: int | None, before: datetime | None) -> Iterator[LiveSession]:
        cursor: str | None = None
        while True:
            if not self._deps.time_is_left():
                self._count("unread")
                return
            try:
                page = self._deps.session_index.live(kind, shard, before=before, limit=PAGE, cursor=cursor)
            except Exception as error:
                self._met(error, "index")
                return
            self._pages += 1
            self._count(*["unreadable"] * page.damaged)
            yield from page.sessions
            cursor = page.cursor
            if cursor is None:
                return

    def _look(self, session: LiveSession) -> None:
        unreadable = self._deps.unreadable
        if not self._everything and not unreadable.is_due(session, self._now):
            self._count("put_off")
            return
        if not self._deps.time_is_left():
            self._count("left")
            return
        self._count("looked")
        outcome: RecoveryResult
        try:
            deps, tenant, session_id = self._deps, session.tenant, session.session_id
            outcome = recover(
                deps.repository, deps.workflow, tenant, session_id, limits=deps.limits, warn=deps.warn
            )
        except (SessionNotFound, Fenced):  # deleted; the index is a moment behind
            outcome = "nothing"
        except Exception as error:  # whatever it is, it is this session's alone
            self._met(error, session.session_id)
            if is_away(error):
                unreadable.unanswered(session, self._now)
            else:
                unreadable.failed(session, self._now)
            return
        unreadable.forget(session)
        if outcome != "nothing":
            self._count(outcome)

    def _met(self, error: Exception, what: str) -> None:
        self._error = error
        self._deps.told(what, error)
        self._count("unanswered" if is_away(error) else "unreadable")

    def _in_turn(self, sessions: Iterable[LiveSession]) -> list[LiveSession]:
        """In an order of this scan's own, so that with too many of them none is always among the last."""
        return sorted(sessions, key=lambda one: crc32(f"{self._number}/{one.session_id}".encode()))

    def _count(self, *names: str) -> None:
        self._tally = self._tally.plus(*names)


def _from_another(number: int) -> tuple[int | None, ...]:
    """All shards. Each scan begins with another one than the scan before."""
    start = number % len(SHARDS)
    return (*SHARDS[start:], *SHARDS[:start])

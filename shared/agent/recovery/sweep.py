"""Finds, each minute, the sessions whose execution is gone and those whose wake-up was lost (design §2).

It is the net below `recover`'s other caller: executions that end are told of at once. So what it has to withstand
matters more than how soon it finds something. Nothing that one request meets stops the others: not a throttled page of
the index, nor a list of executions that breaks off, nor a session that cannot be read. What there was no time for has
its chance in the next scan, which begins with another shard and goes through each in another order. Where very many are
lost other invocations go on with a part, and nobody asks for their executions one by one (ADR 108).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import islice
from threading import Lock
from typing import NamedTuple, get_args
from zlib import crc32

from shared.agent.recovery.recover import RecoveryResult, recover
from shared.agent.recovery.unreadable import Unreadable, is_away
from shared.agent.session.parking import LEAD
from shared.agent.session.repository import SessionRepository
from shared.domain.errors import Fenced, SessionNotFound
from shared.domain.rules.outage import DEFAULT_LIMITS, OutageLimits
from shared.ports.deployment.recovery_scans import Tally
from shared.ports.deployment.recovery_workers import LostSessions, RecoveryWorkers
from shared.ports.log import LIVE_SHARDS, LiveKind, LiveSession, SessionIndex, SessionName
from shared.ports.workflow import Workflow

PAGE = 1_000
WAKE_SECONDS = 5.0
"""For so long after a decision the one who decided is left to wake the execution."""
SKEW = timedelta(seconds=5)
"""How far the clock of whoever made a session active may be ahead."""
SCAN_SECONDS = 60
SHARDS: tuple[int | None, ...] = (*range(LIVE_SHARDS), None)
"""None: the entries that commits in the version before wrote (`SHARDED_SINCE`)."""
MOST_LISTED = 100_000
"""Running executions that are asked for. The list may not take the time that the sessions need."""
FEW = 300
"""Lost sessions whose executions are asked for one by one: as often as the engine allows it at once."""
MOST_FOUND = 100_000
"""Lost sessions that one scan finds. The next one begins with another shard."""
AGAIN_SECONDS = 2.0
"""The longest pause before sessions are tried again that AWS was in the way of."""

Told = Callable[[str, Exception], None]


class SweepDeps(NamedTuple):
    """What a sweep needs. `grace`: seconds for which a session is left to the worker it may have
    (`Settings.recovery_grace_seconds`). `warn`: seconds before its end at which a wait is looked after
    (`Settings.intervention_warn_seconds`). `time_is_left`: whether another request can be made. `unreadable`: what the
    scans before this one could not read. `told`: is called with each error and what it was met at: a session's id,
    `index` or `executions`. `limits`: as in `restart`. `workers`: what goes on with a part where very many are lost;
    None: nothing does. `threads`: sessions that are looked at at once. `pace`: waits until another may be. `shared`:
    is told how many sessions another invocation goes on with.
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
    workers: RecoveryWorkers | None = None
    threads: int = 1
    pace: Callable[[], None] = lambda: None
    shared: Callable[[int], None] = lambda sessions: None


def sweep(deps: SweepDeps, *, everything: bool = False) -> Tally:
    """Recovers every session that needs it, as far as there is time, and returns what it did.

    `everything`: looks at every live session, however young, at those that wait for people without a deadline, and at
    those that are at work. Raises what the index raises where not one page of it could be read.
    """
    return _Scan(deps, everything).made()


def recover_lost(deps: SweepDeps, lost: LostSessions) -> Tally:
    """Goes on with sessions that a scan has handed over. Those that AWS was in the way of are tried again while there
    is time.
    """

    def time_is_left() -> bool:
        return deps.repository.clock.now() < lost.until and deps.time_is_left()

    return _Scan(deps._replace(time_is_left=time_is_left), everything=False).looked_at(lost)


class _Found(NamedTuple):
    """Sessions of one shard. `woken`: perhaps without a wake-up. `lost`: without an execution. `at_work`: whose
    execution runs, and that are looked at all the same.
    """

    woken: list[LiveSession]
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
        self._lock = Lock()
        self._is_whole = True
        self._listed_at: datetime | None = None

    def made(self) -> Tally:
        """Without others, a shard's sessions are looked at before the next shard is read. With them the whole index is
        read first, since what is to be shared out has to be known.
        """
        running = self._running()
        lost: list[LiveSession] = []
        last: list[LiveSession] = []
        shares = self._deps.workers is not None and not self._everything
        for shard in _from_another(self._number):
            found = self._found(shard, running)
            for session in self._in_turn(found.woken + found.lost if not shares else found.woken):
                if self._deps.unreadable.has(session):
                    last.append(session)
                else:
                    self._look(session)
            if shares:
                lost += found.lost
            last += found.at_work
            if len(lost) >= MOST_FOUND:
                break
        self._share(lost, last)
        for session in self._in_turn(last):
            self._look(session)
        if self._error is not None and not self._pages:
            raise self._error
        return self._tally

    def looked_at(self, lost: LostSessions) -> Tally:
        self._listed_at = lost.listed_at
        wanted = [LiveSession(*name, self._now) for name in lost.sessions]
        while True:
            self._look_at_each(wanted)
            wanted = [session for session in wanted if self._deps.unreadable.is_away(session)]
            if not wanted or not self._deps.time_is_left():
                return self._tally
            self._deps.repository.clock.back_off(AGAIN_SECONDS)

    def _share(self, lost: list[LiveSession], last: list[LiveSession]) -> None:
        """Looks at the lost sessions; those that could not be read before come to `last`. Where they are very many and
        the list of executions is whole, others go on with a part.
        """
        mine: list[LiveSession] = []
        for session in self._in_turn(lost):
            (last if self._deps.unreadable.has(session) else mine).append(session)
        workers = self._deps.workers
        if workers is not None and len(mine) > FEW and self._is_whole:
            self._listed_at = self._now
            mine = self._handed_over(workers, mine)
        self._look_at_each(mine)
        self._listed_at = None

    def _handed_over(self, workers: RecoveryWorkers, lost: list[LiveSession]) -> list[LiveSession]:
        """What is left for this scan."""
        until = self._now + timedelta(seconds=SCAN_SECONDS)
        own, others = lost[: workers.share], lost[workers.share : workers.share * (workers.most + 1)]
        self._count(*["left"] * (len(lost) - len(own) - len(others)))
        for start in range(0, len(others), workers.share):
            part = others[start : start + workers.share]
            try:
                names = [SessionName(one.tenant, one.session_id) for one in part]
                workers.hand_over(LostSessions(names, self._now, until))
            except Exception as error:
                self._met(error, "workers")
                self._count(*["left"] * (len(others) - start))
                break
            self._deps.shared(len(part))
        return own

    def _look_at_each(self, sessions: Sequence[LiveSession]) -> None:
        """The first alone: it makes the clients that all use."""
        for session in sessions[:1]:
            self._look(session)
        if self._deps.threads == 1:
            for session in sessions[1:]:
                self._look(session)
            return
        with ThreadPoolExecutor(self._deps.threads) as threads:
            for _ in threads.map(self._look, sessions[1:]):
                pass

    def _running(self) -> frozenset[str]:
        """The sessions with an execution, as far as they can be told. One that is missing here is looked at needlessly;
        what is found there decides.
        """
        found: set[str] = set()
        try:
            for session_id in islice(self._deps.workflow.running(), MOST_LISTED):
                found.add(session_id)
        except Exception as error:
            self._is_whole = False
            self._met(error, "executions")
        self._is_whole = self._is_whole and len(found) < MOST_LISTED
        return frozenset(found)

    def _found(self, shard: int | None, running: frozenset[str]) -> _Found:
        found = _Found([], [], [])
        for kind, before in self._wanted.items():
            # Where no kind `woken` was written, a woken session is an active one like any other.
            may_be_woken = kind == "woken" or (kind == "active" and shard is None)
            for session in self._live(kind, shard, before):
                if kind == "active" and self._is_young(session):
                    continue
                if kind == "woken":
                    found.woken.append(session)
                elif session.session_id not in running:
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
        self._deps.pace()
        self._count("looked")
        outcome: RecoveryResult
        try:
            deps, tenant, session_id = self._deps, session.tenant, session.session_id
            outcome = recover(
                deps.repository,
                deps.workflow,
                tenant,
                session_id,
                limits=deps.limits,
                warn=deps.warn,
                listed_at=self._listed_at,
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
        with self._lock:
            for name, more in Counter(names).items():
                self._tally = self._tally._replace(**{name: getattr(self._tally, name) + more})


def _from_another(number: int) -> tuple[int | None, ...]:
    """All shards. Each scan begins with another one than the scan before."""
    start = number % len(SHARDS)
    return (*SHARDS[start:], *SHARDS[:start])

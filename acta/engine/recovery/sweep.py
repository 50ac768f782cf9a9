"""Finds, each minute, the sessions whose execution is gone and those whose wake-up was lost
(docs/design/recovery.md 28).

AWS reports executions that end at once, and `recover_ended` goes on with them; this is the net below. So what it has
to withstand matters more than how soon it finds something. Nothing that one request meets stops the others: not a
throttled page of the index, nor a list of executions that breaks off, nor a session that cannot be read. What there
was no time for has its chance in the next scan, which begins with another shard and goes through the sessions in
another order. Where very many are lost other invocations go on with a part, and nobody asks for their executions one
by one (ADR 108).

A session that is damaged, or that another release wrote, is looked at last, and less and less often (`Unreadable`). A
process remembers those for as long as it lives; a new process tries each of them once more.

Two rounds have an invocation each (ADR 116). `due` is the one that sessions depend on: it looks at those that are not
in the list of running executions. `woken` has to ask for an execution for each session, which AWS allows seldom.
"""

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from itertools import islice
from threading import Lock
from typing import Literal, NamedTuple, get_args
from zlib import crc32

from acta.engine.app import App
from acta.engine.errors import Fenced, SchemaUnknown, SessionNotFound, TransientError
from acta.engine.log.store import LIVE_SHARDS, LiveKind, LiveSession, SessionName
from acta.engine.recovery.recover import RecoveryResult, recover
from acta.engine.recovery.store import LostSessions, RecoveryWorkers, RoundCounts
from acta.engine.turn.engine import LEAD

LONGEST_PAUSE = timedelta(hours=1)
MOST_REMEMBERED = 10_000

_Name = tuple[str, str]


class _Failure(NamedTuple):
    times: int
    """How often in a row the session could not be read."""
    due: datetime
    """When it is looked at again."""
    away: bool = False
    """The last time, AWS was the reason and not the session."""


class Unreadable:
    """The sessions that could not be read, and when each is tried again. Where there are too many, those that failed
    longest ago are forgotten. Several threads may use it.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._failures: OrderedDict[_Name, _Failure] = OrderedDict()

    def has(self, session: LiveSession) -> bool:
        return _name(session) in self._failures

    def is_away(self, session: LiveSession) -> bool:
        """Whether AWS was in the way when the session was looked at last."""
        failure = self._failures.get(_name(session))
        return failure is not None and failure.away

    def is_due(self, session: LiveSession, now: datetime) -> bool:
        failure = self._failures.get(_name(session))
        return failure is None or failure.due <= now

    def failed(self, session: LiveSession, now: datetime) -> None:
        """The session cannot be read: the pause doubles, from a minute to `LONGEST_PAUSE`."""
        before = self._failures.pop(_name(session), _Failure(0, now))
        pause = min(LONGEST_PAUSE, timedelta(minutes=2 ** min(before.times, 10)))
        self._remember(session, _Failure(before.times + 1, now + pause))

    def unanswered(self, session: LiveSession, now: datetime) -> None:
        """AWS did not answer for the session this time. That may be over in a minute, so it is due at once."""
        before = self._failures.pop(_name(session), _Failure(0, now))
        self._remember(session, before._replace(due=now, away=True))

    def forget(self, session: LiveSession) -> None:
        self._failures.pop(_name(session), None)

    def _remember(self, session: LiveSession, failure: _Failure) -> None:
        with self._lock:
            self._failures[_name(session)] = failure
            while len(self._failures) > MOST_REMEMBERED:
                self._failures.popitem(last=False)


def is_away(error: Exception) -> bool:
    """Whether AWS is the reason, and not the session: it may answer in a minute."""
    return isinstance(error, TransientError) and not isinstance(error, SchemaUnknown)


def _name(session: LiveSession) -> _Name:
    return session.tenant, session.session_id


Sought = Literal["due", "woken", "everything"]
"""`due`: sessions whose time has come, and active ones without an execution. `woken`: those whose last question is
decided, whose execution may wait on. `everything`: every live session, for an operator: however young, at work, or
waiting for people without a deadline."""

PAGE = 1_000
WAKE_SECONDS = 5.0
"""For this long after a decision, waking the execution is left to the request that made the decision."""
SKEW = timedelta(seconds=5)
"""How far the clock of the worker that made a session active may be ahead."""
SCAN_SECONDS = 60
MOST_LISTED = 100_000
"""Running executions that are asked for. The list may not take the time that the sessions need."""
ASKED_ONE_BY_ONE = 300
"""Up to so many lost sessions, the engine is asked for each execution. It allows so many requests at once."""
MOST_FOUND = 100_000
"""Sessions that one scan finds. The next one begins with another shard."""
AGAIN_SECONDS = 2.0
"""The longest pause before sessions are tried again for which AWS did not answer."""

OnError = Callable[[str, Exception], None]


class SweepDeps(NamedTuple):
    app: App
    unreadable: Unreadable
    """What the scans before this one could not read."""
    time_is_left: Callable[[], bool] = lambda: True
    """Whether another request can be made."""
    on_error: OnError = lambda subject, error: None
    """Is called with each error and what it was met at: a session's id, `index`, `executions` or `workers`."""
    threads: int = 1
    """Sessions that are looked at at once."""
    pace: Callable[[], None] = lambda: None
    """Waits until another session may be looked at."""


def sweep(deps: SweepDeps, sought: Sought = "due") -> RoundCounts:
    """Recovers every session that is sought and needs it, as far as there is time, and returns what it did. Raises what
    the index raises if not one page of it could be read.
    """
    return _Scan(deps, sought).run()


def recover_lost(deps: SweepDeps, lost: LostSessions) -> RoundCounts:
    """Goes on with sessions that a scan has handed over. While there is time, it tries those again for which AWS did
    not answer.
    """

    def time_is_left() -> bool:
        return deps.app.repository.clock.now() < lost.until and deps.time_is_left()

    return _Scan(deps._replace(time_is_left=time_is_left), "due").run_on(lost)


class _Scan:
    def __init__(self, deps: SweepDeps, sought: Sought) -> None:
        self._app, self._deps = deps.app, deps
        self._sought = sought
        self._now = deps.app.repository.clock.now()
        self._number = int(self._now.timestamp() // SCAN_SECONDS)
        self._counts: Counter[str] = Counter()
        self._pages = 0
        self._error: Exception | None = None
        self._lock = Lock()
        self._list_is_whole = self._sought == "due"
        self._listed_at: datetime | None = None

    def run(self) -> RoundCounts:
        found, at_work = self._found()
        readable: list[LiveSession] = []
        last: list[LiveSession] = []
        for session in found:
            (last if self._deps.unreadable.has(session) else readable).append(session)
        workers = self._app.recovery_workers
        if workers is not None and len(readable) > ASKED_ONE_BY_ONE and self._list_is_whole:
            self._listed_at = self._now
            readable = self._handed_over(workers, readable)
        self._look_at_each(readable)
        self._listed_at = None
        self._look_at_each(last + at_work)
        if self._error is not None and not self._pages:
            raise self._error
        return self._tally()

    def run_on(self, lost: LostSessions) -> RoundCounts:
        self._listed_at = lost.listed_at
        wanted = [LiveSession(*name, self._now) for name in lost.sessions]
        while True:
            self._look_at_each(wanted)
            wanted = [session for session in wanted if self._deps.unreadable.is_away(session)]
            if not wanted or not self._deps.time_is_left():
                return self._tally()
            self._app.repository.clock.back_off(AGAIN_SECONDS)

    def _found(self) -> tuple[list[LiveSession], list[LiveSession]]:
        """The sessions to look at, and those at work that an operator wants looked at, too. In an order of this scan's
        own, so that with too many of them none is always among the last; but what has a deadline comes first.
        """
        running = frozenset() if self._sought == "woken" else self._running()
        timed: list[LiveSession] = []
        others: list[LiveSession] = []
        at_work: list[LiveSession] = []
        begins, kinds = self._number % LIVE_SHARDS, self._kinds()
        for shard in (*range(begins, LIVE_SHARDS), *range(begins)):
            for kind, before in kinds.items():
                for session in self._live(kind, shard, before):
                    if session.session_id in running:
                        at_work.append(session)
                    elif kind == "waiting" or session.at > self._now + SKEW:
                        timed.append(session)
                    elif kind != "active" or not self._is_young(session):
                        others.append(session)
            if len(timed) + len(others) >= MOST_FOUND:
                break
        found = self._in_turn(timed) + self._in_turn(others)
        return found, self._in_turn(at_work) if self._sought == "everything" else []

    def _kinds(self) -> Mapping[LiveKind, datetime | None]:
        """The kinds to read, and the time before which a session's has to be; None: any."""
        match self._sought:
            case "everything":
                return dict.fromkeys(get_args(LiveKind))
            case "woken":
                return {
                    "woken": self._now
                    - timedelta(seconds=min(self._app.settings.recovery_grace_seconds, WAKE_SECONDS))
                }
            case "due":
                soon = self._now + timedelta(seconds=self._app.settings.intervention_warn_seconds) + LEAD
                return {"waiting": soon, "active": self._now + LEAD}

    def _running(self) -> frozenset[str]:
        """The sessions with an execution, as far as they can be told. One that is missing here is looked at needlessly;
        what is found there decides.
        """
        found: set[str] = set()
        try:
            for session_id in islice(self._app.workflow.running(), MOST_LISTED):
                found.add(session_id)
        except Exception as error:
            self._list_is_whole = False
            self._met(error, "executions")
        self._list_is_whole = self._list_is_whole and len(found) < MOST_LISTED
        return frozenset(found)

    def _is_young(self, session: LiveSession) -> bool:
        """Whether an active session is left to the worker it may have."""
        late = self._now - timedelta(seconds=self._app.settings.recovery_grace_seconds)
        return self._sought != "everything" and late <= session.at

    def _live(self, kind: LiveKind, shard: int, before: datetime | None) -> Iterator[LiveSession]:
        cursor: str | None = None
        while True:
            if not self._deps.time_is_left():
                self._count("unread")
                return
            try:
                page = self._app.session_index.live(kind, shard, before=before, limit=PAGE, cursor=cursor)
            except Exception as error:
                self._met(error, "index")
                return
            self._pages += 1
            self._count("unreadable", page.damaged)
            yield from page.sessions
            cursor = page.cursor
            if cursor is None:
                return

    def _in_turn(self, sessions: Iterable[LiveSession]) -> list[LiveSession]:
        return sorted(sessions, key=lambda one: crc32(f"{self._number}/{one.session_id}".encode()))

    def _handed_over(self, workers: RecoveryWorkers, lost: list[LiveSession]) -> list[LiveSession]:
        """Hands parts to other invocations, and returns what is left for this scan."""
        until = self._now + timedelta(seconds=SCAN_SECONDS)
        own, others = lost[: workers.share], lost[workers.share : workers.share * (workers.most + 1)]
        self._count("left", len(lost) - len(own) - len(others))
        for start in range(0, len(others), workers.share):
            names = [SessionName(one.tenant, one.session_id) for one in others[start : start + workers.share]]
            try:
                workers.hand_over(LostSessions(names, self._now, until))
            except Exception as error:
                self._met(error, "workers")
                self._count("left", len(others) - start)
                break
        return own

    def _look_at_each(self, sessions: Sequence[LiveSession]) -> None:
        """Looks at the first session alone, because that makes the clients that all threads use."""
        for session in sessions if self._deps.threads == 1 else sessions[:1]:
            self._look(session)
        if self._deps.threads > 1:
            with ThreadPoolExecutor(self._deps.threads) as threads:
                for _ in threads.map(self._look, sessions[1:]):
                    pass

    def _look(self, session: LiveSession) -> None:
        deps, unreadable = self._deps, self._deps.unreadable
        if self._sought != "everything" and not unreadable.is_due(session, self._now):
            self._count("put_off")
            return
        if not deps.time_is_left():
            self._count("left")
            return
        deps.pace()
        self._count("looked")
        outcome: RecoveryResult
        try:
            outcome = recover(
                self._app.repository,
                self._app.workflow,
                session.tenant,
                session.session_id,
                limits=self._app.settings.outage_limits,
                warn=self._app.settings.intervention_warn_seconds,
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
        self._deps.on_error(what, error)
        self._count("unanswered" if is_away(error) else "unreadable")

    def _count(self, name: str, more: int = 1) -> None:
        with self._lock:
            self._counts[name] += more

    def _tally(self) -> RoundCounts:
        return RoundCounts(**self._counts)

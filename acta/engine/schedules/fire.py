"""Starts the sessions of schedules whose time has come, each minute (docs/design/schedules.md).

A time is settled in two steps: its session is started, then the schedule moves on and its history says what became of
the time. A worker that dies in between leaves the schedule where it was. The next one starts the same session, which is
there already, and moves on. The schedule moves only from the revision that was read, so two rounds at once count
nothing twice.
"""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from typing import Literal, NamedTuple

from acta.engine.agents.store import DefinitionChanged, Definitions
from acta.engine.bound_tenant import bound_to
from acta.engine.errors import CallerError, Conflict, LimitReached, PoisonedSession, SessionNotFound
from acta.engine.log.beside import AttemptStore
from acta.engine.log.commit import IdempotencyKey
from acta.engine.log.head import Head, Origin, SessionSettings
from acta.engine.log.repository import SessionRepository
from acta.engine.people.requester import Requester
from acta.engine.schedules.schedule import (
    FAILS_AFTER,
    LATE,
    MAX_CAUGHT_UP,
    MAX_QUEUED,
    SHARDS,
    DueSchedule,
    Schedule,
    ScheduleRun,
    ScheduleStore,
)
from acta.engine.sessions.control import cancel
from acta.engine.sessions.woken import WokenSession, start_woken, woken_id
from acta.engine.settings import Settings
from acta.engine.turn.engine import Workflow

MOST_DUE = 1_000
"""Schedules of one part that one round looks at."""
MOST_TIMES = 100
"""Times of one schedule that one round settles."""
THREADS = 4

STILL_OPEN = "The session before is still open."
QUEUE_FULL = f"{MAX_QUEUED} times wait for the session before to end already."
TOO_LATE = (
    "No session could be started within ten minutes of this time. It was left out, and so were the times after it up "
    "to the next one here."
)

Told = Callable[[str, str, int], None]
"""Is called with a tenant and the id of a schedule of which a time fails, and how many have failed in a row."""


class FireDeps(NamedTuple):
    repository: SessionRepository
    workflow: Workflow
    definitions: Definitions
    schedules: ScheduleStore
    attempts: AttemptStore
    settings: Settings
    time_is_left: Callable[[], bool] = lambda: True
    on_error: Callable[[str, Exception], None] = lambda subject, error: None
    """Is called with each error and the id of the schedule that it was met at, or `index`."""
    told: Told = lambda tenant, schedule_id, in_a_row: None
    threads: int = 1


def fire_due(deps: FireDeps) -> Counter[str]:
    """Settles every time that has come, as far as there is time, and returns how many had which outcome. `again` counts
    schedules that met an error, `left` those for which no time was left: the next round looks at both again.
    """
    now, found = deps.repository.clock.now(), list[DueSchedule]()
    for number in range(SHARDS):
        try:
            found += deps.schedules.due((now.minute + number) % SHARDS, now, MOST_DUE)
        except Exception as error:
            deps.on_error("index", error)
    with ThreadPoolExecutor(deps.threads) as threads:
        return sum(threads.map(lambda each: _fired(deps, each), found), Counter[str]())


def _fired(deps: FireDeps, due: DueSchedule) -> Counter[str]:
    counts = Counter[str]()
    with bound_to(due.tenant):
        try:
            for _ in range(MOST_TIMES):
                if not deps.time_is_left():
                    counts["left"] += 1
                    break
                schedule = deps.schedules.get(due.tenant, due.schedule_id)
                run = None if schedule is None else _settle(deps, due.tenant, schedule)
                if run is None:
                    break
                counts[run.outcome] += 1
        except Exception as error:  # whatever it is, it is this schedule's alone
            deps.on_error(due.schedule_id, error)
            counts["again"] += 1
    return counts


def _settle(deps: FireDeps, tenant: str, schedule: Schedule) -> ScheduleRun | None:
    """Settles the schedule's first time that has come. None: there is none, or it has to wait."""
    now = deps.repository.clock.now()
    if schedule.paused:
        return None
    last = _last_session(deps, tenant, schedule)
    read, schedule = schedule, _with_end_counted(schedule, last)

    def moved(run: ScheduleRun, **fields: object) -> ScheduleRun:
        _move(deps, tenant, read, schedule.after(run, **fields), run)
        return run

    is_open = last is not None and last.is_open
    if schedule.queued and not is_open:
        waited = _started(deps, tenant, schedule, schedule.queued[0], now, is_late=False)
        return None if waited is None else moved(waited, queued=schedule.queued[1:])
    tick = schedule.next_at
    if tick is None or tick > now:
        return None
    is_late = tick < now - LATE
    if is_late and (first := _first_made_up(schedule, tick, now)) != tick:
        return moved(ScheduleRun(tick=tick, at=now, outcome="missed", reason=TOO_LATE), next_at=first)
    following = next(schedule.times.after(tick), None)
    if is_open and schedule.overlap in ("skip", "queue"):
        waits = schedule.overlap == "queue" and len(schedule.queued) < MAX_QUEUED
        outcome: Literal["queued", "skipped"] = "queued" if waits else "skipped"
        reason = QUEUE_FULL if schedule.overlap == "queue" and not waits else STILL_OPEN
        left_out = ScheduleRun(tick=tick, at=now, outcome=outcome, reason=reason)
        return moved(left_out, next_at=following, queued=(*schedule.queued, *[tick][: int(waits)]))
    if last is not None and schedule.overlap == "cancel":
        ended = _cancelled(deps, tenant, schedule, last) if is_open else last
        if ended.owes_family:  # the engine is ending the sessions below it: the next round looks again
            return None
    run = _started(deps, tenant, schedule, tick, now, is_late=is_late)
    return None if run is None else moved(run, next_at=following)


def _first_made_up(schedule: Schedule, tick: datetime, now: datetime) -> datetime | None:
    """The first time that is not missed of those that came from `tick` on."""
    times, on_time = schedule.times, now - LATE
    match schedule.catch_up:
        case "none":
            return next(times.after(on_time), None)
        case "last":
            found = times.last(tick, now, 1)
            return found[0] if found[0] < on_time else next(times.after(on_time), None)
        case "all":
            return times.last(tick, now, MAX_CAUGHT_UP)[0]


def _last_session(deps: FireDeps, tenant: str, schedule: Schedule) -> Head | None:
    """None: there was none, it was deleted, or it is damaged."""
    with suppress(SessionNotFound, PoisonedSession):
        return deps.repository.newest(tenant, schedule.last_session).head if schedule.last_session else None
    return None


def _with_end_counted(schedule: Schedule, last: Head | None) -> Schedule:
    """With the end of its last session in its failures, where that has not been counted. One that was cancelled neither
    failed nor went well.
    """
    if last is None or not last.is_over or schedule.counted_session == last.session_id:
        return schedule
    ends = {"failed": schedule.failures + 1, "completed": 0}
    failures = ends.get(last.state, schedule.failures)
    return schedule.model_copy(update={"counted_session": last.session_id, "failures": failures})


def _cancelled(deps: FireDeps, tenant: str, schedule: Schedule, last: Head) -> Head:
    requester = Requester(tenant, schedule.created_by, frozenset(schedule.roles))
    with suppress(Conflict, SessionNotFound):  # it has ended meanwhile
        return cancel(
            deps.repository,
            deps.workflow,
            requester,
            last.session_id,
            deps.attempts,
            deps.settings.token_window_seconds,
        )
    return last


def _started(
    deps: FireDeps, tenant: str, schedule: Schedule, tick: datetime, now: datetime, *, is_late: bool
) -> ScheduleRun | None:
    """None: the tenant's limits allow no further session now. Then it is tried again each minute, until the time is
    late. Raises what the stores and the engine raise.
    """
    made = schedule.created_at.isoformat()
    session_id = woken_id(tick, "schedule", tenant, schedule.schedule_id, made, tick.isoformat())
    try:
        start_scheduled(deps, tenant, schedule, tick, session_id)
    except LimitReached as refused:
        return ScheduleRun(tick=tick, at=now, outcome="refused", reason=str(refused)) if is_late else None
    except CallerError as failed:
        return ScheduleRun(tick=tick, at=now, outcome="failed", reason=str(failed))
    return ScheduleRun(tick=tick, at=now, outcome="started", session_id=session_id)


def start_scheduled(
    deps: FireDeps,
    tenant: str,
    schedule: Schedule,
    at: datetime,
    session_id: str,
    key: IdempotencyKey | None = None,
) -> Head:
    """Starts the session that stands for this time. `key`: of the request that asks for it now. Raises what
    `start_woken` raises.
    """
    visibility = schedule.visibility or deps.settings.default_visibility
    settings = SessionSettings(visibility=visibility, metadata=schedule.metadata)
    woken = WokenSession(
        tenant,
        session_id,
        Origin(kind="schedule", id=schedule.schedule_id, at=at),
        schedule.agent_id,
        schedule.goal_at(at),
        schedule.created_by,
        frozenset(schedule.roles),
        settings,
        schedule.limit_values,
        key=key,
    )
    return start_woken(deps.repository, deps.workflow, deps.definitions, deps.settings, woken)


def _move(deps: FireDeps, tenant: str, read: Schedule, new: Schedule, run: ScheduleRun) -> None:
    """Moves the schedule on, and writes the run into its history.

    Where somebody else was faster, it was another round, which has settled the same time, or a person who has changed
    the schedule. Then the session that was started is noted if the time does not come any more; else the next look at
    the schedule finds that session.
    """
    try:
        deps.schedules.replace(tenant, read, new, [run])
    except DefinitionChanged:
        there = deps.schedules.get(tenant, read.schedule_id)
        if there is None or there.created_at != read.created_at or there.last_session == run.session_id:
            return
        if run.session_id and (there.next_at is None or there.next_at > run.tick):
            with suppress(DefinitionChanged):
                deps.schedules.replace(tenant, there, there.after(run), [run])
        return
    if new.failures >= FAILS_AFTER and new.failures > read.failures:
        deps.told(tenant, new.schedule_id, new.failures)

"""Schedules as the API answers them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NotRequired, get_args

from acta.engine.agents.answers import AppliedFromView
from acta.engine.api.answers import Counter, Instant, TypedDict, copied, instant
from acta.engine.log.head import Visibility
from acta.engine.schedules import schedule as stored
from acta.engine.schedules.schedule import CatchUp, Outcome, Overlap

if TYPE_CHECKING:
    from datetime import datetime

NEXT_SHOWN = 5


class NamedLimitsView(TypedDict):
    """Limits of each session. Absent: the agent's, else the deployment's."""

    max_steps: NotRequired[int]
    token_budget: NotRequired[int]
    cost_budget_usd: NotRequired[float]


class ScheduleCountsView(TypedDict):
    """How often a time had each outcome."""

    started: Counter
    skipped: Counter
    queued: Counter
    refused: Counter
    failed: Counter
    missed: Counter
    """Stretches of missed times, however many each has."""


class ScheduleView(TypedDict):
    """An agent, a goal, and the times at which sessions with it start."""

    schedule_id: str
    agent_id: str
    goal: str | None
    """null: it is private to somebody else."""
    cron: str | None
    every: str | None
    timezone: str
    start: Instant | None
    end: Instant | None
    overlap: Overlap
    catch_up: CatchUp
    limits: NamedLimitsView
    visibility: Visibility | None
    """Of each session. null: the deployment's default."""
    metadata: dict[str, str] | None
    """null: it is private to somebody else."""
    paused: bool
    created_by: str
    """The subject of whoever wrote it last. Its sessions are theirs."""
    applied: AppliedFromView | None
    """null: no set of files owns it."""
    version: Counter
    """Counts what people wrote."""
    created_at: Instant
    updated_at: Instant
    """When a person wrote it last."""
    next_at: Instant | None
    """The time that comes next. null: there is none any more."""
    waiting: Counter
    """Times that wait for the session before to end."""
    last_at: Instant | None
    """The time of the session that was started last, at its time and not because a person asked for it."""
    last_session: str | None
    """Its id."""
    failures: Counter
    """Times in a row at which no session could be started, or whose session failed."""
    counts: ScheduleCountsView
    next: NotRequired[list[Instant]]
    """Only where one schedule is read: the next five times, also of one that is paused."""


class ScheduleRunView(TypedDict):
    """What became of one time of a schedule."""

    tick: Instant
    """The time that it stands for."""
    at: Instant
    """When it was looked at."""
    outcome: Outcome
    """`started`: its session was started. `skipped`: the session before was open. `queued`: it waits for that one's
    end. `refused`: your tenant's limits allowed no session for ten minutes. `failed`: the session could not be started,
    as `reason` says. `missed`: Acta was away, and this time and those after it were not made up for."""
    session_id: str | None
    reason: str | None
    asked: bool
    """A person asked for it then; else its time had come."""


def schedule_view(schedule: stored.Schedule, *, hidden: bool = False) -> ScheduleView:
    """`hidden`: without what is private to whoever wrote it."""
    private = {"goal": None, "metadata": None} if hidden else {}
    return copied(
        ScheduleView,
        schedule,
        waiting=len(schedule.queued),
        last_session=schedule.last_session or None,
        counts={outcome: schedule.counts.get(outcome, 0) for outcome in get_args(Outcome)},
        **private,
    )


def next_times(schedule: stored.Schedule, now: datetime) -> list[str]:
    return [instant(each) for each in islice(schedule.times.after(now), NEXT_SHOWN)]


def run_view(run: stored.ScheduleRun) -> ScheduleRunView:
    return copied(ScheduleRunView, run, session_id=run.session_id or None, reason=run.reason or None)

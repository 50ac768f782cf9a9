"""Schedules: an agent, a goal, and the times at which sessions with it start (docs/design/schedules.md)."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal, NamedTuple, Protocol
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, BeforeValidator, ConfigDict, Field

from acta.engine.agents.agent import AGENT_ID_PATTERN
from acta.engine.agents.applied import Applied
from acta.engine.limits.caps import LimitValues, NamedLimits
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.log.head import MAX_ROLES, Metadata, Visibility
from acta.engine.schedules.times import Times, wrong_times
from acta.engine.store.schema import FrozenModel
from acta.engine.untrusted.texts import NOT_BLANK, READABLE, BoundedBy
from acta.engine.untrusted.validation_messages import did_you_mean, there_are

SCHEDULE_ID_PATTERN = AGENT_ID_PATTERN
MAX_SCHEDULES = 500
"""Of a tenant."""
LONGEST_GOAL = 10_000
"""Characters; the deployment bounds a message further."""
SHARDS = 4
"""Parts of the index in which schedules are found by time. Each takes a thousand writes a second."""
MAX_QUEUED = 10
"""Times that wait for the session before them to end."""
MAX_CAUGHT_UP = 50
"""Times that are made up for after Acta was away."""
LATE = timedelta(minutes=10)
"""A time that is looked at later than this was missed, and `catch_up` says what becomes of it."""
FAILS_AFTER = 5
"""Failures in a row, after which an operator is told."""

Overlap = Literal["skip", "queue", "cancel", "allow"]
CatchUp = Literal["none", "last", "all"]
Outcome = Literal["started", "skipped", "queued", "refused", "failed", "missed"]

NEVER = "never"
ANY_TIME = datetime(2026, 1, 1, tzinfo=UTC)
"""When a schedule is made makes no difference to whether its times are right."""
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
PLACES: dict[str, Callable[[datetime, datetime | None, str], str]] = {
    "date": lambda at, _, __: f"{at:%Y-%m-%d}",
    "time": lambda at, _, __: f"{at:%H:%M}",
    "weekday": lambda at, _, __: WEEKDAYS[at.weekday()],
    "timezone": lambda _, __, zone: zone,
    "last": lambda _, last, __: NEVER if last is None else last.isoformat(timespec="seconds"),
}
"""What a goal may name in double braces -> its text, from the time, the one before at which a session started, and the
name of the time zone. Both times are on the clocks of that zone."""
_PLACE = re.compile(r"\{\{([^{}]*)\}\}")
NAMES = there_are([*PLACES])


def _moment(value: Any) -> Any:
    """pydantic would also take a number, and a time without an offset."""
    if value is None or isinstance(value, datetime):
        return value
    with suppress(ValueError, TypeError):
        found = datetime.fromisoformat(value)
        if found.tzinfo is not None and found.year >= 1970:
            return found.astimezone(UTC)
    raise ValueError("This is no time with its offset, such as 2027-01-31T09:30:00+01:00")


Moment = Annotated[AwareDatetime, BeforeValidator(_moment)]


class ScheduleSettings(FrozenModel):
    """What the author of a schedule defines. This class is part of the request's body and of the stored document."""

    agent_id: Annotated[str, Field(pattern=AGENT_ID_PATTERN)]
    """The agent whose sessions are started."""
    goal: Annotated[str, Field(max_length=LONGEST_GOAL), BoundedBy("max_message_chars"), READABLE, NOT_BLANK]
    """The goal of each session. `{{date}}`, `{{time}}`, `{{weekday}}` and `{{timezone}}` become the time that the
    session stands for, on the clocks of the time zone; `{{last}}` is the time of the session before, or `never`. A
    session that a person asked for does not count."""
    cron: Annotated[str, Field(max_length=100), READABLE] | None = None
    """Five fields: minute, hour, day of the month, month, day of the week, such as `30 2 * * 1-5`."""
    every: Annotated[str, Field(max_length=40), READABLE] | None = None
    """A rate instead of `cron`, such as `15 minutes`. Days are of 24 hours."""
    timezone: Annotated[str, Field(min_length=1, max_length=64), READABLE] = "UTC"
    """The IANA time zone whose clocks `cron` means, such as `Europe/Berlin`."""
    start: Moment | None = None
    """No session starts before it. A rate counts from here; absent: from when the schedule was made."""
    end: Moment | None = None
    """No session starts after it."""
    overlap: Overlap = "skip"
    """What a time does while the session before is open: it is left out (`skip`), waits for its end (`queue`), cancels
    it (`cancel`), or starts another one beside it (`allow`)."""
    catch_up: CatchUp = "last"
    """What becomes of times at which Acta was away: nothing (`none`), the last one is made up for (`last`), or each of
    the last 50 (`all`)."""
    limits: NamedLimits = Field(default_factory=NamedLimits)
    """Limits of each session. Absent ones are the agent's, else the deployment's."""
    visibility: Visibility | None = None
    """Of each session. `private`: nobody but whoever wrote the schedule sees them, or the schedule's goal. Absent: the
    deployment's default."""
    metadata: Metadata = Field(default_factory=dict)
    """Names and values that each session gets."""
    paused: bool = False
    """No time starts a session."""

    @property
    def times(self) -> Times:
        return Times(self.cron, self.every, self.timezone, ANY_TIME, self.start, self.end)

    def wrong(self) -> dict[str, list[str]]:
        """By field, sentences about what is wrong wherever the schedule is written. Others depend on the deployment."""
        wrong = {field: [sentence] for field, sentence in wrong_times(self.times).items()}
        names = dict.fromkeys(found[1].strip() for found in _PLACE.finditer(self.goal))
        places = [
            f"There is no {{{{{name[:64]}}}}}. {' '.join(dict.fromkeys((did_you_mean(name, PLACES), NAMES)))}"
            for name in names
            if name not in PLACES
        ]
        if "{{" in _PLACE.sub("", self.goal):
            places.append("A `{{` has no `}}`. Write {{date}}, for example.")
        return {**wrong, **({"goal": places} if places else {})}


class Schedule(ScheduleSettings):
    """A schedule of a tenant, and where it stands. Each session is of whoever wrote the schedule last."""

    model_config = ConfigDict(extra="allow")  # what the next release has added is kept, as of a session

    schedule_id: Annotated[str, Field(pattern=SCHEDULE_ID_PATTERN)]
    created_by: str
    """The subject of whoever wrote it last."""
    roles: Annotated[tuple[str, ...], Field(max_length=MAX_ROLES)] = ()
    """Those that this person had then."""
    applied: Applied | None = None
    """The files it came from. None: it was not written by `acta apply`."""
    version: int = 1
    """Counts what people wrote since `created_at`."""
    revision: int = 1
    """Counts all writes since `created_at`."""
    created_at: datetime
    updated_at: datetime
    """When a person wrote it last."""
    next_at: datetime | None = None
    """The time that comes next. None: there is none any more."""
    queued: Annotated[tuple[datetime, ...], Field(max_length=MAX_QUEUED)] = ()
    """Times that wait for the session before them to end, oldest first."""
    last_at: datetime | None = None
    """The time of the session that was started last, at its time and not because a person asked for it."""
    last_session: str = ""
    """Its id. Empty: none was started."""
    counted_session: str = ""
    """The session whose end is in `failures`."""
    failures: int = 0
    """Times in a row at which no session could be started, or whose session failed."""
    counts: dict[Outcome, int] = Field(default_factory=dict)
    """How often a time had each outcome."""

    @property
    def times(self) -> Times:
        return super().times._replace(created=self.created_at)

    @property
    def limit_values(self) -> LimitValues:
        return self.limits.values

    @property
    def looked_at(self) -> datetime | None:
        """When it has to be looked at next. None: it has nothing to do."""
        if self.paused:
            return None
        return self.queued[0] if self.queued else self.next_at

    def goal_at(self, at: datetime) -> str:
        """The goal of the session that stands for this time."""
        zone = ZoneInfo(self.timezone)
        last = None if self.last_at is None else self.last_at.astimezone(zone)
        local = at.astimezone(zone)
        return _PLACE.sub(lambda found: PLACES[found[1].strip()](local, last, self.timezone), self.goal)

    def after(self, run: "ScheduleRun", **fields: Any) -> "Schedule":
        """As it stands once a time had this outcome. `fields`: others that change. A session that a person asked for is
        not the session before of the next time.
        """
        counts = {**self.counts, run.outcome: self.counts.get(run.outcome, 0) + 1}
        is_its_own = run.outcome == "started" and not run.asked
        started = {"last_at": run.tick, "last_session": run.session_id} if is_its_own else {}
        failures = {"failures": self.failures + 1} if run.outcome in ("failed", "refused") else {}
        return self.model_copy(update={"counts": counts, **started, **failures, **fields})


class ScheduleRun(FrozenModel):
    """What became of one time of a schedule."""

    model_config = ConfigDict(extra="allow")

    tick: datetime
    """The time that it stands for."""
    at: datetime
    """When it was looked at."""
    outcome: Outcome
    session_id: str = ""
    """Of the session that was started."""
    reason: str = ""
    """Why none was."""
    asked: bool = False
    """A person asked for it now; else its time had come."""


class RunPage(NamedTuple):
    """Newest first. `cursor` None: this is the last page."""

    runs: tuple[ScheduleRun, ...]
    cursor: str | None


class DueSchedule(NamedTuple):
    tenant: str
    schedule_id: str


class ScheduleStore(Protocol):
    """All methods raise StoreThrottled, StoreUnavailable and AwsDenied, and SchemaUnknown and PoisonedSession for a
    document that cannot be read.
    """

    def get(self, tenant: str, schedule_id: str) -> Schedule | None:
        """Strongly consistent. None: there is no such schedule."""

    def all(self, tenant: str) -> tuple[Schedule, ...]:
        """Sorted by id. A tenant has `MAX_SCHEDULES` at most."""

    def create(self, tenant: str, new: Schedule, record: IdempotencyRecord | None = None) -> None:
        """Raises DefinitionExists, KeyTaken."""

    def replace(
        self, tenant: str, old: Schedule, new: Schedule, runs: Sequence[ScheduleRun] = ()
    ) -> Schedule:
        """Writes it with the next revision, which it returns, and these entries of its history, all or nothing.
        `old`: as it was read. Raises DefinitionChanged.
        """

    def delete(self, tenant: str, old: Schedule) -> None:
        """`old`: as it was read. Raises DefinitionChanged."""

    def runs(self, tenant: str, schedule: Schedule, *, limit: int, cursor: str | None) -> RunPage:
        """The schedule's history. Raises ValueError where the cursor is not valid."""

    def due(self, shard: int, now: datetime, most: int) -> Sequence[DueSchedule]:
        """Schedules of all tenants that have to be looked at by this time, the longest waiting first. Eventually
        consistent. `shard`: which of `SHARDS` is read.
        """

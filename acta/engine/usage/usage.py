"""A tenant's usage: the sums of what its sessions count, by hour and by what was used for whom (ADR 67).

A session's counts only grow or are replaced by later ones, and its commits are numbered. So what two of its heads
differ in is what was used between them, however many commits lie there: a projector that keeps the last head it has
counted can miss commits, meet them again or in another order, and its sums stay exact.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from acta.engine.log.head import Head
from acta.engine.store.schema import FrozenModel
from acta.engine.usage.tally import Done, ModelUse, Tally

HOUR = 3_600
HOURS_OF_DAY = 24

Dimension = Literal["tenant", "agent", "model", "user", "end"]
"""What a row is about. `tenant`: of an hour; all others: of a day (UTC). `end`: how runs ended."""
Standing = Literal["idle", "active", "waiting_for_user", "completed", "failed", "cancelled", "deleted"]
"""Where a session stands."""


class Amounts(NamedTuple):
    """Counts of a row, each with its attribute in the table. Tokens: `fresh` and `cached` input, and output.
    `microdollars`: of model calls with a price; `unpriced`: how many had none. From `runs` on: `Done`. From `idle` on:
    sessions that began in the row's time, by where they stand now. From `runs_completed` on: runs by how they ended.
    The last two: ratings of answers of runs that ended in the row's time, as they are now.
    """

    fresh: Annotated[int, "fr"] = 0
    cached: Annotated[int, "ca"] = 0
    output: Annotated[int, "ou"] = 0
    calls: Annotated[int, "cl"] = 0
    microdollars: Annotated[int, "mi"] = 0
    unpriced: Annotated[int, "un"] = 0
    runs: Annotated[int, "ru"] = 0
    user_messages: Annotated[int, "um"] = 0
    agent_messages: Annotated[int, "am"] = 0
    plans: Annotated[int, "pl"] = 0
    plans_completed: Annotated[int, "pc"] = 0
    asked: Annotated[int, "qa"] = 0
    answered: Annotated[int, "qr"] = 0
    expired: Annotated[int, "qe"] = 0
    withdrawn: Annotated[int, "qw"] = 0
    waited_ms: Annotated[int, "wm"] = 0
    tools_ok: Annotated[int, "tk"] = 0
    tools_failed: Annotated[int, "tf"] = 0
    calling_turns: Annotated[int, "ct"] = 0
    fused_turns: Annotated[int, "ft"] = 0
    fused_calls: Annotated[int, "fc"] = 0
    first_writes: Annotated[int, "fw"] = 0
    waits: Annotated[int, "wa"] = 0
    executions: Annotated[int, "ex"] = 0
    step_ms: Annotated[int, "ms"] = 0
    tool_ms: Annotated[int, "mt"] = 0
    goals_met: Annotated[int, "gm"] = 0
    unaided: Annotated[int, "ua"] = 0
    idle: Annotated[int, "si"] = 0
    active: Annotated[int, "sa"] = 0
    waiting_for_user: Annotated[int, "sw"] = 0
    completed: Annotated[int, "sc"] = 0
    failed: Annotated[int, "sf"] = 0
    cancelled: Annotated[int, "sx"] = 0
    deleted: Annotated[int, "sd"] = 0
    runs_completed: Annotated[int, "rc"] = 0
    runs_failed: Annotated[int, "rf"] = 0
    runs_cancelled: Annotated[int, "rx"] = 0
    rated_up: Annotated[int, "up"] = 0
    rated_down: Annotated[int, "dn"] = 0

    def plus(self, other: "Amounts") -> "Amounts":
        return Amounts(*(one + more for one, more in zip(self, other, strict=True)))

    @property
    def done(self) -> Done:
        return Done(*(getattr(self, name) for name in Done._fields))

    def minus(self, other: "Amounts") -> "Amounts":
        return Amounts(*(one - less for one, less in zip(self, other, strict=True)))


NOTHING = Amounts()


class RowKey(NamedTuple):
    """`at`: hours since 1970 for `tenant`, days for every other dimension. `name`: of the agent, the model, the user's
    pseudonym, the way a run ended; empty for `tenant`.
    """

    dimension: Dimension
    at: int
    name: str = ""


Rows = Mapping[RowKey, Amounts]


class RunRatings(NamedTuple):
    """How many people have rated a run's answer, and how."""

    ended_at: datetime
    up: int
    down: int


class UsageBaseline(FrozenModel):
    """What a session had counted up to a commit: all that the next difference needs. `who`: the pseudonym of who
    started it.
    """

    number: int
    at: datetime
    began: datetime
    agent_id: str
    who: str
    standing: Standing
    amounts: Amounts
    models: dict[str, ModelUse]
    ended: dict[str, int]
    rated: dict[str, RunRatings] = Field(default_factory=dict)
    """By the id of the run."""


def counted(head: Head, number: int, who: str) -> UsageBaseline:
    """`number`: of the commit that the head stands after."""
    usage, tally = head.usage, head.tally
    amounts = Amounts(
        fresh=usage.input_tokens - usage.cached_input_tokens,
        cached=usage.cached_input_tokens,
        output=usage.output_tokens,
        calls=usage.llm_calls,
        microdollars=sum(use.microdollars for use in tally.models.values()),
        unpriced=sum(use.unpriced for use in tally.models.values()),
        runs_completed=_ended(tally, "completed"),
        runs_failed=_ended(tally, "failed"),
        runs_cancelled=_ended(tally, "cancelled"),
        **dict(zip(Done._fields, tally.done, strict=True)),
    )
    return UsageBaseline(
        number=number,
        at=head.updated_at,
        began=head.created_at,
        agent_id=head.agent_id,
        who=who,
        standing="deleted" if head.deleted else head.coarse_state,
        amounts=amounts,
        models=tally.models,
        ended=tally.ended,
        rated={
            each.run_id: RunRatings(each.ended_at, given.count("up"), given.count("down"))
            for each in head.answers
            if (given := [*each.ratings.values()])
        },
    )


def difference(before: UsageBaseline | None, now: UsageBaseline) -> Rows:
    """What `now` adds to the rows, where `before` is in them; empty where `now` is no newer. A part may be below 0: a
    session that stands elsewhere now, a price that is known since.
    """
    if before is not None and now.number <= before.number:
        return {}
    rows: dict[RowKey, Amounts] = {}
    amounts, models, ended, stood = NOTHING, dict[str, ModelUse](), dict[str, int](), NOTHING
    if before is not None:
        amounts, models, ended = before.amounts, before.models, before.ended
        stood = Amounts(**{before.standing: 1})
    _add(rows, _keys(now, now.at), now.amounts.minus(amounts))
    day = day_of(now.at)
    for name in now.models.keys() | models.keys():
        use = _of_model(now.models.get(name)).minus(_of_model(models.get(name)))
        _add(rows, [RowKey("model", day, name)], use)
    for end in now.ended.keys() | ended.keys():
        more = now.ended.get(end, 0) - ended.get(end, 0)
        _add(rows, [RowKey("end", day, end)], Amounts(runs=more))
    for run_id, rated in now.rated.items():  # a run that the head no longer has stays counted
        last = before.rated.get(run_id) if before is not None else None
        up, down = (last.up, last.down) if last is not None else (0, 0)
        _add(rows, _keys(now, rated.ended_at), Amounts(rated_up=rated.up - up, rated_down=rated.down - down))
    _add(rows, _keys(now, now.began), Amounts(**{now.standing: 1}).minus(stood))
    return rows


def _keys(now: UsageBaseline, at: datetime) -> list[RowKey]:
    day = day_of(at)
    return [RowKey("tenant", hour_of(at)), RowKey("agent", day, now.agent_id), RowKey("user", day, now.who)]


def _add(rows: dict[RowKey, Amounts], keys: Iterable[RowKey], more: Amounts) -> None:
    if more != NOTHING:
        for key in keys:
            rows[key] = rows.get(key, NOTHING).plus(more)


def _of_model(use: ModelUse | None) -> Amounts:
    if use is None:
        return NOTHING
    return Amounts(
        fresh=use.input - use.cached,
        cached=use.cached,
        output=use.output,
        calls=use.calls,
        microdollars=use.microdollars,
        unpriced=use.unpriced,
    )


def _ended(tally: Tally, state: str) -> int:
    return sum(count for end, count in tally.ended.items() if end.partition("/")[0] == state)


def hour_of(at: datetime) -> int:
    """Hours since 1970, in UTC."""
    return int(at.timestamp() // HOUR)


def day_of(at: datetime) -> int:
    """Days since 1970, in UTC."""
    return hour_of(at) // HOURS_OF_DAY


def hour_begins(hour: int) -> datetime:
    return datetime.fromtimestamp(hour * HOUR, UTC)


def day_begins(day: int) -> datetime:
    return hour_begins(day * HOURS_OF_DAY)

"""Which runs of a session have ended between two folds of its usage, and what each has used (ADR 77).

A fold is won once for each stretch of a session's commits. So what is told of a stretch after its fold is told once,
however often the stream brings its commits.
"""

from datetime import UTC, datetime
from typing import NamedTuple

from acta_engine.ids import made_at
from acta_engine.log.commit import Commit
from acta_engine.log.head import TERMINAL, UsedBefore
from acta_engine.usage.store import Partition, UsageStore
from acta_engine.usage.usage import Counted

MOST_READ = 300
"""Commits of one session that are looked through for ends of runs."""
AT_ONCE = 10


class EndedRun(NamedTuple):
    """`commit`: the number of the one that ended it. `state`: completed, failed or cancelled. `reason`: of a completed
    run, `code`: of a failed one; both out of fixed sets. `turns`: iterations. `seconds` None: not known. `waits`:
    questions to people, and `waited_seconds` how long they were open, in all.

    `whole`: the figures are the run's; else they are those of all runs of the session up to its end.
    """

    tenant: str
    session_id: str
    run_id: str
    commit: int
    at: datetime
    state: str
    reason: str
    code: str
    goal_met: bool
    generation: int
    turns: int
    tokens: int
    cost_usd: float | None
    seconds: int | None
    waits: int
    waited_seconds: int
    whole: bool

    @property
    def end(self) -> str:
        """As in `Tally.ended`."""
        why = self.reason or self.code.lower()
        return f"{self.state}/{why}" if why else self.state


class Progressed(NamedTuple):
    """What one fold has added of a session. `before`: what was counted of it until then; None: nothing. `unread`: runs
    that ended and of which no more can be read than that: the session is deleted or damaged.
    """

    partition: Partition
    before: Counted | None
    now: Counted
    ended: tuple[EndedRun, ...] = ()
    unread: int = 0


def progressed(store: UsageStore, partition: Partition, before: Counted | None, now: Counted) -> Progressed:
    """Raises what the store raises. Reads nothing unless a run has ended."""
    expected = sum(now.ended.values()) - (sum(before.ended.values()) if before is not None else 0)
    is_tallied = bool(now.ended)
    if expected <= 0 and (is_tallied or now.standing not in TERMINAL):
        return Progressed(partition, before, now)
    wanted = expected if is_tallied else MOST_READ
    after = before.number if before is not None else 0
    found: list[EndedRun] = []
    number, last = now.number, max(after, now.number - MOST_READ)
    while number > last and len(found) < wanted:
        down_to = max(number - AT_ONCE, last)
        for commit in store.commits(partition, range(number, down_to, -1)):
            found += [_ended(commit, each.data) for each in commit.events if each.type == "run.finished"]
        number = down_to
    unread = max(0, expected - len(found)) if is_tallied else 0
    return Progressed(partition, before, now, tuple(reversed(found)), unread)


def _ended(commit: Commit, data: dict[str, object]) -> EndedRun:
    head, run = commit.head, commit.head.run
    now = head.used_so_far
    before = run.before if run is not None and run.before is not None else UsedBefore()
    known = now.cost_usd is not None and before.cost_usd is not None
    began = made_at(run.run_id) if run is not None else None
    ended = commit.at.astimezone(UTC)
    return EndedRun(
        tenant=head.tenant,
        session_id=head.session_id,
        run_id=run.run_id if run is not None else "",
        commit=commit.number,
        at=ended,
        state=str(data.get("state", head.state)),
        reason=str(data.get("reason") or ""),
        code=str(data.get("code") or ""),
        goal_met=data.get("goal_met") is True,
        generation=run.generation if run is not None else 0,
        turns=run.iteration if run is not None else 0,
        tokens=now.tokens - before.tokens,
        cost_usd=round((now.cost_usd or 0.0) - (before.cost_usd or 0.0), 6) if known else None,
        seconds=None if began is None else max(0, round(ended.timestamp() - began / 1_000)),
        waits=now.asked - before.asked,
        waited_seconds=round((now.waited_ms - before.waited_ms) / 1_000),
        whole=(run is not None and run.before is not None) or head.tally.done.runs <= 1,
    )

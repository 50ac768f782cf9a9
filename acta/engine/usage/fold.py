"""Adds what sessions have counted since the last time to the usage of their tenants (ADR 67), and finds the runs that
have ended since then (ADR 77).

The stream says which commits there are, and a commit's head has all counts up to it. So the newest commit that a batch
names of a session and an hour stands for all before it, and what was counted of the session last says how much is new.
A write is made on the condition that nobody has counted the session meanwhile: commits that come twice, late or in
another order change nothing. For the same reason each stretch of a session's commits is folded once, and each run that
ended in it is reported once.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from acta.engine.audit.record import Pseudonyms
from acta.engine.clock import made_at
from acta.engine.errors import PoisonedSession, SchemaUnknown, StoreThrottled
from acta.engine.log.commit import Commit
from acta.engine.log.events import RunFinished
from acta.engine.log.head import TERMINAL, Head, UsedBefore
from acta.engine.usage.store import Fold, FoldLost, StreamCommit, SumsRefused, UsagePartition, UsageStore
from acta.engine.usage.usage import (
    NOTHING,
    Amounts,
    RowKey,
    Rows,
    UsageBaseline,
    counted,
    difference,
    hour_of,
)

SESSIONS_AT_ONCE = 25
"""Sessions that are read together."""
MAX_ACTIONS = 90
"""Items of one write. DynamoDB takes 100, and one session needs at most about 40, or 70 if its
ten newest runs ended on different days and were all rated."""
ATTEMPTS = 5
"""How often other workers may be faster."""
MOST_READ = 300
"""Commits of one session that are looked through for ends of runs."""
COMMITS_AT_ONCE = 10


class EndedRun(NamedTuple):
    tenant: str
    session_id: str
    run_id: str
    commit: int
    """The number of the commit that ended it."""
    at: datetime
    state: str
    """`completed`, `failed` or `cancelled`."""
    reason: str
    """Why a completed run ended, out of a fixed set."""
    code: str
    """Why a failed run ended, out of a fixed set."""
    goal_met: bool
    end: str
    """As in `Tally.ended`."""
    generation: int
    turns: int
    """Its iterations."""
    tokens: int
    cost_usd: float | None
    seconds: int | None
    """None: not known."""
    waits: int
    """Questions to people."""
    waited_seconds: int
    """How long they were open, in all."""
    whole: bool
    """The figures are this run's. False: they are those of all runs of the session up to its end."""


class Addition(NamedTuple):
    """What a fold has added of one session."""

    partition: UsagePartition
    before: UsageBaseline | None
    """What was counted of it until then. None: nothing."""
    now: UsageBaseline
    ended: tuple[EndedRun, ...] = ()
    """The runs that have ended since then."""
    unread: int = 0
    """Runs that have ended and cannot be read, because the session is deleted or damaged."""


OnAdded = Callable[[Addition], None]
OnUnreadable = Callable[[UsagePartition, Exception], None]


class FoldResult(NamedTuple):
    """What a fold has done, in numbers."""

    sessions: int = 0
    """Sessions whose usage was added."""
    unread: int = 0
    """Sessions of which nothing can be counted now. Their usage is added with a later commit, once they can be read."""
    writes: int = 0
    """Transactions."""

    def plus(self, other: "FoldResult") -> "FoldResult":
        return FoldResult(*(one + more for one, more in zip(self, other, strict=True)))


class _SessionCounts(NamedTuple):
    """What the log says of one session now."""

    counts: tuple[UsageBaseline, ...]
    """Oldest first."""
    leaves: bool = False
    """The newest was left by the session's deletion."""


def fold(
    store: UsageStore,
    pseudonyms: Pseudonyms,
    commits: Iterable[StreamCommit],
    on_added: OnAdded = lambda addition: None,
    on_unreadable: OnUnreadable = lambda partition, error: None,
) -> FoldResult:
    """Adds the commits of one batch of the stream. Raises what the store and the pseudonyms raise; then the whole batch
    may be folded again.

    `on_added`: is called with what was added of each session, once it is stored. So it is called once for each stretch
    of a session's commits, or not at all if the worker dies at that moment. `on_unreadable`: is called with each
    session whose counts are damaged, that another release wrote, or whose sums the table refuses. Such a session is
    left out: otherwise the stream would bring the whole batch again for a day and count nothing after it.
    """
    done = FoldResult()
    for tenant, newest in _by_tenant(commits).items():
        read_until: list[datetime] = []
        sessions = list(newest.items())
        for at in range(0, len(sessions), SESSIONS_AT_ONCE):
            part = dict(sessions[at : at + SESSIONS_AT_ONCE])
            folded, until = _fold_readable(store, pseudonyms, part, on_added, on_unreadable)
            done = done.plus(folded)
            read_until += until
        if read_until:
            store.reach(tenant, max(read_until))
    return done


def _by_tenant(
    commits: Iterable[StreamCommit],
) -> Mapping[str, Mapping[UsagePartition, tuple[StreamCommit, ...]]]:
    """Of each session the newest commit of each hour, in order."""
    newest: dict[tuple[UsagePartition, int], StreamCommit] = {}
    for commit in commits:
        key = commit.partition, hour_of(commit.at)
        if key not in newest or newest[key].number < commit.number:
            newest[key] = commit
    tenants: dict[str, dict[UsagePartition, tuple[StreamCommit, ...]]] = {}
    for commit in sorted(newest.values(), key=lambda each: each.number):
        sessions = tenants.setdefault(commit.partition.tenant, {})
        sessions[commit.partition] = (*sessions.get(commit.partition, ()), commit)
    return tenants


def _fold_readable(
    store: UsageStore,
    pseudonyms: Pseudonyms,
    commits: Mapping[UsagePartition, tuple[StreamCommit, ...]],
    on_added: OnAdded,
    on_unreadable: OnUnreadable,
) -> tuple[FoldResult, list[datetime]]:
    """As `_fold_part`. Where something cannot be read or written each session is folded alone, which shows whose it
    is.
    """
    try:
        return _fold_part(store, pseudonyms, commits, on_added)
    except (PoisonedSession, SchemaUnknown, SumsRefused) as error:
        if len(commits) == 1:
            on_unreadable(next(iter(commits)), error)
            return FoldResult(unread=1), []
    done, read_until = FoldResult(), []
    for partition, each in commits.items():
        folded, until = _fold_readable(store, pseudonyms, {partition: each}, on_added, on_unreadable)
        done = done.plus(folded)
        read_until += until
    return done, read_until


def _fold_part(
    store: UsageStore,
    pseudonyms: Pseudonyms,
    commits: Mapping[UsagePartition, tuple[StreamCommit, ...]],
    on_added: OnAdded,
) -> tuple[FoldResult, list[datetime]]:
    """Folds the commits, and returns also the times up to which the sessions are counted."""
    heads = store.heads([each for several in commits.values() for each in several])
    read = {
        partition: _read(store, pseudonyms, heads, partition, each) for partition, each in commits.items()
    }
    unread = sum(1 for each in read.values() if not each.counts)
    for _ in range(ATTEMPTS):
        try:
            folded = _add(store, read, on_added)._replace(unread=unread)
            return folded, [each.counts[-1].at for each in read.values() if each.counts]
        except FoldLost:
            continue
    raise StoreThrottled("others counted the same sessions each time")


def _read(
    store: UsageStore,
    pseudonyms: Pseudonyms,
    heads: Mapping[StreamCommit, Head],
    partition: UsagePartition,
    commits: tuple[StreamCommit, ...],
) -> _SessionCounts:
    found = tuple(
        counted(head, commit.number, pseudonyms.of(head.tenant, head.created_by))
        for commit in commits
        if (head := heads.get(commit)) is not None
    )
    if commits[-1] in heads and found[-1].standing != "deleted":
        return _SessionCounts(found)
    left = store.left(partition)
    if left is None:
        return _SessionCounts(found)
    tenant, last = left
    last = last.model_copy(update={"who": pseudonyms.of(tenant, last.who)})
    return _SessionCounts((*(each for each in found if each.number < last.number), last), leaves=True)


def _add(store: UsageStore, read: Mapping[UsagePartition, _SessionCounts], on_added: OnAdded) -> FoldResult:
    """Raises FoldLost; what was written before stays, and is not added again."""
    before = store.counted([partition for partition, each in read.items() if each.counts])
    done, batch = FoldResult(), _Batch(on_added)
    for partition, each in read.items():
        last = before.get(partition)
        if last is None and partition in before:
            continue
        rows = _differences(last, each.counts)
        if not rows:
            continue
        fold = Fold(partition, 0 if last is None else last.number, each.counts[-1], each.leaves)
        # Before the write, so that the batch is folded again if this raises.
        addition = addition_of(store, partition, last, each.counts[-1])
        if not batch.takes(rows):
            done = done.plus(batch.write(store))
            batch = _Batch(on_added)
        batch.add(fold, rows, addition)
    return done.plus(batch.write(store))


def _differences(last: UsageBaseline | None, counts: Iterable[UsageBaseline]) -> Rows:
    rows: dict[RowKey, Amounts] = {}
    for now in counts:
        for key, more in difference(last, now).items():
            rows[key] = rows.get(key, NOTHING).plus(more)
        last = now if last is None or now.number > last.number else last
    return rows


class _Batch:
    """Sessions of one tenant that are written together."""

    def __init__(self, on_added: OnAdded) -> None:
        self._on_added = on_added
        self._additions: list[Addition] = []
        self._folds: list[Fold] = []
        self._rows: dict[RowKey, Amounts] = {}

    def takes(self, rows: Rows) -> bool:
        actions = 2 * (len(self._folds) + 1) + len(self._rows.keys() | rows.keys())
        return not self._folds or actions <= MAX_ACTIONS

    def add(self, fold: Fold, rows: Rows, addition: Addition) -> None:
        self._folds.append(fold)
        self._additions.append(addition)
        for key, more in rows.items():
            self._rows[key] = self._rows.get(key, NOTHING).plus(more)

    def write(self, store: UsageStore) -> FoldResult:
        if not self._folds:
            return FoldResult()
        store.add(self._folds, self._rows)
        for each in self._additions:
            self._on_added(each)
        return FoldResult(sessions=len(self._folds), writes=1)


def addition_of(
    store: UsageStore, partition: UsagePartition, before: UsageBaseline | None, now: UsageBaseline
) -> Addition:
    """Raises what the store raises. Reads nothing unless a run has ended."""
    expected = sum(now.ended.values()) - (sum(before.ended.values()) if before is not None else 0)
    is_tallied = bool(now.ended)
    if expected <= 0 and (is_tallied or now.standing not in TERMINAL):
        return Addition(partition, before, now)
    wanted = expected if is_tallied else MOST_READ
    after = before.number if before is not None else 0
    found: list[EndedRun] = []
    number, last = now.number, max(after, now.number - MOST_READ)
    while number > last and len(found) < wanted:
        down_to = max(number - COMMITS_AT_ONCE, last)
        for commit in store.commits(partition, range(number, down_to, -1)):
            finished = (each.data for each in commit.events if each.type == RunFinished.type)
            found += [_ended(commit, RunFinished(**data)) for data in finished]
        number = down_to
    unread = max(0, expected - len(found)) if is_tallied else 0
    return Addition(partition, before, now, tuple(reversed(found)), unread)


def _ended(commit: Commit, finished: RunFinished) -> EndedRun:
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
        state=finished.state,
        reason=finished.reason,
        code=finished.code,
        goal_met=finished.goal_met,
        end=finished.end,
        generation=run.generation if run is not None else 0,
        turns=run.iteration if run is not None else 0,
        tokens=now.tokens - before.tokens,
        cost_usd=round((now.cost_usd or 0.0) - (before.cost_usd or 0.0), 6) if known else None,
        seconds=None if began is None else max(0, round(ended.timestamp() - began / 1_000)),
        waits=now.asked - before.asked,
        waited_seconds=round((now.waited_ms - before.waited_ms) / 1_000),
        whole=(run is not None and run.before is not None) or head.tally.done.runs <= 1,
    )

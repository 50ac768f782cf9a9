"""Adds what sessions have counted since the last time to the usage of their tenants (ADR 67).

The stream says which commits there are, and a commit's head has all counts up to it. So the newest commit that a batch
names of a session and an hour stands for all before it, and what was counted of the session last says how much is new.
A write is made on the condition that nobody has counted the session meanwhile: commits that come twice, late or in
another order change nothing.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from acta_engine.audit.store import Pseudonyms
from acta_engine.errors import PoisonedSession, SchemaUnknown, StoreThrottled
from acta_engine.log.head import Head
from acta_engine.usage.ended_runs import Progressed, progressed
from acta_engine.usage.store import Committed, Fold, FoldLost, Partition, UsageStore
from acta_engine.usage.usage import NOTHING, Amounts, Counted, RowKey, Rows, counted, difference, hour_of

AT_ONCE = 25
"""Sessions that are read together."""
MAX_ACTIONS = 90
"""Items of one write. DynamoDB takes 100, and one session needs at most about 40."""
ATTEMPTS = 5
"""Times that others may be faster."""


Tell = Callable[[Progressed], None]
TellUnreadable = Callable[[Partition, Exception], None]


class Folded(NamedTuple):
    """`sessions`: whose usage was added. `unread`: of which nothing can be counted now: what a later commit of theirs
    counts has it, once that and what was counted before can be read. `writes`: transactions.
    """

    sessions: int = 0
    unread: int = 0
    writes: int = 0

    def plus(self, other: "Folded") -> "Folded":
        return Folded(*(one + more for one, more in zip(self, other, strict=True)))


class _Read(NamedTuple):
    """What the log says of a session now, oldest first. `leaves`: a deletion left it."""

    counts: tuple[Counted, ...]
    leaves: bool = False


def fold(
    store: UsageStore,
    pseudonyms: Pseudonyms,
    commits: Iterable[Committed],
    tell: Tell = lambda progressed: None,
    tell_unreadable: TellUnreadable = lambda partition, error: None,
) -> Folded:
    """`tell`: is called with what was added of each session, once it is stored. So it is called once for each stretch
    of a session's commits, or not at all where the worker dies just then. `tell_unreadable`: is called with each
    session whose counts are damaged or another release's. It is left out: the stream would bring the whole batch again
    for a day, and count nothing after it.

    Raises what the store and the pseudonyms raise; then all of it may be done again.
    """
    done = Folded()
    for tenant, newest in _by_tenant(commits).items():
        read_until: list[datetime] = []
        sessions = list(newest.items())
        for at in range(0, len(sessions), AT_ONCE):
            part = dict(sessions[at : at + AT_ONCE])
            folded, until = _fold_readable(store, pseudonyms, part, tell, tell_unreadable)
            done = done.plus(folded)
            read_until += until
        if read_until:
            store.reach(tenant, max(read_until))
    return done


def _by_tenant(commits: Iterable[Committed]) -> Mapping[str, Mapping[Partition, tuple[Committed, ...]]]:
    """Of each session the newest commit of each hour, in order."""
    newest: dict[tuple[Partition, int], Committed] = {}
    for commit in commits:
        key = commit.partition, hour_of(commit.at)
        if key not in newest or newest[key].number < commit.number:
            newest[key] = commit
    tenants: dict[str, dict[Partition, tuple[Committed, ...]]] = {}
    for commit in sorted(newest.values(), key=lambda each: each.number):
        sessions = tenants.setdefault(commit.partition.tenant, {})
        sessions[commit.partition] = (*sessions.get(commit.partition, ()), commit)
    return tenants


def _fold_readable(
    store: UsageStore,
    pseudonyms: Pseudonyms,
    commits: Mapping[Partition, tuple[Committed, ...]],
    tell: Tell,
    tell_unreadable: TellUnreadable,
) -> tuple[Folded, list[datetime]]:
    """As `_fold_part`. Where something cannot be read each session is folded alone, which shows whose it is."""
    try:
        return _fold_part(store, pseudonyms, commits, tell)
    except (PoisonedSession, SchemaUnknown) as error:
        if len(commits) == 1:
            tell_unreadable(next(iter(commits)), error)
            return Folded(unread=1), []
    done, read_until = Folded(), []
    for partition, each in commits.items():
        folded, until = _fold_readable(store, pseudonyms, {partition: each}, tell, tell_unreadable)
        done = done.plus(folded)
        read_until += until
    return done, read_until


def _fold_part(
    store: UsageStore, pseudonyms: Pseudonyms, commits: Mapping[Partition, tuple[Committed, ...]], tell: Tell
) -> tuple[Folded, list[datetime]]:
    """With the times up to which each session is counted."""
    heads = store.heads([each for several in commits.values() for each in several])
    read = {
        partition: _read(store, pseudonyms, heads, partition, each) for partition, each in commits.items()
    }
    unread = sum(1 for each in read.values() if not each.counts)
    for _ in range(ATTEMPTS):
        try:
            folded = _add(store, read, tell)._replace(unread=unread)
            return folded, [each.counts[-1].at for each in read.values() if each.counts]
        except FoldLost:
            continue
    raise StoreThrottled("others counted the same sessions each time")


def _read(
    store: UsageStore,
    pseudonyms: Pseudonyms,
    heads: Mapping[Committed, Head],
    partition: Partition,
    commits: tuple[Committed, ...],
) -> _Read:
    found = tuple(
        counted(head, commit.number, pseudonyms.of(head.tenant, head.created_by))
        for commit in commits
        if (head := heads.get(commit)) is not None
    )
    if commits[-1] in heads and found[-1].standing != "deleted":
        return _Read(found)
    left = store.left(partition)
    if left is None:
        return _Read(found)
    tenant, last = left
    last = last.model_copy(update={"who": pseudonyms.of(tenant, last.who)})
    return _Read((*(each for each in found if each.number < last.number), last), leaves=True)


def _add(store: UsageStore, read: Mapping[Partition, _Read], tell: Tell) -> Folded:
    """Raises FoldLost; what was written before stays, and is not added again."""
    before = store.counted([partition for partition, each in read.items() if each.counts])
    done, batch = Folded(), _Batch(tell)
    for partition, each in read.items():
        last = before.get(partition)
        if last is None and partition in before:
            continue
        rows = _differences(last, each.counts)
        if not rows:
            continue
        fold = Fold(partition, 0 if last is None else last.number, each.counts[-1], each.leaves)
        what = progressed(
            store, partition, last, each.counts[-1]
        )  # before the write: what raises is done again
        if not batch.takes(rows):
            done = done.plus(batch.write(store))
            batch = _Batch(tell)
        batch.add(fold, rows, what)
    return done.plus(batch.write(store))


def _differences(last: Counted | None, counts: Iterable[Counted]) -> Rows:
    rows: dict[RowKey, Amounts] = {}
    for now in counts:
        for key, more in difference(last, now).items():
            rows[key] = rows.get(key, NOTHING).plus(more)
        last = now if last is None or now.number > last.number else last
    return rows


class _Batch:
    """Sessions of one tenant that are written together."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell
        self._told: list[Progressed] = []
        self._folds: list[Fold] = []
        self._rows: dict[RowKey, Amounts] = {}

    def takes(self, rows: Rows) -> bool:
        actions = 2 * (len(self._folds) + 1) + len(self._rows.keys() | rows.keys())
        return not self._folds or actions <= MAX_ACTIONS

    def add(self, fold: Fold, rows: Rows, what: Progressed) -> None:
        self._folds.append(fold)
        self._told.append(what)
        for key, more in rows.items():
            self._rows[key] = self._rows.get(key, NOTHING).plus(more)

    def write(self, store: UsageStore) -> Folded:
        if not self._folds:
            return Folded()
        store.add(self._folds, self._rows)
        for each in self._told:
            self._tell(each)
        return Folded(sessions=len(self._folds), writes=1)

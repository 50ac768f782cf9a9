"""Sends the spans of commits to a receiver outside (ADR 78).

What the span of a run has to do with what was there before, the run that a fork goes on from and an end of the same run
before an operator had it repaired, is read only when a run ends, and only of sessions and runs that have such a past.
"""

from collections.abc import Sequence
from typing import NamedTuple

from acta_engine.log.commit import Commit
from acta_engine.log.head import FRESH_GENERATIONS
from acta_engine.traces.port import CommitName, CommitReader, SpanReceiver
from acta_engine.traces.span import Link, RunName, Span
from acta_engine.traces.spans_of import ends_run, run_of, spans_of
from acta_engine.usage.store import Partition

AT_ONCE = 50
"""Commits of one read."""
MOST_READ = 5_000
"""Commits that are read back to look for an end before. A run that is longer is taken for one that ended once."""
DOUBLED = 24
"""The parent has at most two to this many commits."""


def completed(
    reader: CommitReader, partition: Partition, commit: Commit, spans: Sequence[Span]
) -> Sequence[Span]:
    """The commit's spans, the run's with its link and, where the run has ended before, with an id of its own and below
    the first. Of a run that went on after its table was restored nobody knows, so it is taken for one that had. Raises
    what the reader raises.
    """
    if not ends_run(commit) or not spans:
        return spans
    *others, root = spans
    parent = _parent(reader, partition, commit)
    if parent is not None:
        root = root._replace(links=(Link(parent.trace_id, parent.root_id),))
    run = commit.head.run
    if run is not None and (
        run.generation > FRESH_GENERATIONS
        or (run.generation > 1 and _ended_before(reader, partition, commit))
    ):
        name = RunName(commit.head.tenant, commit.head.session_id, run.run_id)
        root = root._replace(span_id=name.span_id(commit.number, commit.key, "again"), parent_id=name.root_id)
    return (*others, root)


def _ended_before(reader: CommitReader, partition: Partition, commit: Commit) -> bool:
    """A repair begins the next generation of a run that had failed."""
    run_id, last = run_of(commit), commit.number - 1
    lowest = max(0, last - MOST_READ)
    while last > lowest:
        numbers = range(last, max(lowest, last - AT_ONCE), -1)
        found = reader.read([CommitName(partition, number) for number in numbers])
        for _, each, _ in reversed(found):
            if run_of(each) == run_id and ends_run(each):
                return True
            if any(event.type == "run.started" for event in each.events):
                return False
        last = numbers[-1] - 1
    return False


def _parent(reader: CommitReader, partition: Partition, commit: Commit) -> RunName | None:
    """The run that the parent was in at the event that the fork begins after. None: it is no fork, or the parent is
    gone.
    """
    forked = commit.head.forked_from
    if forked is None:
        return None
    session = Partition(partition.tenant, forked.session_id)
    found = _commits(reader, [CommitName(session, 2**power) for power in range(DOUBLED)])
    while True:
        before = [each for each in found if each.head.last_seq < forked.seq]
        after = [each for each in found if each.head.last_seq >= forked.seq]
        low = before[-1].number + 1 if before else 1
        if after and after[0].number <= low:
            run_id = run_of(after[0])
            return None if run_id is None else RunName(commit.head.tenant, forked.session_id, run_id)
        high = after[0].number if after else 2 * low
        step = max(1, (high - low) // AT_ONCE)
        names = [CommitName(session, number) for number in range(low, high, step)]
        further = _commits(reader, names) if names else []
        if not further:  # what lies between is gone
            return None
        found = [*before[-1:], *further, *after[:1]]


def _commits(reader: CommitReader, names: Sequence[CommitName]) -> list[Commit]:
    return [each.commit for each in reader.read(names)]


class Exported(NamedTuple):
    """`spans`: that the receiver took. `lost`: that nobody will get: those it refused, and one for each commit that was
    deleted before it was read or is damaged. `restored`: commits that a restore brought back. They are not sent again.
    """

    spans: int = 0
    lost: int = 0
    restored: int = 0


def export(
    reader: CommitReader, receiver: SpanReceiver, names: Sequence[CommitName], *, with_content: bool = False
) -> Exported:
    """`with_content`: as in `spans_of`. Raises what the reader and the receiver raise; then it may be done again."""
    wanted = set(names)
    found = reader.read(tuple(wanted))
    new = [each for each in found if not each.is_restored]
    spans = [
        span
        for name, commit, _ in new
        for span in completed(reader, name.partition, commit, spans_of(commit, with_content=with_content))
    ]
    refused = receiver.send(spans) if spans else 0
    return Exported(len(spans) - refused, len(wanted) - len(found) + refused, len(found) - len(new))

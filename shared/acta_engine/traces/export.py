"""Sends spans of what sessions did to an OpenTelemetry endpoint (ADR 78).

`usage` hands over the names of new commits in a queue (`TraceExport`). A message whose spans were not taken stays there
and comes again. After a day it is given up. Spans that nobody will get are counted and logged.

The span of a run refers to the past in two ways: to the run that a fork goes on from, and to an end of the same run
before an operator had it repaired. This past is read only when a run ends, and only where there is one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

from acta_engine.clock import Clock
from acta_engine.log.commit import Commit
from acta_engine.log.head import FRESH_GENERATIONS
from acta_engine.telemetry import Telemetry
from acta_engine.traces.spans import (
    CommitMessages,
    CommitName,
    CommitReader,
    HandedOver,
    Link,
    RunName,
    Span,
    SpanReceiver,
    SpansNotDelivered,
    ends_run,
    run_of,
    spans_of,
)
from acta_engine.usage.store import UsagePartition

AT_ONCE = 50
"""Commits of one read."""
MOST_READ = 5_000
"""Commits that are read backwards to find an earlier end of a run. A longer run is taken to have ended once."""
DOUBLED = 24
"""A parent's commits are looked up at powers of two below two to this many."""


def completed(
    reader: CommitReader, partition: UsagePartition, commit: Commit, spans: Sequence[Span]
) -> Sequence[Span]:
    """The commit's spans. The run's span gets its link and, if the run has ended before, an id of its own and a place
    below the first one. Nobody knows this of a run that went on after its table was restored, so it is taken to have
    ended before. Raises what the reader raises.
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


def _ended_before(reader: CommitReader, partition: UsagePartition, commit: Commit) -> bool:
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


def _parent(reader: CommitReader, partition: UsagePartition, commit: Commit) -> RunName | None:
    """The run that the parent was in at the event that the fork begins after. None: it is no fork, or the parent is
    gone.
    """
    forked = commit.head.forked_from
    if forked is None:
        return None
    session = UsagePartition(partition.tenant, forked.session_id)
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


class ExportCount(NamedTuple):
    """`spans`: those that the receiver took. `lost`: those that it refused, and one for each commit that was deleted
    before it was read or is damaged. `restored`: commits that a restore brought back. They are not sent again.
    """

    spans: int = 0
    lost: int = 0
    restored: int = 0


def export(
    reader: CommitReader, receiver: SpanReceiver, names: Sequence[CommitName], *, with_content: bool = False
) -> ExportCount:
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
    return ExportCount(len(spans) - refused, len(wanted) - len(found) + refused, len(found) - len(new))


GIVEN_UP_AFTER = timedelta(hours=24)
"""The queue keeps messages for longer, so that what is given up is given up here, and counted."""
BEGINS_WITHIN = timedelta(seconds=20)
"""A message is begun only so long after the first one: a receiver that is slow may not use up the invocation."""


@dataclass(eq=False, repr=False)
class TraceExport:
    """Answers the events of the function `traces`: messages that name commits."""

    queue: CommitMessages
    commits: CommitReader
    receiver: SpanReceiver
    clock: Clock
    telemetry: Telemetry
    with_content: bool = False
    """Spans have what people, models and tools said (`Settings.traces_content`)."""

    def handle(self, event: Mapping[str, Any], context: Any = None) -> dict[str, Any]:
        """The answer names the messages that stay in the queue. No other is tried once the receiver is unavailable."""
        began, is_away, staying = self.clock.now(), False, []
        for record in event.get("Records", ()):
            handed = self.queue.parse(record)
            if is_away or self.clock.now() - began > BEGINS_WITHIN:
                is_done = False
            else:
                is_done, is_away = self._exported(handed)
            if is_done:
                continue
            if self.clock.now() - handed.since > GIVEN_UP_AFTER:
                self.telemetry.spans_lost(len(handed.commits), why="given up after a day")
            else:
                staying.append({"itemIdentifier": handed.message_id})
        return {"batchItemFailures": staying}

    def _exported(self, handed: HandedOver) -> tuple[bool, bool]:
        """Whether the message is done with, and whether the receiver is unavailable."""
        try:
            done = export(self.commits, self.receiver, handed.commits, with_content=self.with_content)
        except SpansNotDelivered as failed:
            self.telemetry.spans_not_delivered(str(failed))
            return False, True
        except Exception as error:  # it concerns this message alone, so the others go on
            self.telemetry.failure(error)
            return False, False
        self.telemetry.logger.info("exported", extra=done._asdict())
        if done.lost:
            self.telemetry.spans_lost(done.lost, why="refused, deleted or damaged")
        return True, False

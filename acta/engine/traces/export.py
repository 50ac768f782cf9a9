"""Sends spans of what sessions did to an OpenTelemetry endpoint (ADR 78).

`usage` hands over the names of new commits in a queue (`TraceExport`). A message whose spans were not taken stays there
and comes again. After a day it is given up. Spans that nobody will get are counted and logged.

The span of a run refers to the past in two ways: to the run that a fork goes on from, and to an end of the same run
before an operator had it repaired. This past is read only when a run ends, and only where there is one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import reduce
from typing import Any, NamedTuple

from acta.engine.clock import Clock
from acta.engine.errors import SchemaUnknown
from acta.engine.log.commit import Commit
from acta.engine.log.head import FRESH_GENERATIONS
from acta.engine.telemetry import Telemetry
from acta.engine.traces.spans import (
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
from acta.engine.usage.store import UsagePartition

AT_ONCE = 25
"""Commits of one read. No more are in memory at once: each has its whole head."""
MOST_READ = 5_000
"""Commits that are read backwards to find an earlier end of a run. A longer run is taken to have ended once."""
MOST_COMMITS = 2**24
"""Of a session, more than any has."""


class Past:
    """What the spans of a message's runs refer to. Of a commit of a parent only what is asked for is kept, because many
    forks of one parent end at once.
    """

    def __init__(self, reader: CommitReader) -> None:
        self._reader = reader
        self._seen: dict[CommitName, tuple[int, str | None] | None] = {}

    def completed(self, partition: UsagePartition, commit: Commit, spans: Sequence[Span]) -> Sequence[Span]:
        """The commit's spans. The run's span gets its link and, if the run has ended before, an id of its own and a
        place below the first one. Nobody knows this of a run that went on after its table was restored, so it is taken
        to have ended before. Raises what the reader raises.
        """
        if not ends_run(commit) or not spans:
            return spans
        *others, root = spans
        parent = self._parent(partition, commit)
        if parent is not None:
            root = root._replace(links=(Link(parent.trace_id, parent.root_id),))
        run = commit.head.run
        if run is not None and (
            run.generation > FRESH_GENERATIONS
            or (run.generation > 1 and self._ended_before(partition, commit))
        ):
            name = RunName(commit.head.tenant, commit.head.session_id, run.run_id)
            root = root._replace(
                span_id=name.span_id(commit.number, commit.key, "again"), parent_id=name.root_id
            )
        return (*others, root)

    def _ended_before(self, partition: UsagePartition, commit: Commit) -> bool:
        """A repair begins the next generation of a run that had failed."""
        run_id, last = run_of(commit), commit.number - 1
        lowest = max(0, last - MOST_READ)
        while last > lowest:
            numbers = range(last, max(lowest, last - AT_ONCE), -1)
            found = self._reader.read([CommitName(partition, number) for number in numbers])
            for _, each, _ in reversed(found):
                if run_of(each) == run_id and ends_run(each):
                    return True
                if any(event.type == "run.started" for event in each.events):
                    return False
            last = numbers[-1] - 1
        return False

    def _parent(self, partition: UsagePartition, commit: Commit) -> RunName | None:
        """The run that the parent was in at the event that the fork begins after. None: it is no fork, or the parent is
        gone.
        """
        forked = commit.head.forked_from
        if forked is None:
            return None
        session = UsagePartition(partition.tenant, forked.session_id)
        low, high, run_id = 1, MOST_COMMITS, None
        while low <= high:
            middle = (low + high) // 2
            seen = self._look(CommitName(session, middle))
            if seen is not None and seen[0] < forked.seq:
                low = middle + 1
            else:  # what is not there lies beyond the parent's end
                high, run_id = middle - 1, None if seen is None else seen[1]
        return None if run_id is None else RunName(commit.head.tenant, forked.session_id, run_id)

    def _look(self, name: CommitName) -> tuple[int, str | None] | None:
        """The commit's last event and its run."""
        if name not in self._seen:
            found = [(each.head.last_seq, run_of(each)) for _, each, _ in self._reader.read([name])]
            self._seen[name] = found[0] if found else None
        return self._seen[name]


class ExportCount(NamedTuple):
    """`spans`: those that the receiver took. `lost`: those that it refused, and one for each commit that was deleted
    before it was read or is damaged. `restored`: commits that a restore brought back. They are not sent again.
    `waiting`: commits that only a later release can read.
    """

    spans: int = 0
    lost: int = 0
    restored: int = 0
    waiting: int = 0

    def plus(self, other: "ExportCount") -> "ExportCount":
        return ExportCount(*(one + more for one, more in zip(self, other, strict=True)))


def export(
    reader: CommitReader, receiver: SpanReceiver, names: Sequence[CommitName], *, with_content: bool = False
) -> ExportCount:
    """`with_content`: as in `spans_of`. Raises what the reader and the receiver raise; then it may be done again."""
    wanted, past, done = sorted(set(names)), Past(reader), ExportCount()
    for at in range(0, len(wanted), AT_ONCE):
        part = wanted[at : at + AT_ONCE]
        spans, read = _made(reader, past, part, with_content=with_content)
        refused = receiver.send(spans) if spans else 0
        done = done.plus(read).plus(ExportCount(len(spans) - refused, refused))
    return done


def _made(
    reader: CommitReader, past: Past, names: Sequence[CommitName], *, with_content: bool
) -> tuple[list[Span], ExportCount]:
    """The spans of the commits, and the commits that have none. What is wrong with one of them costs its spans alone:
    where a later release wrote one, each is read by itself.
    """
    try:
        found = reader.read(names)
        spans: list[Span] = []
        damaged = 0
        new = [each for each in found if not each.is_restored]
        for name, commit, _ in new:
            try:
                own = spans_of(commit, with_content=with_content)
            except Exception:  # whatever it is, it concerns this commit
                damaged += 1
                continue
            spans += past.completed(name.partition, commit, own)
        gone = len(names) - len(found)
        return spans, ExportCount(lost=gone + damaged, restored=len(found) - len(new))
    except SchemaUnknown:
        if len(names) == 1:
            return [], ExportCount(waiting=1)
    parts = [_made(reader, past, [name], with_content=with_content) for name in names]
    every = [span for spans, _ in parts for span in spans]
    return every, reduce(ExportCount.plus, (count for _, count in parts))


GIVEN_UP_AFTER = timedelta(hours=24)
"""The queue keeps messages for longer, so that what is given up is given up here, and counted."""
UNTRIED_AFTER = GIVEN_UP_AFTER + timedelta(hours=1)
TRIED = 3
"""A message that is older and came back more often has ended its worker each time, or it would have been given up. It
is not tried again.
"""
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
            age = self.clock.now() - handed.since
            ends_workers = age > UNTRIED_AFTER and handed.received > TRIED
            if ends_workers or is_away or self.clock.now() - began > BEGINS_WITHIN:
                left = len(handed.commits)
            else:
                left, is_away = self._exported(handed)
            if not left:
                continue
            if age > GIVEN_UP_AFTER:
                self.telemetry.spans_lost(left, why="given up after a day")
            else:
                staying.append({"itemIdentifier": handed.message_id})
        return {"batchItemFailures": staying}

    def _exported(self, handed: HandedOver) -> tuple[int, bool]:
        """How many of the message's commits are to be tried again, and whether the receiver is unavailable."""
        try:
            done = export(self.commits, self.receiver, handed.commits, with_content=self.with_content)
        except SpansNotDelivered as failed:
            self.telemetry.spans_not_delivered(str(failed))
            return len(handed.commits), True
        except Exception as error:  # it concerns this message alone, so the others go on
            self.telemetry.failure(error)
            return len(handed.commits), False
        self.telemetry.logger.info("exported", extra=done._asdict())
        if done.lost:
            self.telemetry.spans_lost(done.lost, why="refused, deleted or damaged")
        return done.waiting, False

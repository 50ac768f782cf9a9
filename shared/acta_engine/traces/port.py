"""Spans of sessions on their way to the outside: from the stream's reader to a queue, from there to a receiver."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Protocol

from acta_engine.log.commit import Commit
from acta_engine.traces.spans import Span
from acta_engine.usage.store import UsagePartition


class CommitName(NamedTuple):
    """A commit as the stream's keys name it."""

    partition: UsagePartition
    number: int


class SpansNotDelivered(Exception):
    """The receiver has not accepted the spans, as far as is known. They are sent again, with the same ids."""


class HandedOver(NamedTuple):
    """What one message of the queue has."""

    message_id: str
    """The queue's."""
    since: datetime
    """When it was handed over first."""
    commits: Sequence[CommitName]


class CommitQueue(Protocol):
    """Commits that are to become spans. They wait here, so that a receiver that is away holds nothing up."""

    def put(self, commits: Iterable[CommitName]) -> None:
        """Raises StoreThrottled, StoreUnavailable, AwsDenied where it is not certain that all of them are there."""


class CommitMessages(Protocol):
    """The same queue as it is read: AWS brings its messages, and deletes those that were not refused."""

    def parse(self, record: Mapping[str, Any]) -> HandedOver:
        """`record`: a message, as AWS brings it."""


class TracedCommit(NamedTuple):
    name: CommitName
    """By which it was asked for: sessions of two tenants may have the same id."""
    commit: Commit
    is_restored: bool = False
    """A restore brought it back, so its spans were sent when it was new."""


class CommitReader(Protocol):
    def read(self, names: Sequence[CommitName]) -> Sequence[TracedCommit]:
        """The commits, each once and those of a session in order. Left out: what was deleted or is damaged. Raises
        StoreThrottled, StoreUnavailable, AwsDenied, SchemaUnknown.
        """


class SpanReceiver(Protocol):
    def send(self, spans: Sequence[Span]) -> int:
        """How many of them the receiver refused for good. Raises SpansNotDelivered."""

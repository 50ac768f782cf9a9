"""What a tenant has used, in sum (ADR 67)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from acta.engine.log.commit import Commit
from acta.engine.log.head import Head
from acta.engine.usage.usage import Amounts, Dimension, RowKey, Rows, UsageBaseline


class UsagePartition(NamedTuple):
    """A session as the stream's keys name it: parts of keys, which are hashes where a name is long."""

    tenant: str
    session: str


class StreamCommit(NamedTuple):
    """A commit that the stream reports."""

    partition: UsagePartition
    number: int
    at: datetime
    """About when it was written."""


class Fold(NamedTuple):
    """One session's part of a write."""

    partition: UsagePartition
    before: int
    """The number of the commit that was counted last (0: none). The write is made only if this is still so."""
    now: UsageBaseline
    leaves: bool = False
    """What a deletion left of the session has been counted, and is removed."""


class SumsRefused(Exception):
    """The table does not take what was to be added, such as a number that is too large."""


class FoldLost(Exception):
    """Another worker has counted one of the sessions meanwhile. Nothing was written."""


class UsageStore(Protocol):
    """What the projector reads and writes. All methods raise StoreThrottled, StoreUnavailable, AwsDenied."""

    def counted(self, partitions: Sequence[UsagePartition]) -> Mapping[UsagePartition, UsageBaseline | None]:
        """What was counted last of each session. None: it is deleted, and all of it is counted. Sessions of which
        nothing was counted are left out. Raises PoisonedSession and SchemaUnknown if any of the counts cannot be read.
        """

    def heads(self, commits: Sequence[StreamCommit]) -> Mapping[StreamCommit, Head]:
        """The heads after these commits, strongly consistent. Left out: what is gone or cannot be read."""

    def commits(self, partition: UsagePartition, numbers: Sequence[int]) -> Sequence[Commit]:
        """The session's commits of these numbers, newest first, strongly consistent. Left out: what is gone or cannot
        be read.
        """

    def left(self, partition: UsagePartition) -> tuple[str, UsageBaseline] | None:
        """What a deletion left to be counted: the tenant, and the counts with the subject of who started the session
        instead of a pseudonym. None: nothing, or it was counted. Raises PoisonedSession, SchemaUnknown.
        """

    def add(self, folds: Sequence[Fold], rows: Rows) -> None:
        """All or nothing, for sessions of one tenant. Raises FoldLost."""

    def reach(self, tenant_part: str, until: datetime) -> None:
        """Notes that the tenant's commits up to `until` are counted, as far as this reader knows them. Changes nothing
        where a later time was noted before.
        """


class UsageReader(Protocol):
    def rows(
        self, tenant: str, dimension: Dimension, first: int, last: int, name: str | None = None
    ) -> Iterator[tuple[RowKey, Amounts]]:
        """In the order of time. `first`, `last`: hours or days, both included. `name`: rows of that name alone."""

    def agent_names(self, tenant: str, agent_ids: Sequence[str]) -> Mapping[str, str]:
        """What the agents are called now, by their ids. Those that are deleted are left out."""

    def counted_until(self, tenant: str) -> datetime | None:
        """The time of the newest commit that is counted. None: none is."""

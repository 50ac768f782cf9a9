"""Reads the commits that become spans."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from shared.adapters.aws.clients import Service
from shared.adapters.dynamodb import table_layout as items
from shared.adapters.dynamodb.query import batch_get
from shared.adapters.dynamodb.usage.items import commit_key
from shared.domain.errors import PoisonedSession
from shared.domain.session.commit import Commit
from shared.ports.clock import Clock
from shared.ports.outside.traces import CommitName


class DynamoTracedCommits:
    """A CommitReader. `client`: a botocore DynamoDB client, where it is not this process's own."""

    def __init__(self, table: str, clock: Clock, client: Any = None) -> None:
        self._table = table
        self._clock = clock
        self._dynamodb = Service("dynamodb", client)

    def read(self, names: Sequence[CommitName]) -> Sequence[Commit]:
        keys = [commit_key(partition, number) for partition, number in names]
        found = self._commits(batch_get(self._dynamodb, self._clock, self._table, keys))
        return sorted(found, key=lambda each: (each.head.tenant, each.head.session_id, each.number))

    def _commits(self, found: Iterator[items.Item]) -> Iterator[Commit]:
        for item in found:
            if not items.is_tombstone(item):
                with suppress(PoisonedSession):
                    yield items.item_commit(item)

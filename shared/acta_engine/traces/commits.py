"""Reads the commits that become spans."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from acta_engine.aws.clients import Service
from acta_engine.clock import Clock
from acta_engine.errors import PoisonedSession
from acta_engine.store import table_layout as items
from acta_engine.store.query import batch_get
from acta_engine.traces.port import CommitName, TracedCommit
from acta_engine.usage.dynamodb_items import commit_key


class DynamoTracedCommits:
    """A CommitReader. `client`: a botocore DynamoDB client, where it is not this process's own."""

    def __init__(self, table: str, clock: Clock, client: Any = None) -> None:
        self._table = table
        self._clock = clock
        self._dynamodb = Service("dynamodb", client)

    def read(self, names: Sequence[CommitName]) -> Sequence[TracedCommit]:
        keys = {name: commit_key(*name) for name in names}
        by_key = {_text(key): name for name, key in keys.items()}
        found: list[TracedCommit] = []
        for item in batch_get(self._dynamodb, self._clock, self._table, keys.values()):
            if not items.is_tombstone(item):
                with suppress(PoisonedSession):
                    name, commit = by_key[_text(item)], items.item_commit(item)
                    found.append(TracedCommit(name, commit, items.is_restored(item)))
        return sorted(found, key=lambda each: each.name)


def _text(item: items.Item) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]

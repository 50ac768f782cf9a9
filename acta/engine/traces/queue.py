"""The commits that are to become spans: their queue on SQS, and how they are read.

The queue's visibility timeout is the time between two attempts at one message. Messages have keys and no content.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from acta.engine.aws.clients import Service
from acta.engine.errors import PoisonedSession
from acta.engine.store import table_layout as items
from acta.engine.store.dynamodb import ClockedTable, batch_get
from acta.engine.traces.spans import CommitName, HandedOver, TracedCommit
from acta.engine.usage.dynamodb import commit_key
from acta.engine.usage.store import UsagePartition

MAX_COMMITS = 50
"""Of a message. They are exported in one go, so its time and its memory have this bound. Parts of keys are short, so
its body stays far below the 262,144 bytes that SQS takes.
"""

Listed = list[tuple[str, str, list[int]]]
"""Tenant and session as parts of keys, and numbers of commits."""


class TraceQueue:
    """A CommitQueue, and its CommitMessages. `client`: a botocore SQS client, where it is not this process's own."""

    def __init__(self, url: str, client: Any = None) -> None:
        self._url = url
        self._sqs = Service("sqs", client)

    def put(self, commits: Iterable[CommitName]) -> None:
        for body in _bodies(commits):
            self._sqs.call("send_message", QueueUrl=self._url, MessageBody=body)

    def parse(self, record: Mapping[str, Any]) -> HandedOver:
        listed: Listed = json.loads(record["body"])["commits"]
        commits = tuple(
            CommitName(UsagePartition(tenant, session), number)
            for tenant, session, numbers in listed
            for number in numbers
        )
        sent = int(record["attributes"]["SentTimestamp"]) / 1_000
        received = int(record["attributes"].get("ApproximateReceiveCount", 1))
        return HandedOver(record["messageId"], datetime.fromtimestamp(sent, UTC), commits, received)


def _bodies(commits: Iterable[CommitName]) -> Iterator[str]:
    ordered = sorted(set(commits))
    for at in range(0, len(ordered), MAX_COMMITS):
        sessions: dict[UsagePartition, list[int]] = {}
        for partition, number in ordered[at : at + MAX_COMMITS]:
            sessions.setdefault(partition, []).append(number)
        listed: Listed = [(*partition, numbers) for partition, numbers in sessions.items()]
        yield json.dumps({"commits": listed}, separators=(",", ":"))


class DynamoTracedCommits(ClockedTable):
    """A CommitReader."""

    def read(self, names: Sequence[CommitName]) -> Sequence[TracedCommit]:
        keys = {name: commit_key(*name) for name in names}
        by_key = {items.item_name(key): name for name, key in keys.items()}
        found: list[TracedCommit] = []
        for item in batch_get(self._dynamodb, self._clock, self._table, keys.values()):
            if not items.is_tombstone(item):
                with suppress(PoisonedSession):
                    name, commit = by_key[items.item_name(item)], items.item_commit(item)
                    found.append(TracedCommit(name, commit, items.is_restored(item)))
        return sorted(found, key=lambda each: each.name)

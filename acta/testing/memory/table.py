"""What the in-memory log and index share, as those in DynamoDB share a table.

Documents are kept as the bytes that a real store would hold, so that what does not survive storing does not survive
here.
"""

from datetime import datetime
from threading import RLock
from typing import NamedTuple

from acta.engine.limits.shares import LeaseChange
from acta.engine.limits.tenant_limits import TenantCounts
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.log.store import GrantChanged, IndexEntry, KeyTaken, LiveKind, Places, live_shard
from acta.engine.notifications.receiver import TenantReceiver
from acta.engine.tools.tool import ToolSecret
from acta.engine.usage.usage import UsageBaseline


class StoredCommit(NamedTuple):
    version: int
    body: bytes
    interventions: tuple[str, ...]


class StoredIntervention(NamedTuple):
    version: int
    session_id: str
    state: str
    body: bytes


class StoredDocument(NamedTuple):
    version: int
    body: bytes


class MemoryTable:
    """Each map goes from (tenant, …) to what is stored. `lock` makes a transaction of several changes."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.commits: dict[tuple[str, str], dict[int, StoredCommit]] = {}
        self.deleted: set[tuple[str, str]] = set()
        """Deleted sessions: their commits keep their numbers and nothing else."""
        self.listing: dict[tuple[str, str], IndexEntry] = {}
        self.live: dict[tuple[LiveKind, int | None], dict[tuple[str, str], IndexEntry]] = {}
        """By kind and shard, the entries of the listing that are in it."""
        self.interventions: dict[tuple[str, str], StoredIntervention] = {}
        self.counts: dict[str, TenantCounts] = {}
        self.granted: dict[tuple[str, int, bool], int] = {}
        self.shares: dict[tuple[str, int, bool, int], int] = {}
        """How many tokens of an hour are free in one share of that hour."""
        self.records: dict[tuple[str, str, str], IdempotencyRecord] = {}
        self.agents: dict[tuple[str, str], StoredDocument] = {}
        self.prompts: dict[tuple[str, str], dict[int, StoredDocument]] = {}
        self.seeds: dict[str, StoredDocument] = {}
        self.memories: dict[tuple[str, str], StoredDocument] = {}
        self.tools: dict[tuple[str, str], StoredDocument] = {}
        self.mcp_servers: dict[tuple[str, str], StoredDocument] = {}
        self.tool_secrets: dict[tuple[str, str], ToolSecret] = {}
        self.tenant_receivers: dict[str, TenantReceiver] = {}
        self.receivers: dict[tuple[str, str], str] = {}
        """The URLs of sessions' webhooks."""
        self.erasures: dict[tuple[str, str], datetime] = {}
        self.left: dict[tuple[str, str], UsageBaseline] = {}
        """The usage of deleted sessions that is still to be counted."""
        self.partials: dict[tuple[str, str], StoredDocument] = {}
        self.markers: dict[tuple[str, str], StoredDocument] = {}

    def put_listing(self, entry: IndexEntry) -> None:
        name = entry.tenant, entry.session_id
        self.remove_listing(*name)
        self.listing[name] = entry
        if entry.live is not None:
            partition = (entry.live.kind, live_shard(entry.session_id))
            self.live.setdefault(partition, {})[name] = entry

    def remove_listing(self, tenant: str, session_id: str) -> None:
        self.listing.pop((tenant, session_id), None)
        for entries in self.live.values():
            entries.pop((tenant, session_id), None)

    def check_lease(self, lease: LeaseChange) -> None:
        """Call it with the lock held. Raises GrantChanged, before anything is written."""
        granted = self.granted.get((lease.tenant, lease.hour, lease.of_day), 0)
        if lease.of_hour > 0 and granted + lease.of_hour > lease.limit:
            raise GrantChanged
        share = lease.tenant, lease.hour, lease.of_day, lease.share or 0
        free = 0 if lease.share is None else self.shares.get(share, 0)
        if lease.of_share < 0 and free + lease.of_share < 0:
            raise GrantChanged

    def change_lease(self, lease: LeaseChange) -> None:
        """Call it with the lock held."""
        hour = lease.tenant, lease.hour, lease.of_day
        self.granted[hour] = self.granted.get(hour, 0) + lease.of_hour
        if lease.share is not None:
            share = *hour, lease.share
            self.shares[share] = self.shares.get(share, 0) + lease.of_share

    def count(self, places: Places | None, now: datetime) -> None:
        """Call it with the lock held. Raises LimitReached, before anything else is written."""
        if places is None:
            return
        counts, start = self.counts.get(places.tenant, TenantCounts()), places.start
        refusal = None if start is None else start.refusal(counts, places.opened, now)
        if refusal is not None:
            raise refusal
        if start is not None and start.most_starts is not None:
            started = counts.starts + 1 if counts.minute >= start.minute else 1
            counts = counts._replace(minute=max(start.minute, counts.minute), starts=started)
        self.counts[places.tenant] = counts._replace(open=counts.open + places.opened)

    def take_key(self, record: IdempotencyRecord | None, now: datetime) -> None:
        """Call it with the lock held. Raises KeyTaken, before anything else is written."""
        if record is None:
            return
        there = self.records.get((record.tenant, record.route, record.key))
        if there is not None and there.expires_at > now:
            raise KeyTaken
        self.records[record.tenant, record.route, record.key] = record

    def leave_key(self, record: IdempotencyRecord) -> None:
        """Call it with the lock held."""
        self.records.pop((record.tenant, record.route, record.key), None)

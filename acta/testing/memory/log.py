"""A session's log in memory, with its large texts and with what a turn keeps of its model call: the marker of each
attempt, and the text that is being written.
"""

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache

from acta.engine.clock import Clock
from acta.engine.errors import Fenced
from acta.engine.limits.tenant_limits import TenantCounts
from acta.engine.log.beside import PARTIAL_VERSION, AttemptsChanged, BlobMissing, Marker, PartialReply
from acta.engine.log.commit import Commit
from acta.engine.log.dynamodb import from_marker, from_partial, to_marker, to_partial
from acta.engine.log.store import (
    NO_ITEMS,
    Erasure,
    KeyTaken,
    LogPage,
    NumberTaken,
    Occupied,
    Places,
    TransactionItems,
)
from acta.engine.people.visibility import check_visible
from acta.engine.store.schema import CURRENT
from acta.engine.store.table_layout import from_commit, from_intervention, to_commit
from acta.engine.usage.usage import counted
from acta.testing.memory.table import MemoryTable, StoredCommit, StoredDocument, StoredIntervention

KEPT = 4_096
"""How many decoded commits are kept. They are frozen, and equal bytes are equal commits."""


class MemoryLog:
    def __init__(self, table: MemoryTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def read(self, tenant: str, session_id: str, since: int, limit: int | None = None) -> LogPage:
        with self._table.lock:
            stored = self._table.commits.get((tenant, session_id), {})
            found = [stored[number] for number in sorted(stored) if number >= since]
            if (tenant, session_id) in self._table.deleted:
                found = []
        kept = found if limit is None else found[:limit]
        commits = tuple(_read(each.version, each.body) for each in kept)
        if commits:
            check_visible(commits[-1].head, lambda: self._latest(tenant, session_id))
        return LogPage(commits, complete=len(kept) == len(found))

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        newest = self._latest(tenant, session_id)
        if newest is not None:
            check_visible(newest.head, lambda: newest)
        return newest

    def _latest(self, tenant: str, session_id: str) -> Commit | None:
        with self._table.lock:
            stored = self._table.commits.get((tenant, session_id))
            newest = (
                stored[max(stored)] if stored and (tenant, session_id) not in self._table.deleted else None
            )
        return None if newest is None else _read(newest.version, newest.body)

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        tenant, session_id = commit.head.tenant, commit.head.session_id
        listing, record, leases = extra_items.listing, extra_items.idempotency, extra_items.leases
        erasure, places, receiver = extra_items.erasure, extra_items.places, extra_items.receiver
        lifted = extra_items.lifted
        beside = (listing, record, *leases, erasure, places, receiver, lifted)
        if any(each is not None and each.tenant != tenant for each in beside):
            raise ValueError("what is written with a commit belongs to its tenant")
        body = from_commit(commit)
        with self._table.lock:
            commits = self._table.commits.setdefault((tenant, session_id), {})
            if commit.number in commits:
                raise NumberTaken
            if record is not None:
                there = self._table.records.get((record.tenant, record.route, record.key))
                if there is not None and there.expires_at > self._clock.now():
                    raise KeyTaken
            if extra_items.restored and self._is_occupied(tenant, session_id, extra_items):
                raise Occupied
            for lease in leases:
                self._table.check_lease(lease)
            self._table.count(places, self._clock.now())
            for lease in leases:
                self._table.change_lease(lease)
            ids = tuple(each.intervention_id for each in extra_items.interventions)
            commits[commit.number] = StoredCommit(commit.version, body, ids)
            if listing is not None:
                self._table.put_listing(listing)
            for each in extra_items.interventions:
                body = from_intervention(each, commit.version)
                stored = StoredIntervention(commit.version, each.session_id, each.state, body)
                self._table.interventions[tenant, each.intervention_id] = stored
            if receiver is not None:
                self._table.receivers[tenant, session_id] = receiver.url
            if erasure is not None:
                self.note_erasure(erasure)
                left = counted(commit.head, commit.number, commit.head.created_by)
                self._table.left[tenant, session_id] = left
            if lifted is not None:
                self.end_erasure(tenant, session_id)
            if record is not None:
                self._table.records[tenant, record.route, record.key] = record

    def _is_occupied(self, tenant: str, session_id: str, extra_items: TransactionItems) -> bool:
        here, table = (tenant, session_id), self._table
        return (
            (extra_items.listing is not None and here in table.listing)
            or (extra_items.receiver is not None and here in table.receivers)
            or any((tenant, one.intervention_id) in table.interventions for one in extra_items.interventions)
        )

    def check_places(self, places: Places) -> None:
        if places.start is not None:
            counts = self._table.counts.get(places.tenant, TenantCounts())
            refusal = places.start.refusal(counts, places.opened, self._clock.now())
            if refusal is not None:
                raise refusal

    def delete(self, tenant: str, session_id: str) -> None:
        with self._table.lock:
            for commit in self._table.commits.get((tenant, session_id), {}).values():
                for intervention_id in commit.interventions:
                    self._table.interventions.pop((tenant, intervention_id), None)
            self._table.deleted.add((tenant, session_id))
            listed = self._table.listing.get((tenant, session_id))
            if listed is not None and listed.counted:
                self._table.count(Places(tenant, opened=-1), self._clock.now())
            self._table.remove_listing(tenant, session_id)
            self._table.partials.pop((tenant, session_id), None)
            self._table.markers.pop((tenant, session_id), None)
            self._table.receivers.pop((tenant, session_id), None)

    def note_erasure(self, erasure: Erasure) -> None:
        with self._table.lock:
            self._table.erasures[erasure.tenant, erasure.session_id] = erasure.at

    def end_erasure(self, tenant: str, session_id: str) -> None:
        with self._table.lock:
            self._table.erasures.pop((tenant, session_id), None)


@lru_cache(KEPT)
def _read(version: int, body: bytes) -> Commit:
    return to_commit(version, body)


class MemoryBlobs:
    def __init__(self) -> None:
        self._texts: dict[tuple[str, str, str], str] = {}

    def put(self, tenant: str, session_id: str, text: str) -> str:
        name = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        self._texts[tenant, session_id, name] = text
        return name

    def put_named(self, tenant: str, session_id: str, name: str, text: str) -> None:
        self._texts[tenant, session_id, name] = text

    def get(self, tenant: str, session_id: str, names: Iterable[str]) -> Mapping[str, str]:
        try:
            return {name: self._texts[tenant, session_id, name] for name in names}
        except KeyError:
            raise BlobMissing("a blob is missing") from None

    def names(self, tenant: str, session_id: str) -> list[str]:
        return [name for held, session, name in self._texts if (held, session) == (tenant, session_id)]

    def delete_all(self, tenant: str, session_id: str) -> None:
        self._texts = {key: text for key, text in self._texts.items() if key[:2] != (tenant, session_id)}


class MemoryAttempts:
    def __init__(self, table: MemoryTable, *, write_version: int = CURRENT) -> None:
        self._version = write_version
        self._table = table

    def write(self, tenant: str, session_id: str, marker: Marker, *, after: str | None) -> None:
        with self._table.lock:
            if (tenant, session_id) in self._table.deleted:
                raise Fenced("the session was deleted")
            found = self._table.markers.get((tenant, session_id))
            there = _marker(found)
            if found is not None and there.last_id not in (after, marker.last_id):
                raise AttemptsChanged(there)
            stored = StoredDocument(self._version, from_marker(marker, self._version))
            self._table.markers[tenant, session_id] = stored

    def read(self, tenant: str, session_id: str) -> Marker:
        with self._table.lock:
            return _marker(self._table.markers.get((tenant, session_id)))


def _marker(stored: StoredDocument | None) -> Marker:
    return Marker() if stored is None else to_marker(stored.version, stored.body)


class MemoryPartials:
    def __init__(self, table: MemoryTable) -> None:
        self._table = table

    def put(self, tenant: str, session_id: str, partial: PartialReply) -> None:
        with self._table.lock:
            if (tenant, session_id) not in self._table.deleted:
                stored = StoredDocument(PARTIAL_VERSION, from_partial(partial))
                self._table.partials[tenant, session_id] = stored

    def get(self, tenant: str, session_id: str) -> PartialReply | None:
        with self._table.lock:
            stored = self._table.partials.get((tenant, session_id))
        return None if stored is None else to_partial(stored.version, stored.body)

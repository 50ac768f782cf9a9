"""Markers of model calls in memory."""

from acta.testing.memory.table import MemoryTable, StoredDocument
from shared.adapters.dynamodb.attempts import from_marker, to_marker
from shared.domain.errors import Fenced
from shared.domain.schema.versions import CURRENT
from shared.domain.session.attempt import Marker
from shared.ports.attempts import AttemptsChanged


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

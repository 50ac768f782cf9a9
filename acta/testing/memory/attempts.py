"""What a turn keeps of its model call in memory: the marker of each attempt, and the text that is being written."""

from acta.testing.memory.table import MemoryTable, StoredDocument
from acta_engine.errors import Fenced
from acta_engine.log.attempt import PARTIAL_VERSION, AttemptsChanged, Marker, Partial
from acta_engine.log.dynamodb import from_marker, from_partial, to_marker, to_partial
from acta_engine.store.schema import CURRENT


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

    def put(self, tenant: str, session_id: str, partial: Partial) -> None:
        with self._table.lock:
            if (tenant, session_id) not in self._table.deleted:
                stored = StoredDocument(PARTIAL_VERSION, from_partial(partial))
                self._table.partials[tenant, session_id] = stored

    def get(self, tenant: str, session_id: str) -> Partial | None:
        with self._table.lock:
            stored = self._table.partials.get((tenant, session_id))
        return None if stored is None else to_partial(stored.version, stored.body)

"""Partial texts in memory."""

from acta.testing.memory.table import MemoryTable, StoredDocument
from shared.adapters.dynamodb.running_text import from_partial, to_partial
from shared.domain.session.running_text import PARTIAL_VERSION, Partial


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

"""Tenants' tools in memory."""

from shared.adapters.dynamodb.tools import from_tool, to_tool
from shared.domain.definitions.tool import ToolDefinition
from shared.domain.schema.versions import CURRENT
from shared.ports.clock import Clock
from shared.ports.definitions import ToolChanged, ToolExists
from shared.ports.log import IdempotencyRecord
from tests.doubles.table import MemoryTable, StoredDocument


class MemoryToolStore:
    def __init__(self, table: MemoryTable, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def all(self, tenant: str) -> tuple[ToolDefinition, ...]:
        with self._table.lock:
            own = [each for key, each in sorted(self._table.tools.items()) if key[0] == tenant]
        return tuple(to_tool(each.version, each.body) for each in own)

    def get(self, tenant: str, name: str) -> ToolDefinition | None:
        stored = self._table.tools.get((tenant, name))
        return None if stored is None else to_tool(stored.version, stored.body)

    def create(self, tenant: str, tool: ToolDefinition, record: IdempotencyRecord | None = None) -> None:
        with self._table.lock:
            if (tenant, tool.name) in self._table.tools:
                raise ToolExists
            self._table.take_key(record, self._clock.now())
            self._put(tenant, tool)

    def replace(self, tenant: str, old: ToolDefinition, new: ToolDefinition) -> None:
        with self._table.lock:
            self._expect(tenant, old)
            self._put(tenant, new)

    def delete(self, tenant: str, old: ToolDefinition) -> None:
        with self._table.lock:
            self._expect(tenant, old)
            del self._table.tools[tenant, old.name]

    def _put(self, tenant: str, tool: ToolDefinition) -> None:
        self._table.tools[tenant, tool.name] = StoredDocument(CURRENT, from_tool(tool, CURRENT))

    def _expect(self, tenant: str, old: ToolDefinition) -> None:
        there = self.get(tenant, old.name)
        if there is None or (there.version, there.created_at) != (old.version, old.created_at):
            raise ToolChanged

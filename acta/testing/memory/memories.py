"""Long-term memories in memory."""

from acta.engine.clock import Clock
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.memories import memory as ranking
from acta.engine.memories.dynamodb import to_memory
from acta.engine.memories.memory import (
    MAX_PER_AGENT,
    Memory,
    MemoryChanged,
    MemoryFull,
    MemoryKind,
    MemoryPage,
)
from acta.engine.store.keys import from_cursor, to_cursor
from acta.engine.store.schema import CURRENT
from acta.engine.store.table_layout import dump
from acta.testing.memory.table import MemoryTable, StoredDocument


class MemoryMemories:
    """`most`: how many memories an agent may have. `write_version`: the schema version of what is stored."""

    def __init__(
        self, table: MemoryTable, clock: Clock, most: int = MAX_PER_AGENT, *, write_version: int = CURRENT
    ) -> None:
        self._write_version = write_version
        self._table = table
        self._clock = clock
        self._most = most

    def add(self, tenant: str, memory: Memory, record: IdempotencyRecord | None = None) -> bool:
        with self._table.lock:
            if (tenant, memory.memory_id) in self._table.memories:
                return False
            own = self._of(tenant, memory.agent_id)
            oldest = None
            if len(own) >= self._most:
                oldest = next((each for each in reversed(own) if each.makes_room_for(memory)), None)
                if oldest is None:
                    raise MemoryFull
            self._table.take_key(record, self._clock.now())
            if oldest is not None:
                del self._table.memories[tenant, oldest.memory_id]
            self._put(tenant, memory)
        return True

    def get(self, tenant: str, memory_id: str) -> Memory | None:
        stored = self._table.memories.get((tenant, memory_id))
        return None if stored is None else to_memory(stored.version, stored.body)

    def list(
        self,
        tenant: str,
        *,
        agent_id: str | None,
        kind: MemoryKind | None,
        user: str | None = None,
        admin: bool = False,
        limit: int,
        cursor: str | None,
    ) -> MemoryPage:
        scope, limit = f"M#{tenant}#{agent_id or ''}", max(limit, 1)
        before = None if cursor is None else from_cursor(scope, cursor)
        found = [
            each
            for each in self._of(tenant, agent_id)
            if kind in (None, each.kind) and (before is None or each.memory_id < before)
            if user is None or each.is_seen_by(user, admin=admin)
        ]
        following = to_cursor(scope, found[limit - 1].memory_id) if len(found) > limit else None
        return MemoryPage(tuple(found[:limit]), following)

    def update(self, tenant: str, old: Memory, new: Memory) -> None:
        with self._table.lock:
            self._expect(tenant, old)
            self._put(tenant, new)

    def delete(self, tenant: str, old: Memory) -> None:
        with self._table.lock:
            self._expect(tenant, old)
            del self._table.memories[tenant, old.memory_id]

    def relevant(
        self,
        tenant: str,
        agent_id: str,
        user: str,
        query: str,
        limit: int,
        max_chars: int,
        *,
        private: bool = False,
    ) -> tuple[Memory, ...]:
        own = [memory for memory in self._of(tenant, agent_id) if memory.is_for(user, private=private)]
        return tuple(ranking.relevant(own, query, limit, max_chars))

    def _of(self, tenant: str, agent_id: str | None) -> tuple[Memory, ...]:
        """The memories of one agent or of all, newest first."""
        with self._table.lock:
            own = [
                to_memory(each.version, each.body)
                for key, each in self._table.memories.items()
                if key[0] == tenant
            ]
        own.sort(key=lambda each: each.memory_id, reverse=True)
        return tuple(each for each in own if agent_id in (None, each.agent_id))

    def _put(self, tenant: str, memory: Memory) -> None:
        body = dump(memory, self._write_version)
        self._table.memories[tenant, memory.memory_id] = StoredDocument(self._write_version, body)

    def _expect(self, tenant: str, old: Memory) -> None:
        there = self.get(tenant, old.memory_id)
        if there is None or there.updated_at != old.updated_at:
            raise MemoryChanged

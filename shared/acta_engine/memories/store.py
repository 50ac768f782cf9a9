"""Long-term memory: what a tenant's agents keep between sessions.

All methods raise StoreThrottled and StoreUnavailable, and SchemaUnknown where a stored document has a version that this
release does not know.
"""

from typing import NamedTuple, Protocol

from acta_engine.log.commit import IdempotencyRecord
from acta_engine.memories.memory import Memory, MemoryKind


class MemoryFull(Exception):
    """The agent has `MAX_PER_AGENT` memories, and none of them is a summary that could make room. Nothing was added."""


class MemoryChanged(Exception):
    """Somebody has changed or deleted the memory since it was read. Nothing was written."""


class MemoryPage(NamedTuple):
    """Newest first. A page may have fewer than its limit and still have a cursor. `cursor` None: this is the
    last page.
    """

    memories: tuple[Memory, ...]
    cursor: str | None


class MemoryStore(Protocol):
    def add(self, tenant: str, memory: Memory, record: IdempotencyRecord | None = None) -> bool:
        """Adds a memory. False: one with this id exists, because a call ran again; it stays as it is.

        Where the agent has `MAX_PER_AGENT` memories, the oldest summary that may (`Memory.makes_room_for`) makes room.
        `record`: written in the same transaction. Raises MemoryFull, KeyTaken.
        """

    def get(self, tenant: str, memory_id: str) -> Memory | None:
        """None: there is no such memory."""

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
        """`agent_id` None: all agents. `kind` None: all kinds. `user`, `admin`: those that this person sees
        (`Memory.is_seen_by`); None: all. `limit`: the query parameter of the route in
        `shared/acta_engine/memories/routes.py`. Raises ValueError where the cursor is not valid.
        """

    def update(self, tenant: str, old: Memory, new: Memory) -> None:
        """`old`: as it was read. `new`: has the same id and agent. Raises MemoryChanged."""

    def delete(self, tenant: str, old: Memory) -> None:
        """`old`: as it was read. Raises MemoryChanged."""

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
        """The agent's memories that are for a session of the user's and fit the query, best first (see `relevant` in
        `acta_engine.memories.memory`). `private`: the session is private.
        """

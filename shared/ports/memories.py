"""Long-term memory: what an agent keeps between sessions, per tenant.

All of them raise StoreThrottled, StoreUnavailable and, where a stored document has a version this release does not
know, SchemaUnknown.
"""

from typing import NamedTuple, Protocol

from shared.domain.definitions.memory import Memory, MemoryKind
from shared.ports.log import IdempotencyRecord


class MemoryFull(Exception):
    """The agent has `MAX_PER_AGENT` memories and no summary among them that could make room; nothing was added."""


class MemoryChanged(Exception):
    """What was to be replaced or deleted is no longer there as it was read; nothing was written."""


class MemoryPage(NamedTuple):
    """Newest first; a page may be short of its limit and still have a cursor. `cursor` None: no more."""

    memories: tuple[Memory, ...]
    cursor: str | None


class MemoryStore(Protocol):
    def add(self, tenant: str, memory: Memory, record: IdempotencyRecord | None = None) -> bool:
        """False: a memory of this id is there already, and stays as it is (a call that ran again).

        At the agent's bound its oldest summary makes room. Raises MemoryFull, KeyTaken.
        """
        ...

    def get(self, tenant: str, memory_id: str) -> Memory | None: ...

    def list(
        self, tenant: str, *, agent_id: str | None, kind: MemoryKind | None, limit: int, cursor: str | None
    ) -> MemoryPage:
        """ValueError: bad cursor."""
        ...

    def update(self, tenant: str, old: Memory, new: Memory) -> None:
        """Same id and agent. Raises MemoryChanged."""
        ...

    def delete(self, tenant: str, old: Memory) -> None:
        """Raises MemoryChanged: it is gone or was replaced meanwhile."""
        ...

    def relevant(
        self, tenant: str, agent_id: str, query: str, limit: int, max_chars: int
    ) -> tuple[Memory, ...]:
        """Of the agent's memories those that fit the query (`memory.relevant`), best first."""
        ...

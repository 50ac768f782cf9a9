"""Memories as the API answers them."""

from __future__ import annotations

from typing import NotRequired

from acta.engine.api.answers import Instant, TypedDict, copied
from acta.engine.memories import memory as stored
from acta.engine.memories.memory import MemoryKind, Origin


class MemorySourceView(TypedDict):
    session_id: NotRequired[str]
    user: NotRequired[str]


class MemoryView(TypedDict):
    memory_id: str
    agent_id: str
    kind: MemoryKind
    text: str
    tags: list[str]
    source: MemorySourceView
    origin: Origin
    """null: a release that did not know it wrote the memory."""
    shared: bool
    """false: it is for its user's sessions alone."""
    created_at: Instant
    updated_at: Instant


def memory_view(memory: stored.Memory) -> MemoryView:
    return copied(MemoryView, memory, shared=memory.only_for is None)

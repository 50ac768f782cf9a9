"""Long-term memories as stored bytes."""

from shared.adapters.documents import dump, load
from shared.domain.memory import Memory

MEMORY_VERSION = 1


def from_memory(memory: Memory) -> bytes:
    return dump(memory)


def to_memory(version: int, data: bytes) -> Memory:
    return load("memory", Memory, version, MEMORY_VERSION, data)

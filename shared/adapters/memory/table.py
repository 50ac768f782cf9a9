"""What the in-memory log and index share, as the DynamoDB ones share a table.

Documents are kept as the bytes a real store would hold, so that what does not survive storing does not
survive here.
"""

from threading import RLock
from typing import NamedTuple

from shared.ports.log import IdempotencyRecord, IndexEntry


class StoredCommit(NamedTuple):
    version: int
    body: bytes
    interventions: tuple[str, ...]


class StoredIntervention(NamedTuple):
    version: int
    state: str
    body: bytes


class MemoryTable:
    """Maps from (tenant, …) to what is stored; `lock` makes a transaction of several changes."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.commits: dict[tuple[str, str], dict[int, StoredCommit]] = {}
        self.listing: dict[tuple[str, str], IndexEntry] = {}
        self.interventions: dict[tuple[str, str], StoredIntervention] = {}
        self.records: dict[tuple[str, str, str], IdempotencyRecord] = {}

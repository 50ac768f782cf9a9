"""The limit on long polls on SQLite in memory, and a load that a test sets."""

from datetime import datetime

from acta.embedded.table import SqliteTable
from acta.engine.limits.dynamodb import DynamoLongPolls
from acta.engine.limits.store import LongPolls


class MemoryLongPolls(DynamoLongPolls):
    """`gets`, `puts`: how often it was read and written; `failure`: raised instead, while it is set."""

    def __init__(self) -> None:
        super().__init__("t", SqliteTable(None))
        self.gets = self.puts = 0
        self.failure: Exception | None = None

    def get(self, now: datetime) -> LongPolls:
        self.gets += 1
        if self.failure is not None:
            raise self.failure
        return super().get(now)

    def put(self, limit: LongPolls, now: datetime) -> None:
        self.puts += 1
        super().put(limit, now)


class SetLoad:
    def __init__(self, load: float | None = None) -> None:
        self.value = load

    def load(self, now: datetime) -> float | None:
        return self.value

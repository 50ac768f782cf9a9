"""The shares of tenants' rates on SQLite in memory."""

from acta.embedded.table import SqliteTable
from acta.engine.limits.dynamodb import DynamoRateLeases
from acta.engine.limits.store import RequestNumbers


class MemoryRateLeases(DynamoRateLeases):
    """`writes`: how many there were; `failure`: raised instead, while it is set."""

    def __init__(self) -> None:
        super().__init__("t", SqliteTable(None))
        self.writes = 0
        self.failure: Exception | None = None

    def take(self, tenant: str, window: int, size: int) -> RequestNumbers:
        self._write()
        return super().take(tenant, window, size)

    def hold(self, tenant: str, window: int, most: int, *, renews: bool) -> bool:
        self._write()
        return super().hold(tenant, window, most, renews=renews)

    def _write(self) -> None:
        self.writes += 1
        if self.failure is not None:
            raise self.failure

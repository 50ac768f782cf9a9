"""The last scans of recovery on SQLite in memory, and where its housekeeping goes on."""

from acta.embedded.table import SqliteTable
from acta.engine.recovery.aws import DynamoRecoveryScans
from acta.engine.recovery.store import Round, RoundResult


class MemoryRecoveryScans(DynamoRecoveryScans):
    """`failure`: raised by a write of a scan, while it is set."""

    def __init__(self) -> None:
        super().__init__("t", SqliteTable(None))
        self.failure: Exception | None = None

    def put(self, round: Round, scan: RoundResult) -> None:
        if self.failure is not None:
            raise self.failure
        super().put(round, scan)

"""The last scan of recovery in memory."""

from shared.ports.deployment.recovery_scans import RecoveryScan


class MemoryRecoveryScans:
    """`failure`: raised by a write, while it is set."""

    def __init__(self, scan: RecoveryScan | None = None) -> None:
        self._scan = scan
        self.failure: Exception | None = None

    def last(self) -> RecoveryScan | None:
        return self._scan

    def put(self, scan: RecoveryScan) -> None:
        if self.failure is not None:
            raise self.failure
        self._scan = scan

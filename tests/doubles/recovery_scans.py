"""The last scans of recovery in memory, and where its housekeeping goes on."""

from acta_engine.recovery.store import Place, RecoveryScan, Round


class MemoryRecoveryScans:
    """`failure`: raised by a write of a scan, while it is set."""

    def __init__(self) -> None:
        self._scans: dict[Round, RecoveryScan] = {}
        self._place = Place()
        self.failure: Exception | None = None

    def last(self) -> dict[Round, RecoveryScan]:
        return dict(self._scans)

    def put(self, round: Round, scan: RecoveryScan) -> None:
        if self.failure is not None:
            raise self.failure
        self._scans[round] = scan

    def place(self) -> Place:
        return self._place

    def put_place(self, place: Place) -> None:
        self._place = place

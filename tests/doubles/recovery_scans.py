"""The last scans of recovery in memory, and where its housekeeping goes on."""

from acta.engine.recovery.store import HousekeepingPlace, Round, RoundResult


class MemoryRecoveryScans:
    """`failure`: raised by a write of a scan, while it is set."""

    def __init__(self) -> None:
        self._scans: dict[Round, RoundResult] = {}
        self._place = HousekeepingPlace()
        self.failure: Exception | None = None

    def last(self) -> dict[Round, RoundResult]:
        return dict(self._scans)

    def put(self, round: Round, scan: RoundResult) -> None:
        if self.failure is not None:
            raise self.failure
        self._scans[round] = scan

    def place(self) -> HousekeepingPlace:
        return self._place

    def put_place(self, place: HousekeepingPlace) -> None:
        self._place = place

"""What recovery does for the deployment in each minute besides: the limit of long polls, and the sessions that are
erased because somebody deleted them or because they are older than the deployment keeps them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from acta.engine.clock import Clock
from acta.engine.limits.long_polls import limit_long_polls
from acta.engine.limits.store import LoadMeter, LongPollStore
from acta.engine.log.beside import BlobStore
from acta.engine.log.repository import SessionRepository
from acta.engine.log.store import SessionIndex, SessionLog
from acta.engine.recovery.store import HousekeepingPlace, RecoveryScans
from acta.engine.sessions.delete import ErasureDeps, RetentionDeps, delete_ended, erase_again
from acta.engine.settings import Settings
from acta.engine.telemetry import Telemetry


@dataclass(eq=False, repr=False)
class Housekeeping:
    settings: Settings
    repository: SessionRepository
    log: SessionLog
    blobs: BlobStore
    session_index: SessionIndex
    scans: RecoveryScans
    """Where each task stopped."""
    long_polls: LongPollStore
    load: LoadMeter | None
    """None where nothing measures the load."""
    clock: Clock
    telemetry: Telemetry

    def keep(self, time_is_left: Callable[[], bool]) -> None:
        """`time_is_left`: whether another session can be erased. An error of one session stops nothing."""
        self._limit_long_polls()  # first, because it is short
        tasks = [self._erase_again, self._delete_ended]
        if int(self.clock.now().timestamp()) // 60 % 2:  # neither takes the time of the other for ever
            tasks.reverse()
        place = self.scans.place()
        for task in tasks:
            before, place = place, task(place, time_is_left)
            if place != before:
                self.scans.put_place(place)

    def _limit_long_polls(self) -> None:
        """Sets the limit of long polls. Housekeeping goes on even if this fails."""
        if self.load is None:
            return
        try:
            limit = limit_long_polls(self.long_polls, self.load, self.clock.now())
        except Exception as error:
            self.telemetry.failure(error, at="limit_long_polls")
            return
        if limit is not None:
            self.telemetry.logger.info("long_polls", extra={"share": limit.share})

    def _erase_again(self, place: HousekeepingPlace, time_is_left: Callable[[], bool]) -> HousekeepingPlace:
        after = self.settings.erase_again_seconds
        erasure = ErasureDeps(
            self.log, self.blobs, self.session_index, self.clock, after, time_is_left, self._failed
        )
        erased = erase_again(erasure, place.erasures)
        if erased.sessions:
            self.telemetry.logger.info("erased", extra={"sessions": erased.sessions})
        return place._replace(erasures=erased.cursor)

    def _delete_ended(self, place: HousekeepingPlace, time_is_left: Callable[[], bool]) -> HousekeepingPlace:
        retention = RetentionDeps(
            self.repository,
            self.log,
            self.blobs,
            self.session_index,
            self.clock,
            self.settings.ended_sessions_days,
            time_is_left,
            self._failed,
        )
        deleted = delete_ended(retention, place.ended)
        if deleted.sessions:
            self.telemetry.logger.info("no longer kept", extra={"sessions": deleted.sessions})
        return place._replace(ended=deleted.place)

    def _failed(self, session_id: str, error: Exception) -> None:
        self.telemetry.failure(error, at=session_id)

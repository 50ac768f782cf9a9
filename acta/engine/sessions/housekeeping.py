"""What recovery does for the deployment in each minute besides: the limit of long polls, and the sessions that are
erased because somebody deleted them or because they are older than the deployment keeps them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from acta.engine.app import App
from acta.engine.limits.long_polls import limit_long_polls
from acta.engine.recovery.store import HousekeepingPlace
from acta.engine.sessions.delete import delete_ended, erase_again


@dataclass(eq=False, repr=False)
class Housekeeping:
    app: App

    def keep(self, time_is_left: Callable[[], bool]) -> None:
        """`time_is_left`: whether another session can be erased. An error of one session stops nothing."""
        self._limit_long_polls()  # first, because it is short
        tasks = [self._erase_again, self._delete_ended]
        if int(self.app.clock.now().timestamp()) // 60 % 2:  # neither takes the time of the other for ever
            tasks.reverse()
        place = self.app.scans.place()
        for task in tasks:
            before, place = place, task(place, time_is_left)
            if place != before:
                self.app.scans.put_place(place)

    def _limit_long_polls(self) -> None:
        """Sets the limit of long polls. Housekeeping goes on even if this fails."""
        if self.app.load is None:
            return
        try:
            limit = limit_long_polls(self.app.long_polls, self.app.load, self.app.clock.now())
        except Exception as error:
            self.app.telemetry.failure(error, at="limit_long_polls")
            return
        if limit is not None:
            self.app.telemetry.logger.info("long_polls", extra={"share": limit.share})

    def _erase_again(self, place: HousekeepingPlace, time_is_left: Callable[[], bool]) -> HousekeepingPlace:
        erased = erase_again(self.app, time_is_left, self._failed, place.erasures)
        if erased.sessions:
            self.app.telemetry.logger.info("erased", extra={"sessions": erased.sessions})
        return place._replace(erasures=erased.cursor)

    def _delete_ended(self, place: HousekeepingPlace, time_is_left: Callable[[], bool]) -> HousekeepingPlace:
        deleted = delete_ended(self.app, time_is_left, self._failed, place.ended)
        if deleted.sessions:
            self.app.telemetry.logger.info("no longer kept", extra={"sessions": deleted.sessions})
        return place._replace(ended=deleted.place)

    def _failed(self, session_id: str, error: Exception) -> None:
        self.app.telemetry.failure(error, at=session_id)

"""A clock that stands still until a test moves it."""

from datetime import UTC, datetime, timedelta

from acta.engine.clock import make_id


class FakeClock:
    """Ids are numbered, so that they sort in the order in which they were made. `pauses`: the seconds for which others
    would have waited.
    """

    def __init__(self, now: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._now = now
        self._ids = 0
        self.pauses: list[float] = []

    def now(self) -> datetime:
        return self._now

    def set(self, now: datetime) -> None:
        self._now = now

    def advance(self, seconds: float) -> None:
        self._now += timedelta(seconds=seconds)

    def new_id(self, prefix: str) -> str:
        self._ids += 1
        return make_id(prefix, int(self._now.timestamp() * 1_000), self._ids.to_bytes(10))

    def sleep(self, seconds: float) -> None:
        self.advance(seconds)

    def back_off(self, max_seconds: float) -> None:
        """Time moves on by all of `max_seconds`; nobody waits."""
        self.pauses.append(max_seconds)
        self.advance(max_seconds)

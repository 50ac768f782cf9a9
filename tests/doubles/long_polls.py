"""The limit on long polls in memory, and a load that a test sets."""

from datetime import datetime

from acta.engine.limits.store import LIMIT_LIFE, LongPolls


class MemoryLongPolls:
    """`gets`, `puts`: how often it was read and written; `failure`: raised instead, while it is set."""

    def __init__(self) -> None:
        self._put: tuple[LongPolls, datetime] | None = None
        self.gets = self.puts = 0
        self.failure: Exception | None = None

    def get(self, now: datetime) -> LongPolls:
        self.gets += 1
        if self.failure is not None:
            raise self.failure
        if self._put is None or self._put[1] + LIMIT_LIFE <= now:
            return LongPolls()
        return self._put[0]

    def put(self, limit: LongPolls, now: datetime) -> None:
        self.puts += 1
        self._put = (limit, now)


class SetLoad:
    def __init__(self, load: float | None = None) -> None:
        self.value = load

    def load(self, now: datetime) -> float | None:
        return self.value

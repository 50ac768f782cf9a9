"""Long polls give way when concurrency runs short: recovery measures, whoever answers polls reads (ADR 42)."""

from contextlib import suppress
from datetime import datetime, timedelta

from acta_engine.clock import Clock
from acta_engine.errors import TransientError
from acta_engine.limits.long_poll_rules import LongPolls, after_measuring
from acta_engine.limits.store import LIMIT_LIFE, LoadMeter, LongPollStore

KEPT = timedelta(seconds=15)
"""How long a process goes by the limit that it read."""


def limit_long_polls(store: LongPollStore, meter: LoadMeter, now: datetime) -> LongPolls | None:
    """Measures the load and stores what follows from it. None: there is no limit and none is needed, or the load is not
    known; a limit that is not renewed ends by itself.
    """
    load = meter.load(now)
    if load is None:
        return None
    before = store.get(now)
    limit = after_measuring(before, load)
    if before == limit == LongPolls():
        return None
    store.put(limit, now)
    return limit


class LongPollLimit:
    """The limit as this process knows it."""

    def __init__(self, store: LongPollStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._read_at: datetime | None = None
        self._known = LongPolls()

    def now(self, *, reading: bool) -> LongPolls:
        """What holds. `reading`: whether a request may be made for it, which is one each `KEPT`. Where it cannot be
        read the last known limit goes on, as long as a limit lives; after that there is none.
        """
        now = self._clock.now()
        age = now - self._read_at if self._read_at is not None else LIMIT_LIFE
        if age >= LIMIT_LIFE:
            self._known = LongPolls()
        if reading and age >= KEPT:
            with suppress(TransientError):
                self._known = self._store.get(now)
                self._read_at = now
        return self._known

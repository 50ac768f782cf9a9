"""Long polls give way when the functions' concurrency runs short: recovery measures the load each minute, and whoever
answers polls reads what follows from it (ADR 42).

Load is the part of the concurrent executions that is in use. A measure is minutes old when it is used, so the share
changes little between two measures. It falls fast, rises slowly, and rests in between. The longest wait without load is
in `acta/engine/sessions/routes.py`.
"""

from contextlib import suppress
from datetime import datetime, timedelta

from acta.engine.clock import Clock
from acta.engine.errors import TransientError
from acta.engine.limits.store import LIMIT_LIFE, LoadMeter, LongPolls, LongPollStore

FULL, HIGH, LOW = 0.8, 0.6, 0.3
SMALLEST = 0.01
RISE = 1.25
"""The growth per measure. Metrics lag by up to four measures, and 1.25 to the power of four is less than FULL / LOW."""
KEPT = timedelta(seconds=15)
"""How long a process uses the limit that it read."""


def after_measuring(before: LongPolls, load: float) -> LongPolls:
    """The limit that follows from the one before and the load that was measured."""
    if load >= FULL:
        return LongPolls(0.0)
    if load >= HIGH:
        return LongPolls(before.share / 2 if before.share > SMALLEST else 0.0)
    if load >= LOW:
        return before
    return LongPolls(min(1.0, max(SMALLEST, before.share * RISE)))


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
        """The limit in force. `reading`: whether the store may be asked, which happens once in `KEPT`. Where the store
        does not answer, the last known limit stays in force for as long as a limit lives.
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

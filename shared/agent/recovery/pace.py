"""How fast one invocation of recovery goes on with sessions, so that it leaves room for everybody else's starts."""

from threading import Lock

from shared.ports.clock import Clock

SESSIONS_PER_SECOND = 25.0
"""Of one invocation. Half the CPU that its memory gives it (ADR 108)."""


class Pace:
    """Waits until the next session may be looked at, at so many `per_second`, whichever thread asks."""

    def __init__(self, clock: Clock, per_second: float = SESSIONS_PER_SECOND) -> None:
        self._clock = clock
        self._seconds = 1 / per_second
        self._lock = Lock()
        self._next = clock.now().timestamp()

    def __call__(self) -> None:
        with self._lock:
            now = self._clock.now().timestamp()
            wait = self._next - now
            self._next = max(self._next, now) + self._seconds
        if wait > 0:
            self._clock.sleep(wait)

"""What the running invocation uses of AWS: its time, its requests (ADR 61).

A process serves one invocation at a time, so there is one meter, for all threads of it. What an invocation of the
engine uses after its last commit is kept and counted with the next commit, if the same session comes next to this
process; it is dropped if another one does.
"""

import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from shared.domain.spending.transitions import BY_INVOCATION
from shared.domain.spending.used import NOTHING, Used

START_FIELD = 19
"""Of /proc/self/stat, behind the name of the program: when the process started, in ticks since the boot."""


class InvocationMeter:
    """`clock`: seconds, from anywhere on."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._session = ""
        self._used = NOTHING
        self._since: float | None = None
        self._parts = 0.0
        self._ahead = 0
        self._init_ms = 0.0

    def started(self, ms: float) -> None:
        """How long the process took to start; the first invocation pays for it. Only the first call counts."""
        if not self._init_ms:
            self._init_ms = ms

    def begin(self, function: str, memory_mb: int, event: Mapping[str, Any]) -> None:
        """An invocation begins. `event`: the engine's has a position, any other belongs to no session yet."""
        at = event.get("at")
        session = str(at.get("session_id", "")) if isinstance(at, Mapping) else ""
        operation, attempt = event.get("op"), event.get("attempt", 0)
        entered = BY_INVOCATION.get(operation, 0) if session and isinstance(operation, str) else 0
        if entered and isinstance(attempt, int):
            entered += attempt
        with self._lock:
            kept = self._used if session and session == self._session else NOTHING
            self._session, self._ahead = session, 0
            self._used = kept._replace(
                function=function,
                memory_mb=memory_mb,
                invocations=kept.invocations + 1,
                transitions=kept.transitions + entered,
            )
            self._parts, self._init_ms = max(0.0, self._init_ms), -1.0
            self._since = self._clock()

    def end(self) -> None:
        with self._lock:
            self._pass()
            self._since = None

    def note(self, **used: int) -> None:
        """Adds to the fields of `Used` of these names."""
        with self._lock:
            now = {name: getattr(self._used, name) + more for name, more in used.items()}
            self._used = self._used._replace(**now)

    def take(self, transitions: int = 0) -> Used:
        with self._lock:
            self._pass()
            taken = self._used._replace(transitions=self._used.transitions - self._ahead + transitions)
            self._used = NOTHING._replace(function=taken.function, memory_mb=taken.memory_mb)
            self._ahead = transitions
            return taken

    def give_back(self, used: Used) -> None:
        with self._lock:
            mine = self._used
            summed = {
                name: getattr(mine, name) + getattr(used, name)
                for name in Used._fields
                if name not in ("function", "memory_mb")
            }
            self._used = mine._replace(
                **summed | {"transitions": mine.transitions + used.transitions - self._ahead}
            )
            self._ahead = 0

    def _pass(self) -> None:
        """Whole milliseconds are used, parts of them wait."""
        if self._since is None:
            return
        now = self._clock()
        self._parts += (now - self._since) * 1_000
        self._since = now
        whole = math.floor(self._parts)
        self._parts -= whole
        self._used = self._used._replace(ms=self._used.ms + whole)


METER = InvocationMeter()
"""The process's."""


def ms_since_start() -> float:
    """How long this process has lived; 0 where the system does not tell, and where a snapshot of it was restored."""
    if os.environ.get("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand") != "on-demand":
        return 0.0
    try:
        with open("/proc/self/stat", encoding="ascii", errors="replace") as told:
            ticks = int(told.read().rpartition(")")[2].split()[START_FIELD])
        lived = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return 0.0
    return max(0.0, lived * 1_000)

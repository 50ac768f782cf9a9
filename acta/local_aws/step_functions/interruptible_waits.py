"""Waits that can be ended from outside: by StopExecution, a timeout, a failed sibling, the emulator's end.

An execution is a tree of scopes: the root for the execution, a child for every Map and Parallel state. Every wait
of the engine belongs to a scope. The end of a scope ends the waits in it at once.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupted(Exception):
    """The scope ended; what it was doing has no result.

    Interrupted
    +-- Stopped    StopExecution; the status is already ABORTED
    +-- TimedOut   the machine's TimeoutSeconds; the status becomes TIMED_OUT
    +-- Abandoned  a sibling iteration or branch failed; its state carries the error
    +-- Frozen     the emulator ends; the execution stays RUNNING in the saved state
    """


class Stopped(Interrupted): ...


class TimedOut(Interrupted): ...


class Abandoned(Interrupted): ...


class Frozen(Interrupted): ...


class Latch:
    """Takes one outcome, the first. After `close` it takes none."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._outcome: object | None = None
        self._closed = False

    def settle(self, outcome: object) -> bool:
        """False when the outcome came too late."""
        with self._condition:
            if self._closed:
                return False
            self._closed = True
            self._outcome = outcome
            self._condition.notify_all()
            return True

    def close(self) -> None:
        with self._condition:
            self._closed = True
            self._condition.notify_all()

    @property
    def open(self) -> bool:
        return not self._closed

    @property
    def outcome(self) -> object | None:
        return self._outcome

    def wait(self, until: float | None) -> None:
        """`until` is a time of `time.monotonic`."""
        with self._condition:
            timeout = None if until is None else max(0.0, until - time.monotonic())
            self._condition.wait_for(lambda: self._closed, timeout)


class Scope:
    """`deadline`: a time of `time.monotonic`. `longest_pause`: seconds that one `sleep` takes at most; None: as long as
    it is told.
    """

    def __init__(
        self,
        deadline: float | None = None,
        parent: Scope | None = None,
        longest_pause: float | None = None,
    ) -> None:
        self._root: Scope = parent._root if parent else self
        self._lock: threading.Lock = parent._lock if parent else threading.Lock()
        self._deadline = deadline
        self._longest_pause = longest_pause
        self._parent = parent
        self._children: set[Scope] = set()
        self._latches: set[Latch] = set()
        self._reason: Interrupted | None = None

    def child(self) -> Scope:
        inner = Scope(parent=self)
        with self._lock:
            inner._reason = self._reason
            self._children.add(inner)
        return inner

    def end(self, reason: Interrupted) -> None:
        """End this scope and everything in it. Latches are closed before this returns."""
        with self._lock:
            self._end(reason)

    def _end(self, reason: Interrupted) -> None:
        if self._reason is not None:
            return
        self._reason = reason
        for latch in self._latches:
            latch.close()
        for inner in self._children:
            inner._end(reason)

    def leave(self) -> None:
        """The state that this scope was made for is over."""
        self.end(Abandoned())
        if self._parent is not None:
            with self._lock:
                self._parent._children.discard(self)

    def check(self) -> None:
        """Raises Interrupted when this scope ended or the execution's time is over."""
        deadline = self._root._deadline
        if deadline is not None and time.monotonic() >= deadline:
            self._root.end(TimedOut())
        reason = self._reason
        if reason is not None:
            raise type(reason)()

    @contextmanager
    def holding(self, latch: Latch) -> Iterator[None]:
        """Inside the `with` block, the end of this scope closes the latch. At the end of the block it is closed too."""
        with self._lock:
            self._latches.add(latch)
            if self._reason is not None:
                latch.close()
        try:
            yield
        finally:
            latch.close()
            with self._lock:
                self._latches.discard(latch)

    def wait(self, latch: Latch, until: float | None = None) -> object | None:
        """The outcome of a latch that is held, None if `until` came first. Raises Interrupted."""
        limits = [limit for limit in (until, self._root._deadline) if limit is not None]
        latch.wait(min(limits, default=None))
        self.check()
        return latch.outcome

    def sleep(self, seconds: float) -> None:
        """Raises Interrupted."""
        self.check()
        longest = self._root._longest_pause
        seconds = seconds if longest is None else min(seconds, longest)
        latch = Latch()
        if seconds > 0:
            with self.holding(latch):
                self.wait(latch, time.monotonic() + seconds)

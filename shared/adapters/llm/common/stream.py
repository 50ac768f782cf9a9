"""A streamed answer is read to its end, within a bound on wall time that holds whatever the other side does.

An HTTP client's timeouts bound single waits (a connect, one read). A name lookup has none, and an answer that comes
byte by byte never runs into one.
"""

import threading
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from shared.domain.errors import ProviderTimeout
from shared.ports.model import ModelReply

T = TypeVar("T")
Done = SimpleQueue[tuple[T, None] | tuple[None, BaseException]]
"""The first of it counts."""


class Abandoned(Exception):
    """Raised inside the worker by `Patience.check`; never seen by a caller."""


class CancelToken:
    """Tells the worker whether its caller still waits, and the caller whether an answer has begun, or is whole."""

    def __init__(self, whole: Callable[[Any], None] = lambda result: None) -> None:
        self._whole = whole
        self._lock = threading.Lock()
        self._over = False
        self._began = False

    def end(self) -> bool:
        """Whether an answer had begun. From then on none does."""
        with self._lock:
            self._over = True
            return self._began

    def check(self) -> None:
        if self._over:
            raise Abandoned

    def heard(self) -> None:
        """A part of the answer has arrived, and is not told to anybody yet."""
        with self._lock:
            self.check()
            self._began = True

    def answered(self, result: Any) -> None:
        """The answer is whole: its caller has it now, and whatever becomes of the connection changes nothing."""
        self._whole(result)

    @property
    def began(self) -> bool:
        return self._began


def within(
    seconds: float, provider: str, work: Callable[[CancelToken], T], begins_within: float | None = None
) -> T:
    """`work`'s result or its exception, or `ProviderTimeout` after `seconds` of wall time, or after `begins_within`
    where nothing was heard by then.
    """
    done: Done[T] = SimpleQueue()
    patience = CancelToken(lambda result: done.put((result, None)))

    def run() -> None:
        try:
            done.put((work(patience), None))
        except BaseException as error:  # handed over, not swallowed: the caller raises it
            done.put((None, error))

    threading.Thread(target=run, name=f"{provider}-call", daemon=True).start()
    first = seconds if begins_within is None else min(seconds, begins_within)
    try:
        result, error = _result(done, patience, first, seconds)
    except Empty:
        began = patience.end()
        waited = seconds if began else first
        raise ProviderTimeout(f"{provider}: no answer within {waited:.1f} s", began) from None
    finally:
        patience.end()
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def _result(
    done: Done[T], patience: CancelToken, first: float, seconds: float
) -> tuple[T, None] | tuple[None, BaseException]:
    """Raises Empty."""
    try:
        return done.get(timeout=max(first, 0.001))
    except Empty:
        if not patience.began or first >= seconds:
            raise
    return done.get(timeout=max(seconds - first, 0.001))


class Reading(Protocol):
    """A reply as far as it has arrived."""

    def says(self, event: Any) -> bool:
        """Whether a part of the answer is in it: a server says at once that it has begun, and may be silent then."""
        ...

    def feed(self, event: Any) -> None: ...

    @property
    def is_whole(self) -> bool:
        """Whether nothing more can come, though the connection may stay open."""
        ...

    def reply(self) -> ModelReply: ...


def read(events: Iterable[Any], reading: Reading, patience: CancelToken) -> ModelReply:
    """The caller has a whole reply at once; the connection is read to its end, so that it can be used again."""
    reply: ModelReply | None = None
    for event in events:
        patience.check()
        if reading.says(event):
            patience.heard()
        reading.feed(event)
        if reply is None and reading.is_whole:
            reply = reading.reply()
            patience.answered(reply)
    return reading.reply() if reply is None else reply

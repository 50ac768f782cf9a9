"""A bound on wall time that holds whatever the other side does.

An HTTP client's timeouts bound single waits (a connect, one read). A name lookup has none, and an answer that
drips one byte at a time never meets them. So the call runs on a thread of its own and is left behind when its
time is up; it notices at its next event, or at its next read timeout, and ends.
"""

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeVar

from shared.domain.errors import ProviderTimeout

T = TypeVar("T")


class Abandoned(Exception):
    """Raised inside the worker by `Patience.check`; never seen by a caller."""


class Patience:
    """Tells the worker whether its caller still waits."""

    def __init__(self) -> None:
        self._over = threading.Event()

    def end(self) -> None:
        self._over.set()

    def check(self) -> None:
        if self._over.is_set():
            raise Abandoned


def within(seconds: float, provider: str, work: Callable[[Patience], T]) -> T:
    """`work`'s result or its exception, or `ProviderTimeout` after `seconds` of wall time."""
    patience = Patience()
    done: SimpleQueue[tuple[T, None] | tuple[None, BaseException]] = SimpleQueue()

    def run() -> None:
        try:
            done.put((work(patience), None))
        except BaseException as error:  # handed over, not swallowed: the caller raises it
            done.put((None, error))

    threading.Thread(target=run, name=f"{provider}-call", daemon=True).start()
    try:
        result, error = done.get(timeout=max(seconds, 0.001))
    except Empty:
        raise ProviderTimeout(f"{provider}: no complete answer within {seconds:.1f} s") from None
    finally:
        patience.end()
    if error is not None:
        raise error
    return result  # type: ignore[return-value]

"""Reads a streamed answer to its end, within a limit of wall time that holds whatever the server does.

An HTTP client's timeouts limit single waits: one connect, one read. A name lookup has no timeout, and an answer that
comes byte by byte never runs into one. So each call runs in a thread of its own, and its caller stops waiting in time.
"""

import threading
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar

from acta_engine.errors import ProviderTimeout
from acta_engine.models.model import ModelReply

T = TypeVar("T")


class CallCancelled(Exception):
    """The caller no longer waits. Raised in the call's own thread; no caller sees it."""


class CallProgress:
    """How far a call has come. Its thread reports that the answer has begun, and delivers it. Its caller may cancel."""

    def __init__(self, deliver: Callable[[Any], None] = lambda result: None) -> None:
        """`deliver`: gives the caller the complete answer."""
        self._deliver = deliver
        self._lock = threading.Lock()
        self._cancelled = False
        self._has_begun = False

    @property
    def has_begun(self) -> bool:
        """Whether a part of the answer has arrived."""
        return self._has_begun

    def begin(self) -> None:
        """Reports that a part of the answer has arrived, before anyone is shown it. Raises CallCancelled."""
        with self._lock:
            self.raise_if_cancelled()
            self._has_begun = True

    def complete(self, result: Any) -> None:
        """Delivers the complete answer. What becomes of the connection after that changes nothing."""
        self._deliver(result)

    def cancel(self) -> bool:
        """Returns whether the answer had begun. An answer that had not can no longer begin."""
        with self._lock:
            self._cancelled = True
            return self._has_begun

    def raise_if_cancelled(self) -> None:
        """Raises CallCancelled."""
        if self._cancelled:
            raise CallCancelled


ResultOrError = tuple[T, None] | tuple[None, BaseException]
"""The result of a call, or what it raised."""


def run_within(
    seconds: float, provider: str, call: Callable[[CallProgress], T], begins_within: float | None = None
) -> T:
    """Runs the call in a thread and returns its result, or raises what it raised.

    Raises ProviderTimeout where there is no result after `seconds` of wall time, or where the answer has not begun
    after `begins_within` seconds. `begins_within` None: it may begin at any time.
    """
    results: SimpleQueue[ResultOrError[T]] = SimpleQueue()  # the first one counts
    progress = CallProgress(lambda result: results.put((result, None)))

    def run() -> None:
        try:
            results.put((call(progress), None))
        except BaseException as error:  # handed over, not swallowed: the caller raises it
            results.put((None, error))

    threading.Thread(target=run, name=f"{provider}-call", daemon=True).start()
    first_wait = seconds if begins_within is None else min(seconds, begins_within)
    try:
        result, error = _first_result(results, progress, first_wait, seconds)
    except Empty:
        had_begun = progress.cancel()
        waited = seconds if had_begun else first_wait
        raise ProviderTimeout(f"{provider}: no answer within {waited:.1f} s", had_begun) from None
    finally:
        progress.cancel()
    if error is not None:
        raise error
    return result  # type: ignore[return-value]


def _first_result(
    results: SimpleQueue[ResultOrError[T]], progress: CallProgress, first_wait: float, seconds: float
) -> ResultOrError[T]:
    """Waits on to the end of `seconds` only where the answer has begun after `first_wait`. Raises Empty."""
    try:
        return results.get(timeout=max(first_wait, 0.001))
    except Empty:
        if not progress.has_begun or first_wait >= seconds:
            raise
    return results.get(timeout=max(seconds - first_wait, 0.001))


class ReplyBuilder(Protocol):
    """Builds a reply from the events of one provider's stream.

    It is made with the model's name; `request_bytes`, asked, for an estimate, only where a compatible server reports no
    usage; and `on_text`, which is given the text as it comes.
    """

    def has_content(self, event: Any) -> bool:
        """Whether the event holds a part of the answer. A server may report at once that it works on the request, and
        then be silent for long: such an event holds none.
        """

    def add(self, event: Any) -> None: ...

    @property
    def is_complete(self) -> bool:
        """Whether no later event can change the reply, though the connection may stay open."""

    def reply(self) -> ModelReply:
        """Raises StreamBroken where the reply is not complete."""


def read_stream(events: Iterable[Any], builder: ReplyBuilder, progress: CallProgress) -> ModelReply:
    """Delivers the reply as soon as it is complete, and reads the connection to its end, so that it can be used again.
    Raises CallCancelled, and what the builder raises.
    """
    reply: ModelReply | None = None
    for event in events:
        progress.raise_if_cancelled()
        if builder.has_content(event):
            progress.begin()
        builder.add(event)
        if reply is None and builder.is_complete:
            reply = builder.reply()
            progress.complete(reply)
    return builder.reply() if reply is None else reply

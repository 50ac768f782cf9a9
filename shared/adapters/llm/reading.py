"""A streamed answer is read to its end: the one loop for every provider's events."""

from collections.abc import Iterable
from typing import Any, Protocol

from shared.adapters.llm.deadline import Patience
from shared.ports.model import ModelReply


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


def read(events: Iterable[Any], reading: Reading, patience: Patience) -> ModelReply:
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

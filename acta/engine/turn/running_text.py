"""The text of a turn while its model speaks, for people who watch (docs/design/api.md 27).

It is best effort. A write that fails or takes long does not disturb the turn, and nothing is ever decided from it.
"""

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from acta.engine.bound_tenant import carried
from acta.engine.clock import Clock
from acta.engine.errors import EngineError
from acta.engine.log.beside import PartialReply, Partials, last_part
from acta.engine.log.commit import Position
from acta.engine.log.head import Head
from acta.engine.turn.engine import position

Apart = Callable[[Callable[[], None]], None]
"""Runs something in parallel to the caller."""


def on_a_thread(work: Callable[[], None]) -> None:
    threading.Thread(target=work, name="running-text", daemon=True).start()


class RunningText(NamedTuple):
    """`every`: the least time between two writes (`Settings.partial_text_ms`). A turn that is over sooner writes
    nothing."""

    partials: Partials
    clock: Clock
    every: timedelta
    apart: Apart = on_a_thread

    def listener(self, at: Position, key: str) -> Callable[[str], None]:
        """A function that takes the text piece by piece, on the thread that reads the answer."""
        return _Listener(self, at, key)


class _Listener:
    """Writes one turn's text, one write at a time, so that none overtakes another. After a failed write it stops."""

    def __init__(self, to: RunningText, at: Position, key: str) -> None:
        self._to = to
        self._at = at
        self._key = key
        self._write = carried(self._put)  # the text is read on a thread that does not know whose it is
        self._text = ""
        self._due: datetime | None = None
        self._busy = False

    def __call__(self, text: str) -> None:
        self._text = last_part(self._text + text)
        now = self._to.clock.now()
        if self._due is None:
            self._due = now + self._to.every
        if self._busy or now < self._due:
            return
        self._due, self._busy = now + self._to.every, True
        partial = PartialReply(key=self._key, text=self._text, at=now)
        try:
            self._to.apart(lambda: self._write(partial))
        except RuntimeError:  # no thread could be started: it stays busy and writes nothing more
            return

    def _put(self, partial: PartialReply) -> None:
        try:
            self._to.partials.put(self._at.tenant, self._at.session_id, partial)
        except Exception:
            return  # it stays busy and writes nothing more
        self._busy = False


def running_text(partials: Partials, head: Head) -> PartialReply | None:
    """What the session's running turn has said so far, where that is known."""
    if head.run is None or head.state not in ("planning", "executing"):
        return None
    try:
        found = partials.get(head.tenant, head.session_id)
    except EngineError:
        return None
    here = position(head)
    return found if found is not None and found.key in (here.key("plan"), here.key("think")) else None

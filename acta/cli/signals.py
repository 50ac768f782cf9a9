"""Every way a person or a supervisor ends a command, made one."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def interrupt(number: int, frame: FrameType | None) -> None:
    """The first signal interrupts; later ones are ignored, so that tidying up is not itself interrupted."""
    for other in SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Ctrl-C, SIGTERM and a closed terminal all raise KeyboardInterrupt inside, once; also in a command that
    a shell started in the background, where Ctrl-C's signal is ignored by default."""
    before: dict[signal.Signals, Any] = {number: signal.signal(number, interrupt) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

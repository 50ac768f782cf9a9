"""How commands that have started others end in order: Ctrl-C, SIGTERM and a closed terminal are all handled alike."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from acta.cli.terminal.prompt import ENDING_SIGNALS


def interrupt(number: int, frame: FrameType | None) -> None:
    """Raises KeyboardInterrupt. Later signals are ignored, so that none of them interrupts the clean-up."""
    for other in ENDING_SIGNALS:
        signal.signal(other, signal.SIG_IGN)
    raise KeyboardInterrupt


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Inside, the first ending signal raises KeyboardInterrupt.

    That holds for Ctrl-C too where a shell started the command in the background and SIGINT is ignored by default.
    """
    before: dict[signal.Signals, Any] = {
        number: signal.signal(number, interrupt) for number in ENDING_SIGNALS
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

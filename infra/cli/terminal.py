"""The terminal a person decides at."""

import contextlib
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

CALL: int | None = getattr(signal, "SIGUSR1", None)
"""Wakes the thread that reads; None where there is no such signal: a prompt then stands until it is answered."""
AGAIN_SECONDS = 0.1
"""A signal that came just before the read began to wait does not wake it: it is sent until it did."""
CLEAR_LINE = "\r\x1b[2K"


class CalledOff(Exception):
    """What is asked matters no more; nothing was read."""


class Called(Exception):
    """Raised in the thread that reads, by the signal."""


class Prompt:
    """Reads lines in the main thread; another thread may tell something meanwhile, or call the reading off."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.news: deque[str] = deque()
        self.over = threading.Event()
        self.left = threading.Event()
        self.left.set()
        self.reading = False
        self.shown = False
        self.typed = ""

    @contextmanager
    def reachable(self) -> Iterator[None]:
        """While inside, `tell` and `call_off` reach a standing prompt. The handler stays: a signal that is late
        must not end the process.
        """
        if CALL is not None:
            signal.signal(CALL, self.on_signal)
        yield

    def tell(self, text: str) -> None:
        """Said at once; the prompt is shown again with what was typed. From any thread."""
        self.news.append(text)
        self.wake()

    def call_off(self) -> None:
        """This read and all later ones end in CalledOff. From any thread."""
        self.over.set()
        self.wake()

    def read(self, prompt: str) -> str:
        """Raises CalledOff, EOFError, KeyboardInterrupt."""
        self.typed = ""
        while True:
            try:
                return self.line(prompt)
            except Called:
                print(CLEAR_LINE, end="", flush=True)
            if self.over.is_set():
                raise CalledOff
            while self.news:
                self.say(self.news.popleft())

    def line(self, prompt: str) -> str:
        self.shown = False
        self.left.clear()
        try:
            self.reading = True
            try:
                if self.over.is_set() or self.news:
                    raise Called
                with typed_before(self.begin):
                    return input(prompt)
            finally:
                self.reading = False
        finally:  # reached whatever the signal interrupted above
            self.reading = False
            self.left.set()

    def begin(self) -> None:
        self.shown = True
        line_editor().insert_text(self.typed)

    def wake(self) -> None:
        if CALL is None or threading.current_thread() is threading.main_thread():
            return
        while not self.left.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, CALL)
            if self.left.wait(AGAIN_SECONDS):  # True also where the next read began meanwhile
                return

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.reading:
            return
        self.reading = False  # once for each read: what tidies up after it is not itself interrupted
        if self.shown:
            self.typed = str(line_editor().get_line_buffer())
        raise Called


@contextmanager
def typed_before(begin: Callable[[], None]) -> Iterator[None]:
    """`begin` is called when the line editor shows its line; without one the terminal itself keeps what was typed."""
    editor = line_editor()
    if editor is not None:
        editor.set_startup_hook(begin)
    try:
        yield
    finally:
        if editor is not None:
            editor.set_startup_hook(None)


def line_editor() -> Any:
    """`readline`, once `edit_lines` brought it in; else None."""
    return sys.modules.get("readline")


def edit_lines() -> None:
    """A plain terminal cuts a line at 4,095 bytes, and the cut end of a pasted JSON object would be missing."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # imported, it takes over `input`


def forget_typed_ahead() -> None:
    """What was typed or pasted before a question was shown does not answer it."""
    try:
        import termios
    except ImportError:
        return
    with contextlib.suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)

"""The terminal a person decides at."""

import contextlib
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType
from typing import Any

from acta.cli.signals import SIGNALS

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
        self.ended = False
        """A signal came that raises KeyboardInterrupt."""
        self.shown: deque[None] = deque()
        """Empty until the line editor has the line."""
        self.typed = ""

    @contextmanager
    def reachable(self) -> Iterator[None]:
        """While inside, `tell`, `call_off` and every signal reach a standing prompt. The handler stays: a signal that
        is late must not end the process.
        """
        if CALL is None:
            yield
            return
        signal.signal(CALL, self.on_signal)
        heard, came = os.pipe()
        os.set_blocking(came, False)
        threading.Thread(target=self.pass_on, args=(heard,), daemon=True).start()
        signal.set_wakeup_fd(came, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(-1)
            os.close(came)

    def pass_on(self, heard: int) -> None:
        """`heard`: the numbers of the signals that came. One that came just before the read began to wait is noted
        and not acted on until another one does wake it.
        """
        with os.fdopen(heard, "rb", buffering=0) as numbers:
            while some := numbers.read(64):
                if any(number in SIGNALS for number in some):
                    self.ended = True
                    self.wake()

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
                if self.ended:  # its KeyboardInterrupt gave way to Called
                    raise KeyboardInterrupt from None
                print(CLEAR_LINE, end="", flush=True)
            if self.over.is_set():
                raise CalledOff
            while self.news:
                self.say(self.news.popleft())

    def line(self, prompt: str) -> str:
        self.shown.clear()
        self.left.clear()
        try:
            self.reading = True
            try:
                if self.over.is_set() or self.news:
                    raise Called
                with typed_before(self.typed, self.shown):
                    return input(prompt)
            except SystemError as odd:  # a handler was called over what another signal's had raised
                raise first(odd) from None
            finally:
                self.reading = False
        finally:  # reached whatever the signal interrupted above
            self.reading = False
            self.left.set()

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


def first(odd: SystemError) -> BaseException:
    """What was raised before the interpreter found a call that went on regardless."""
    cause = odd.__cause__
    return first(cause) if isinstance(cause, SystemError) else cause or odd


@contextmanager
def typed_before(text: str, shown: deque[None]) -> Iterator[None]:
    """`text` is in the line when the line editor shows it, and `shown` not empty any more; without an editor the
    terminal itself keeps what was typed.
    """
    editor = line_editor()
    if editor is not None:
        # no Python code in it: a signal's handler would run there, and what it raises is dropped by the editor
        editor.set_startup_hook(partial(shown.extend, map(editor.insert_text, [text])))
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

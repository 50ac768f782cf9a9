"""The person at the terminal: lines that they type, questions before a command changes something, and signals that end
a command.

A prompt can be interrupted by another thread, to show a notice above it or to take it away. The main thread waits in
`input`; the other thread sends it the signal `WAKE_SIGNAL`, whose handler raises an exception in the main thread.
"""

import contextlib
import getpass
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

from acta.cli.exit_codes import CliError
from acta.cli.terminal.text import one_line

ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that end a command: Ctrl-C, a request to stop, and a closed terminal."""
WAKE_SIGNAL: int | None = getattr(signal, "SIGUSR1", None)
"""None on a system without it: a prompt then stays until it is answered."""
RESEND_SECONDS = 0.1
"""A signal just before the read begins to wait does not wake it, so it is sent again until the read wakes."""
CLEAR_LINE = "\r\x1b[2K"


class PromptCancelled(Exception):
    """The answer is no longer needed; nothing was read."""


class Woken(Exception):
    """Raised in the thread that reads, by the handler of `WAKE_SIGNAL`."""


class LinePrompt:
    """Reads lines in the main thread. `echo` prints a notice."""

    def __init__(self, echo: Callable[[str], None]) -> None:
        self.echo = echo
        self.notices: deque[str] = deque()
        self.cancelled = threading.Event()
        self.not_reading = threading.Event()
        self.not_reading.set()
        self.may_be_woken = False
        self.is_interrupted = False
        """Whether a signal came whose handler raises KeyboardInterrupt."""
        self.prefilled: deque[None] = deque()
        """Empty until the line editor has put the prefilled text into its line."""
        self.typed = ""

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Inside, `notify`, `cancel` and every signal reach a prompt that is being read.

        The handler stays afterwards: without it a signal that comes late would end the process.
        """
        if WAKE_SIGNAL is None:
            yield
            return
        signal.signal(WAKE_SIGNAL, self.on_wake_signal)
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        threading.Thread(target=self.relay_signals, args=(reader,), daemon=True).start()
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(-1)
            os.close(writer)

    def relay_signals(self, reader: int) -> None:
        """Wakes the read after an ending signal. Runs in a thread of its own.

        Python only notes a signal that came just before the read began to wait, and acts on it once another signal
        wakes the read. `reader`: a pipe with the number of each signal that came.
        """
        with os.fdopen(reader, "rb", buffering=0) as numbers:
            while some := numbers.read(64):
                if any(number in ENDING_SIGNALS for number in some):
                    self.is_interrupted = True
                    self.wake()

    def notify(self, text: str) -> None:
        """Shows `text` at once, then the prompt again with what was typed. May be called from any thread."""
        self.notices.append(text)
        self.wake()

    def cancel(self) -> None:
        """From now on every read raises PromptCancelled, also one that is waiting. May be called from any thread."""
        self.cancelled.set()
        self.wake()

    def read(self, prompt: str) -> str:
        """A line without its end. Raises PromptCancelled, EOFError, KeyboardInterrupt."""
        self.typed = ""
        while True:
            try:
                return self.read_once(prompt)
            except Woken:
                if self.is_interrupted:  # Woken was raised instead of KeyboardInterrupt
                    raise KeyboardInterrupt from None
                print(CLEAR_LINE, end="", flush=True)
            if self.cancelled.is_set():
                raise PromptCancelled
            while self.notices:
                self.echo(self.notices.popleft())

    def read_once(self, prompt: str) -> str:
        """Raises Woken if another thread wants something of the main thread."""
        self.prefilled.clear()
        self.not_reading.clear()
        try:
            self.may_be_woken = True
            try:
                if self.cancelled.is_set() or self.notices:
                    raise Woken
                with prefilled_line(self.typed, self.prefilled):
                    return input(prompt)
            except SystemError as error:  # one handler ran while another's exception was being raised
                raise original_cause(error) from None
            finally:
                self.may_be_woken = False
        finally:  # reached whatever the signal interrupted above
            self.may_be_woken = False
            self.not_reading.set()

    def wake(self) -> None:
        if WAKE_SIGNAL is None or threading.current_thread() is threading.main_thread():
            return
        while not self.not_reading.is_set():
            signal.pthread_kill(threading.main_thread().ident or 0, WAKE_SIGNAL)
            if self.not_reading.wait(RESEND_SECONDS):  # True also where the next read began in the meantime
                return

    def on_wake_signal(self, number: int, frame: FrameType | None) -> None:
        if not self.may_be_woken:
            return
        self.may_be_woken = False  # once for each read, so that nothing interrupts the clean-up after it
        if self.prefilled:
            self.typed = str(line_editor().get_line_buffer())
        raise Woken


def original_cause(error: SystemError) -> BaseException:
    """The exception that a handler raised before the interpreter found that a call had gone on in spite of it."""
    cause = error.__cause__
    return original_cause(cause) if isinstance(cause, SystemError) else cause or error


@contextmanager
def prefilled_line(text: str, done: deque[None]) -> Iterator[None]:
    """Inside, the line editor begins a line with `text`, and puts something into `done` when it has.

    Without a line editor the terminal itself keeps what was typed.
    """
    editor = line_editor()
    if editor is not None:
        # no Python code in the hook: a signal's handler could run there, and the editor would drop its exception
        editor.set_startup_hook(partial(done.extend, map(editor.insert_text, [text])))
    try:
        yield
    finally:
        if editor is not None:
            editor.set_startup_hook(None)


def line_editor() -> Any:
    """The module `readline` if `use_line_editor` has loaded it; else None."""
    return sys.modules.get("readline")


def use_line_editor() -> None:
    """Loads the line editor: a plain terminal cuts a line at 4,095 bytes, and would cut a pasted JSON object."""
    with contextlib.suppress(ImportError):
        import readline  # noqa: F401  # once imported, it takes over `input`


def discard_typed_ahead() -> None:
    """Discards what was typed or pasted before a question was shown: it must not answer the question."""
    try:
        import termios
    except ImportError:
        return
    with contextlib.suppress(OSError, ValueError, termios.error):
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)


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


Asks = Callable[[str], str]


def at_terminal() -> Asks | None:
    """Asks the person at the terminal; None if there is nobody."""
    return input if sys.stdin.isatty() and sys.stdout.isatty() else None


def says_yes(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:
        print()
        return False


def asks_at_terminal() -> Callable[[str], bool] | None:
    """`says_yes`; None if nobody is at a terminal."""
    return None if at_terminal() is None else says_yes


def is_agreed(question: str, nobody: str, *, as_json: bool) -> bool:
    """Raises CliError with the text `nobody` if nobody can be asked: a script reads the output or gives the input."""
    if as_json or not sys.stdin.isatty():
        raise CliError(nobody)
    return says_yes(question)


def confirm(what: str, name: str, given: str | None, asks: Asks | None = None) -> None:
    """Before something that cannot be undone, the person types the name of what it is done to.

    `what`: a sentence about what will happen. `given`: the value of --confirm. `asks`: puts a question; None: at the
    terminal, if there is one. Raises CliError unless the name was given once more.
    """
    asks = asks or at_terminal()
    if given is None and asks is not None:
        try:
            given = asks(f"{what} Type {one_line(name)} to go on: ")
        except EOFError:
            given = ""
    if given is None:
        raise CliError(f"{what} Without a terminal --confirm {one_line(name)} says yes")
    if given != name:
        raise CliError("that is another name; nothing was done")


MOST_SECRET_CHARS = 16_384
"""More than the API takes, so that a text that is too long is refused and not cut."""


def secret_value(name: str) -> str:
    """The value, without the line break at its end. Raises CliError if there is none."""
    if sys.stdin.isatty():
        value = getpass.getpass(f"Value of {name} (not shown): ")
    else:
        value = sys.stdin.read(MOST_SECRET_CHARS).removesuffix("\n").removesuffix("\r")
    if not value:
        raise CliError("a value is needed: type it, or send it to standard input")
    return value

"""The `acta` command with a person at its terminal: a pseudo-terminal whose other end the test holds."""

import os
import pty
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from select import select
from time import monotonic

TIMEOUT_SECONDS = 60.0
AS_AT_A_TERMINAL = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests that run in the background have it ignored
from acta.cli.main import main
sys.exit(main())
"""


class Terminal:
    """`shown`: everything printed so far."""

    def __init__(self, master: int, process: "subprocess.Popen[bytes]") -> None:
        self.master = master
        self.process = process
        self.shown = ""
        self.read_up_to = 0

    def until(self, text: str) -> str:
        """Reads up to the next `text`; what came since the last call, `text` included."""
        deadline = monotonic() + TIMEOUT_SECONDS
        while (found := self.shown.find(text, self.read_up_to)) < 0:
            assert self.more(deadline), f"{text!r} is not in {self.shown[self.read_up_to :]!r}"
        start, self.read_up_to = self.read_up_to, found + len(text)
        return self.shown[start : self.read_up_to]

    def rest(self) -> str:
        """Reads until the command has ended; what came since the last call."""
        while self.more(monotonic() + TIMEOUT_SECONDS):
            pass
        return self.shown[self.read_up_to :]

    def more(self, deadline: float) -> bool:
        """Reads what there is; False where nothing came by then or the command has ended."""
        if not select([self.master], [], [], max(0.0, deadline - monotonic()))[0]:
            return False
        try:
            got = os.read(self.master, 65_536)
        except OSError:  # the other end is closed
            return False
        self.shown += got.decode(errors="replace")
        return bool(got)

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def interrupt(self) -> None:
        """What Ctrl-C does."""
        self.process.send_signal(signal.SIGINT)


@contextmanager
def at_a_terminal(*arguments: str) -> Iterator[Terminal]:
    master, slave = pty.openpty()
    environ = {"PATH": os.environ.get("PATH", ""), "TERM": "xterm", "LANG": "C.UTF-8", "COLUMNS": "200"}
    command = [sys.executable, "-c", AS_AT_A_TERMINAL, *arguments]
    process = subprocess.Popen(
        command, stdin=slave, stdout=slave, stderr=slave, env=environ, start_new_session=True
    )
    os.close(slave)
    try:
        yield Terminal(master, process)
    finally:
        process.kill()
        process.wait()
        os.close(master)

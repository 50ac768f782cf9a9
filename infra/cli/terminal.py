"""The terminal a person decides at."""

import contextlib
import sys


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

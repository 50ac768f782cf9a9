"""What a call prints, logs and raises becomes lines of the folder's log. Each is JSON with the session's id, so that
`acta logs ID` finds it. The log is for the author of the tool; neither Acta nor a model reads it.

What is printed while no call runs, such as at import, is written unchanged.
"""

import contextlib
import io
import json
import logging
import sys
import traceback
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, TextIO

PRINTED, LOGGED, RAISED, REFUSED = "tool printed", "tool logged", "tool raised", "tool failed"
MOST_CHARS = 8_000
"""The most characters of a printed line, and of a traceback, of which the end is kept."""


class CallLog:
    """`out`: where lines go. A process has one call at a time, so what its threads print meanwhile belongs to it."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self._about: Mapping[str, Any] | None = None
        self._streams = (_Lines(self, "INFO"), _Lines(self, "ERROR"))

    @classmethod
    def install(cls) -> "CallLog":
        """Takes the place of the process's output and of the handlers of its root logger."""
        made = cls(sys.stdout)
        sys.stdout, sys.stderr = made._streams
        logging.getLogger().handlers[:] = [_Handler(made)]
        return made

    @contextlib.contextmanager
    def during(self, event: Mapping[str, Any]) -> Iterator[None]:
        """`event`: that of the call. An error that the call raises is written with its traceback and raised again."""
        self._about = {field: event.get(field, "") for field in ("tool", "session_id", "effect_id")}
        try:
            yield
        except BaseException as error:
            self.write("ERROR", RAISED, _traceback(error), error=type(error).__name__)
            raise
        finally:
            for stream in self._streams:
                stream.end_line()
            self._about = None

    def failed(self, error: BaseException) -> None:
        """Writes an error whose text is also the call's answer."""
        self.write("ERROR", REFUSED, str(error), error=type(error).__name__)

    def write(self, level: str, message: str, text: str, **more: Any) -> None:
        if self._about is None:
            self.out.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
        else:
            at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S,%f%z")
            line = {"timestamp": at, "level": level, "message": message, **self._about, "text": text, **more}
            self.out.write(json.dumps(line) + "\n")
        self.out.flush()


class _Lines(io.TextIOBase):
    """Standard output or standard error, where each line that is printed becomes one line of the log."""

    def __init__(self, log: CallLog, level: str) -> None:
        self._log = log
        self._level = level
        self._begun = ""

    encoding = "utf-8"

    def write(self, text: str) -> int:
        *lines, self._begun = (self._begun + text).split("\n")
        for line in lines:
            self._log.write(self._level, PRINTED, line[:MOST_CHARS])
        return len(text)

    def end_line(self) -> None:
        begun, self._begun = self._begun, ""
        if begun:
            self._log.write(self._level, PRINTED, begun[:MOST_CHARS])

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._log.out.fileno()

    @property
    def buffer(self) -> Any:
        return self._log.out.buffer


class _Handler(logging.Handler):
    def __init__(self, log: CallLog) -> None:
        super().__init__()
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.format(record)[-MOST_CHARS:]
            self._log.write(record.levelname, LOGGED, text, logger=record.name)
        except Exception:  # like every logging handler: a wrong format string must not fail the call
            self.handleError(record)


def _traceback(error: BaseException) -> str:
    """The traceback without the frames of the code that called the tool."""
    told = traceback.TracebackException.from_exception(error)
    here = __package__.replace(".", "/")
    while len(told.stack) > 1 and here in told.stack[0].filename.replace("\\", "/"):
        del told.stack[0]
    return "".join(told.format()).rstrip()[-MOST_CHARS:]

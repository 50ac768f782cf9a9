"""What a call prints, logs and raises, as lines of the folder's log: each is JSON with the session's id, so that
`acta logs ID` finds it. It is for who writes the tool; neither Acta nor a model reads it.

What is printed while no call runs, such as at import, goes out as it is.
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
"""Of a printed line, and of a traceback, whose end is kept."""


class CallLog:
    """`out`: where lines go. A process has one call at a time; what its threads print meanwhile belongs to it."""

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
        """`event`: of the call. What it raises is written with its traceback, and goes on."""
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
        """The call is answered with the error's words, and they are written, too."""
        self.write("ERROR", REFUSED, str(error), error=type(error).__name__)

    def write(self, level: str, message: str, text: str, **more: Any) -> None:
        if self._about is None:
            self.out.write(f"{text}\n")
        else:
            at = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S,%f%z")
            line = {"timestamp": at, "level": level, "message": message, **self._about, "text": text, **more}
            self.out.write(json.dumps(line) + "\n")
        self.out.flush()


class _Lines(io.TextIOBase):
    """Standard output or standard error: each line that is printed is one of the log."""

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
        except Exception:  # as every handler: a wrong format string fails no call
            self.handleError(record)


def _traceback(error: BaseException) -> str:
    """Without the frames of what called the tool."""
    told = traceback.TracebackException.from_exception(error)
    here = __package__.replace(".", "/")
    while len(told.stack) > 1 and here in told.stack[0].filename.replace("\\", "/"):
        del told.stack[0]
    return "".join(told.format()).rstrip()[-MOST_CHARS:]

"""Foreign text set off row by row. A terminal breaks a line where its row is full and goes on at the left edge, where
Acta's own lines begin: a text padded with spaces could put one of those there.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple, TextIO
from unicodedata import category, east_asian_width

from acta.cli.text import encodable

BEGINS = "  | "
GOES_ON = "  |> "
"""Before the rest of a line that is longer than its row."""
COLUMNS = 80
"""Where nothing tells how wide it is."""
MIN_CELLS = 8


class Screen(NamedTuple):
    """`encoding`: what it can show; None: everything."""

    columns: int = COLUMNS
    encoding: str | None = None

    @classmethod
    def of(cls, stream: TextIO) -> "Screen":
        try:
            columns = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return cls(columns or COLUMNS, stream.encoding)


def set_off(text: str, screen: Screen) -> Iterator[str]:
    """The rows of `text`, which has nothing hidden in it. The last column stays free: some terminals go on to the next
    row as soon as one is full, others with the character after it.
    """
    room = max(MIN_CELLS, screen.columns - 1 - len(GOES_ON))
    for line in encodable(text, screen.encoding).split("\n"):
        for n, row in enumerate(broken(line, room)):
            yield (GOES_ON if n else BEGINS) + row


def broken(line: str, room: int) -> Iterator[str]:
    """Pieces of at most `room` cells, one at least."""
    start = used = 0
    for at, char in enumerate(line):
        wide = cells(char)
        if used + wide > room:
            yield line[start:at]
            start, used = at, 0
        used += wide
    yield line[start:]


def cells(char: str) -> int:
    """Two where any terminal might take two: a row that is too short does no harm."""
    if char.isascii():
        return 1
    return 2 if east_asian_width(char) in "WF" or category(char) == "So" else 1

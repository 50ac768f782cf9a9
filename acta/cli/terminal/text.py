"""Text for a terminal: foreign text escaped, cut to a line, or quoted row by row; and printing it, in lines or tables.

Foreign text is what a model, a file or another person wrote. None of it may move the cursor, hide, or look like a line
of Acta's own.
"""

import io
import json
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, NamedTuple, TextIO
from unicodedata import category, east_asian_width

from acta.cli import exit_codes
from acta.cli.exit_codes import CliError
from acta.engine.untrusted.visible import one_line as on_one_line
from acta.engine.untrusted.visible import visible as visible

FIRST_ROW = "  | "
NEXT_ROW = "  |> "
"""What a quoted row begins with: the first one of a line, and those that continue it."""
DEFAULT_COLUMNS = 80
MIN_QUOTE_WIDTH = 8


def one_line(value: Any, limit: int = 100) -> str:
    """`value` escaped, on one line, cut at `limit` characters."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    shown = on_one_line(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def exact_json(value: Any) -> str:
    """The whole of `value`, escaped and indented, nothing cut."""
    return visible(json.dumps(value, indent=2, ensure_ascii=False, default=str), exact=True)


def encodable(text: str, encoding: str | None) -> str:
    """`text` with the characters escaped that `encoding` lacks (None: UTF-8).

    Printing it then never fails, and two different texts never look the same.
    """
    return text.encode(encoding or "utf-8", "backslashreplace").decode(encoding or "utf-8", "replace")


def echo(text: str) -> None:
    """Prints a line on standard output, with what the terminal cannot show escaped."""
    print(encodable(text, sys.stdout.encoding), flush=True)


def note(text: str) -> None:
    """Prints on standard error a line that is not part of the command's result."""
    print(encodable(text, sys.stderr.encoding), file=sys.stderr, flush=True)


@contextmanager
def cli_error(*kinds: type[Exception], words: str = "{}", cut: int | None = None) -> Iterator[None]:
    """Inside, an error of these kinds ends the command with its own message; of an OSError, with what the system says.
    `words`: the sentence around the message. `cut`: the message is not Acta's, so it is escaped and cut at this many
    characters. Raises CliError.
    """
    try:
        yield
    except kinds as error:
        said = str(getattr(error, "strerror", None) or error)
        # `words` may name a file, whose name may have braces of its own
        raise CliError(words.replace("{}", said if cut is None else one_line(said, cut))) from None


def show(value: Any, lines: Iterable[str], *, as_json: bool) -> int:
    """Prints `value` as JSON, or else the lines; with JSON, no line is ever made. Returns the exit code 0."""
    for line in [json.dumps(value)] if as_json else lines:
        echo(line)
    return exit_codes.OK


def show_bytes(content: bytes, stream: TextIO) -> None:
    """Writes a file's content: unchanged into a pipe or a file. On a terminal everything is escaped that could move the
    cursor, change the terminal's settings or make it type.
    """
    if stream.isatty():
        from acta.engine.untrusted.encodings import NotText, decoded  # few commands show a file

        try:
            read = decoded(content)
            text, said = visible(read.text.replace("\r\n", "\n")), read.note
        except NotText as other:
            text = visible(content.decode("utf-8", "backslashreplace"))
            said = f"It is {other} ({len(content):,} bytes). `--output FILE` saves it."
        if said:
            note(said)
        print(
            encodable(text, stream.encoding), end="" if text.endswith("\n") else "\n", file=stream, flush=True
        )
        return
    stream.flush()
    stream.buffer.write(content)
    stream.buffer.flush()


def counted(number: Any, noun: str) -> str:
    """Written like `1 session` or `1,200 sessions`; None is none."""
    return f"{int(number or 0):,} {noun}{'' if number == 1 else 's'}"


def dollars(usd: float | None) -> str:
    """A sum as every command writes it: with six decimals, because what a turn costs of AWS is a ten-thousandth of a
    dollar. None if the sum is not known.
    """
    return "unknown" if usd is None else f"${usd:,.6f}"


def minute(at: object) -> str:
    """A time of the API, which is in UTC, written like `2026-11-22 09:00`; `-` if there is none."""
    return second(at)[:16] if at else "-"


def second(at: object) -> str:
    """Written like `2026-11-22 09:00:01`."""
    return one_line(str(at), 32)[:19].replace("T", " ")


def time_of_day(at: object) -> str:
    """Written like `09:00:01`; empty if there is no time."""
    return second(at or "")[11:]


def moment(at: object) -> str:
    """Written like `09:00:01 UTC`; with the date where that is not today's, `2026-11-30 09:00:01 UTC`."""
    said = second(at)
    return f"{said.removeprefix(f'{datetime.now(UTC):%Y-%m-%d} ')} UTC"


def elapsed(seconds: float) -> str:
    """Written like `2:05`."""
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"


class Screen(NamedTuple):
    """`columns`: the width in cells. `encoding`: that of the stream; None: it can show everything."""

    columns: int = DEFAULT_COLUMNS
    encoding: str | None = None

    @classmethod
    def of(cls, stream: TextIO) -> "Screen":
        """The stream's screen; `DEFAULT_COLUMNS` wide if the stream is no terminal."""
        try:
            columns = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):
            columns = 0
        return cls(columns or DEFAULT_COLUMNS, stream.encoding)


def quoted(text: str, screen: Screen) -> Iterator[str]:
    """The rows of `text`, which is escaped already, each with a mark before it.

    The rows are broken here, not by the terminal. A terminal would continue a long line at the left edge, where Acta's
    own lines begin, and a text padded with spaces could put a false line there. The last column stays empty, because
    some terminals begin a new row as soon as one is full and others only at the next character.
    """
    width = max(MIN_QUOTE_WIDTH, screen.columns - 1 - len(NEXT_ROW))
    for line in encodable(text, screen.encoding).split("\n"):
        for number, row in enumerate(wrapped(line, width)):
            yield (NEXT_ROW if number else FIRST_ROW) + row


def wrapped(line: str, width: int) -> Iterator[str]:
    """`line` in pieces of at most `width` cells, which together are the line; one piece where it is empty. A piece ends
    after a blank, if it has one: only a word that is longer than a piece is cut.
    """
    start = used = blank = 0
    for at, char in enumerate(line):
        while used + cells(char) > width:
            end = blank if blank > start else at
            yield line[start:end]
            start, used = end, sum(map(cells, line[end:at]))
        used += cells(char)
        if char == " ":
            blank = at + 1
    yield line[start:]


def cells(char: str) -> int:
    """How many cells a character takes: two if any terminal might use two. A row that is too short does no harm."""
    if char.isascii():
        return 1
    return 2 if east_asian_width(char) in "WF" or category(char) == "So" else 1


WIDE = 10_000
"""The columns if there is no terminal, where nothing is cut."""
CELL_CHARS = 200


Columns = Mapping[str, str | Callable[[Any], object]]
"""For each column's name, the field of the answer that stands in it, or a function that makes it from the answer."""


def show_list(found: Sequence[Any], columns: Columns, *, as_json: bool) -> int:
    """Prints what the API listed, as JSON or as a table. Returns the exit code 0."""
    cells = columns.values()
    rows = ([one[cell] if isinstance(cell, str) else cell(one) for cell in cells] for one in found)
    if as_json:
        echo(json.dumps(found))
    else:
        show_table([*columns], rows)
    return exit_codes.OK


def show_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, always_named: bool = False
) -> None:
    """Prints a table. The columns' names are printed on a terminal only, so that a script gets rows and nothing else.
    `always_named`: the table is a page to be read, wherever it goes.
    """
    from rich.console import Console  # imported only now: it takes a moment
    from rich.table import Table
    from rich.text import Text

    on_terminal = sys.stdout.isatty()
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=on_terminal or always_named)
    for name in columns:
        table.add_column(Text(name), overflow="ellipsis", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(one_line("" if cell is None else str(cell), CELL_CHARS)) for cell in row))
    if not table.row_count:
        print("none", file=sys.stderr)
        return
    width = shutil.get_terminal_size().columns if on_terminal else WIDE
    drawn = io.StringIO()
    Console(file=drawn, width=width, highlight=False, markup=False, emoji=False, color_system=None).print(
        table
    )
    for line in drawn.getvalue().splitlines():
        echo(line.rstrip())

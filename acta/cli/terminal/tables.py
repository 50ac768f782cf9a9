"""Tables of foreign text: columns as wide as they need, cut to the terminal; elsewhere whole, one row a line."""

import io
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from acta.cli import exit_codes
from acta.cli.terminal.text import echo, one_line

WIDE = 10_000
"""Columns where there is no terminal: nothing is cut."""
CELL_CHARS = 200


def show_list(
    found: Sequence[Any], columns: Sequence[str], row: Callable[[Any], Sequence[object]], *, as_json: bool
) -> int:
    """What the API listed, as JSON or as a table with a `row` for each. The exit code, 0."""
    if as_json:
        echo(json.dumps(found))
    else:
        show_table(columns, map(row, found))
    return exit_codes.OK


def show_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, always_named: bool = False
) -> None:
    """On standard output; the columns' names on a terminal alone, so that a script gets rows and nothing else.
    `always_named`: it is a page to be read, wherever it is sent.
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

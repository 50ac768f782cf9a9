"""Figures as aligned text."""

from collections.abc import Mapping, Sequence


def number(value: float) -> str:
    """At most one decimal, thousands apart: 1,234 · 5 · 4.7."""
    if abs(value - round(value)) < 0.05:
        return f"{round(value):,}"
    return f"{value:,.1f}"


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def columns(names: Sequence[str], rows: Sequence[tuple[str, Sequence[str]]]) -> None:
    """The first column is text, the others stand right."""
    widths = [max(len(row[1][i]) for row in (*rows, ("", names))) for i in range(len(names))]
    label = max(len(row[0]) for row in rows)
    print(" " * label, *(name.rjust(width) for name, width in zip(names, widths, strict=True)), sep="  ")
    for text, cells in rows:
        print(text.ljust(label), *(c.rjust(width) for c, width in zip(cells, widths, strict=True)), sep="  ")


def cell(row: Mapping[str, float], name: str) -> str:
    return number(row[name]) if name in row else "-"

"""Structured files in one sentence: columns and their ranges, keys and sizes."""

import csv
import io
import json
from typing import Any


def describe_table(text: str, delimiter: str | None) -> str | None:
    """None when the text is no table."""
    try:
        if delimiter is None:
            first = text.splitlines()[0]
            delimiter = max(",;\t|", key=first.count)
        rows = [
            row
            for row in csv.reader(io.StringIO(text), delimiter=delimiter)
            if any(cell.strip() for cell in row)
        ]
    except csv.Error:
        return None
    if not rows or len(rows[0]) < 2:
        return None
    header, body = rows[0], rows[1:]
    names = [name.strip() or f"column {number}" for number, name in enumerate(header, 1)]
    ranges = [
        said
        for index, name in enumerate(names)
        if (said := _range(name, [_cell(row, index) for row in body]))
    ]
    shown = ", ".join(names[:10]) + (" and more" if len(names) > 10 else "")
    size = f"A table of {len(body):,} row{'s' * (len(body) != 1)} and {len(names)} columns ({shown})."
    return f"{size} {'; '.join(ranges[:5])}." if ranges else size


def _cell(row: list[str], index: int) -> str:
    return row[index].strip() if index < len(row) else ""


def _range(name: str, cells: list[str]) -> str | None:
    filled = [cell for cell in cells if cell]
    numbers = [number for cell in filled if (number := _number(cell)) is not None]
    if not numbers or len(numbers) < len(filled):
        return None
    low, high, total = min(numbers), max(numbers), sum(numbers)
    return f"{name} from {_shown(low)} to {_shown(high)}, average {_shown(total / len(numbers))}"


def _number(cell: str) -> float | None:
    try:
        number = float(cell.replace(",", "").removeprefix("$").removeprefix("€").removesuffix("%"))
    except ValueError:
        return None
    return number if abs(number) < 1e15 else None


def _shown(number: float) -> str:
    return f"{number:,.2f}".rstrip("0").rstrip(".")


def describe_json(text: str) -> str | None:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return "Said to be JSON, but it does not parse."
    if isinstance(value, dict):
        return f"A JSON object with {_keys(value)}."
    if isinstance(value, list):
        first = f", the first with {_keys(value[0])}" if value and isinstance(value[0], dict) else ""
        return f"A JSON array of {len(value):,} element{'s' * (len(value) != 1)}{first}."
    return f"A single JSON value of type {type(value).__name__}."


def describe_lines_of_json(text: str) -> str | None:
    records = []
    for line in text.splitlines():
        if line.strip():
            try:
                records.append(json.loads(line))
            except (ValueError, RecursionError):
                return None
    first = f", the first with {_keys(records[0])}" if records and isinstance(records[0], dict) else ""
    return f"{len(records):,} JSON records, one a line{first}."


def _keys(value: dict[str, Any]) -> str:
    if not value:
        return "no keys"
    shown = [f"{key} ({_kind(item)})" for key, item in list(value.items())[:8]]
    more = f" and {len(value) - 8} more" if len(value) > 8 else ""
    return f"{len(value)} key{'s' * (len(value) != 1)}: {', '.join(shown)}{more}"


def _kind(item: Any) -> str:
    match item:
        case bool():
            return str(item).lower()
        case int() | float():
            return str(item)[:20]
        case str():
            return "text" if len(item) > 30 else repr(item)
        case list():
            return f"{len(item)} elements"
        case dict():
            return f"{len(item)} keys"
    return "null"

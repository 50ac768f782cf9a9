"""What a Python tool printed, logged or raised in a call, as its developer sees it."""

from collections.abc import Mapping
from typing import Any

from acta.cli.terminal.text import visible

RAISED = "tool raised"
MESSAGES = ("tool printed", "tool logged", RAISED, "tool failed")
"""Of the lines that `acta/tools/log.py` writes; a test compares."""

Fields = Mapping[str, Any]


def is_of_a_tool(fields: Fields) -> bool:
    return fields.get("message") in MESSAGES


def first_line(fields: Fields) -> str:
    """Of what was raised it is the error's type: the traceback stands below."""
    said = (str(fields.get("text", "")).splitlines() or [""])[0]
    said = str(fields.get("error")) if fields.get("message") == RAISED else said
    return f"{fields.get('tool')} {str(fields.get('message')).removeprefix('tool ')}: {said}"


def further_lines(fields: Fields) -> list[str]:
    """Of a line of a tool, escaped for a terminal."""
    if not is_of_a_tool(fields):
        return []
    return visible(str(fields.get("text", ""))).splitlines()[0 if fields.get("message") == RAISED else 1 :]

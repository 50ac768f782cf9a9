"""What calls of Python tools print, log and raise while a local stack serves, for the terminal of who writes them."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from acta.cli.terminal.tool_lines import first_line, further_lines, is_of_a_tool
from infra.deployed.session_logs import LogsUnreadable, read_lines
from infra.environments import LOCAL

OVERLAP = timedelta(seconds=5)
"""A line may come so much later than its time."""


class ToolLines:
    """`client`: of the stack's CloudWatch Logs. `say`: prints. What was there before is not shown."""

    def __init__(self, client: Any, say: Callable[[str], None]) -> None:
        self._client = client
        self._say = say
        self._since = datetime.now(UTC)
        self._known: frozenset[tuple[str, ...]] = frozenset()

    def look(self, folders: Sequence[str]) -> None:
        """Says what is new since the last look, of these folders' functions."""
        began = datetime.now(UTC)
        try:
            functions = [f"tool-{folder}" for folder in folders]
            lines = read_lines(self._client, LOCAL.name, functions, "", self._since)
        except LogsUnreadable:
            return  # as while the local AWS ends, which `acta up` reports
        for line in lines:
            if line.key not in self._known and is_of_a_tool(line.fields):
                self._say("\n".join([f"tools: {first_line(line.fields)}", *further_lines(line.fields)]))
        self._known = frozenset(line.key for line in lines)
        self._since = max(self._since, began - OVERLAP)

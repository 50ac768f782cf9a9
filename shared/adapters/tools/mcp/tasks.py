"""Tasks of servers as they go over the wire (MCP, extension `io.modelcontextprotocol/tasks` of 2026-07-28)."""

from collections.abc import Mapping
from typing import Any

from shared.adapters.tools.mcp.wire import Call
from shared.domain.errors import ToolFailed
from shared.domain.session.server_task import MAX_TASK_ID_CHARS, TaskNews

GET_TASK, UPDATE_TASK, CANCEL_TASK = "tasks/get", "tasks/update", "tasks/cancel"
_NOTHING: Mapping[str, Any] = {}


def begun_task(tool: str, result: Mapping[str, Any]) -> TaskNews:
    """The task that a call was answered with. Raises ToolFailed where it cannot be looked for."""
    task_id = result.get("taskId")
    if not isinstance(task_id, str) or not 0 < len(task_id) <= MAX_TASK_ID_CHARS:
        raise ToolFailed(
            f"{tool} has begun, and its server gave no name under which Acta could ask what comes of it."
        )
    return TaskNews(task_id, interval_of(result))


def interval_of(task: Mapping[str, Any]) -> float | None:
    """The seconds that the server wants between two looks; None: it says nothing."""
    given = task.get("pollIntervalMs")
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 <= given <= 86_400_000:
        return None
    return given / 1_000


def task_request(method: str, task_id: str, more: Mapping[str, Any] = _NOTHING) -> Call:
    return Call(method, {"taskId": task_id, **more}, task_id)

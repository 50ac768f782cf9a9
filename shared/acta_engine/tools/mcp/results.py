"""What a server answers a call with (MCP 2026-07-28): a result, questions to a person, or a task that goes on.

A result becomes one text: text as it is, structured content as JSON, of all else what it is and how large. Of questions
(`input_required`; Multi round-trip requests; Elicitation), what a person cannot answer in a form or by opening a link
is not offered. Tasks are those of the extension `io.modelcontextprotocol/tasks`.
"""

import json
from collections.abc import Mapping
from typing import Any

from acta_engine.errors import ToolFailed
from acta_engine.tools.mcp.server_task import MAX_TASK_ID_CHARS, TaskNews, ToolQuestion
from acta_engine.tools.mcp.wire import Call

MAX_CONTENTS = 500
NOTHING = "[the tool answered with nothing]"


def text_of(result: Mapping[str, Any]) -> str:
    """`result`: of a `tools/call`."""
    contents = result.get("content")
    listed = contents if isinstance(contents, list) else []
    parts = [_part(one) for one in listed[:MAX_CONTENTS]]
    if len(listed) > MAX_CONTENTS:
        parts.append(f"[{len(listed) - MAX_CONTENTS} further parts were left out]")
    if "structuredContent" in result and not _repeats(result["structuredContent"], listed):
        parts.append(json.dumps(result["structuredContent"], ensure_ascii=False))
    return "\n".join(part for part in parts if part)


def unfit(schema: Mapping[str, Any], result: Mapping[str, Any]) -> bool:
    """Whether structured content is not what the server says of it (`outputSchema`), or is missing. What cannot be
    checked in a limited amount of work is not held against it.
    """
    from acta_engine.tools.schema.check import errors_of  # few tools have such a schema

    if "structuredContent" not in result:
        return True
    try:
        return bool(errors_of(json.dumps(schema, sort_keys=True), result["structuredContent"]))
    except Exception:  # too much work, or numbers at which the validator itself fails
        return False


def _part(content: Any) -> str:
    match content:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return f"[{kind}{_of_type(content)}, about {len(data) * 3 // 4} bytes: it cannot be shown]"
        case {"type": "resource", "resource": {"text": str(text), **resource}}:
            return f"[resource {_short(resource.get('uri'))}]\n{text}"
        case {"type": "resource", "resource": {"blob": str(data), **resource}}:
            size = len(data) * 3 // 4
            uri = _short(resource.get("uri"))
            return f"[resource {uri}{_of_type(resource)}, about {size} bytes: it cannot be shown]"
        case {"type": "resource_link", "uri": str(uri)}:
            return f"[link to the resource {_short(uri)}{_of_type(content)}: it was not opened]"
        case {"type": str(kind)}:
            return f"[content of the kind {_short(kind)}: it cannot be shown]"
        case _:
            return ""


def _of_type(content: Mapping[Any, Any]) -> str:
    kind = content.get("mimeType")
    return f" of type {_short(kind)}" if isinstance(kind, str) else ""


def _short(text: Any) -> str:
    shown = " ".join(str(text).split())
    return shown if len(shown) <= 200 else f"{shown[:199]}…"


def _repeats(structured: Any, contents: list[Any]) -> bool:
    """Whether a text has the structured content already, as the specification asks servers to have it."""
    for one in contents[:MAX_CONTENTS]:
        if isinstance(one, dict) and one.get("type") == "text" and isinstance(one.get("text"), str):
            try:
                if json.loads(one["text"]) == structured:
                    return True
            except (ValueError, RecursionError):
                continue
    return False


MAX_REQUESTS = 5
MAX_FIELDS = 20
MAX_MESSAGE_CHARS = 2_000
MAX_BYTES = 8_192
"""Of all requests together: they are part of the head until somebody has answered."""
MAX_STATE_CHARS = 8_192
MAX_URL_CHARS = 2_000
_PRIMITIVES = frozenset(("string", "number", "integer", "boolean", "array"))


class CannotAsk(Exception):
    """The message says what the server asks for, a sentence's end."""


def question_of(result: Mapping[str, Any]) -> ToolQuestion | None:
    """None: the result is no question. Without requests it is to be sent again at once. Raises CannotAsk."""
    if result.get("resultType") != "input_required":
        return None
    requests, state = result.get("inputRequests") or {}, result.get("requestState")
    if not isinstance(requests, dict) or len(requests) > MAX_REQUESTS:
        raise CannotAsk(f"asks for more than {MAX_REQUESTS} things at once")
    if state is not None and (not isinstance(state, str) or len(state) > MAX_STATE_CHARS):
        raise CannotAsk(f"gave a state of more than {MAX_STATE_CHARS} characters")
    if not requests and state is None:
        raise CannotAsk("asks for input and does not say for which")
    asked = {str(key)[:200]: _request(one) for key, one in requests.items()}
    if len(json.dumps(asked)) > MAX_BYTES:
        raise CannotAsk("asks for too much at once")
    return ToolQuestion(requests=asked, state=state)


def _request(request: Any) -> dict[str, Any]:
    match request:
        case {"method": "elicitation/create", "params": {"message": str(message), **params}}:
            asked: dict[str, Any] = {"message": message[:MAX_MESSAGE_CHARS]}
        case _:
            raise CannotAsk("asks for what only a model or a client on somebody's machine could give")
    if params.get("mode", "form") == "form":
        return asked | {"schema": _form(params.get("requestedSchema"))}
    url = params.get("url")
    if params.get("mode") != "url" or not isinstance(url, str) or not 0 < len(url) <= MAX_URL_CHARS:
        raise CannotAsk("asks in a way that Acta does not know")
    return asked | {"url": url}


def _form(schema: Any) -> dict[str, Any]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or len(properties) > MAX_FIELDS:
        raise CannotAsk(f"asks with a form that has no fields, or more than {MAX_FIELDS}")
    flat = all(isinstance(one, dict) and one.get("type") in _PRIMITIVES for one in properties.values())
    if not flat:
        raise CannotAsk("asks with a form that has fields within fields")
    required = [name for name in schema.get("required") or () if isinstance(name, str)]
    return {"type": "object", "properties": properties, "required": required}


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

"""Answers of servers that need input before they go on: `input_required` of `tools/call` (MCP 2026-07-28, Multi
round-trip requests; Elicitation). What a person cannot answer in a form or by opening a link is not offered.
"""

import json
from collections.abc import Mapping
from typing import Any

from shared.domain.session.tool_question import ToolQuestion

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

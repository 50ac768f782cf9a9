"""Entries as Chat Completions messages.

Stable as in `anthropic_request`: all but the suffix is a pure function of the entries. User texts in a row are
joined, because chat templates of many compatible servers insist on alternating roles.

Servers of models that think contradict one another: some refuse a forced tool while they think, some insist on being
sent back what was thought before a call, some refuse that. So a request has both, and `without` what was refused.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any

from shared.adapters.llm import models as catalogue
from shared.adapters.llm.common.conversation import (
    cache_key,
    call_id_on_wire,
    on_wire,
    ordered,
    tool_name_on_wire,
)
from shared.adapters.llm.openai.chat_stream import API, THINKING
from shared.adapters.llm.openai.client import PROVIDER
from shared.domain.session.conversation import AssistantEntry, Entry, ToolCall, ToolEntry
from shared.ports.model import ModelRequest

GO_ON = "Go on."
FORCED = "tool_choice"
OPTIONAL = (FORCED, *THINKING)
"""Parts of a request that a server may refuse, as its sentence names them."""

Message = dict[str, Any]


def to_body(request: ModelRequest, *, official: bool, without: Collection[str] = ()) -> dict[str, Any]:
    """The keyword arguments of `chat.completions.create`, without `timeout`. `official`: no other base URL. `without`:
    which of `OPTIONAL` the server takes not.
    """
    messages = to_messages(request.system, request.entries, request.model, without)
    forced = request.tool_choice != "auto"
    suffix = ordered(request.suffix, request.tool_choice) if forced and FORCED in without else request.suffix
    if suffix.strip():
        _add_user(messages, suffix)
    elif messages[-1]["role"] in ("assistant", "system"):
        _add_user(messages, GO_ON)
    limit = "max_completion_tokens" if official or catalogue.counts_reasoning(request.model) else "max_tokens"
    body: dict[str, Any] = {
        "model": request.model,
        "messages": messages,
        limit: request.max_tokens,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    if official:
        body["prompt_cache_key"] = cache_key(request)
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.input_schema,
                },
            }
            for tool in on_wire(request.tools)
        ]
        body["tool_choice"] = _choice(request) if forced and FORCED not in without else "auto"
        effort = catalogue.reasoning_effort_with_tools(request.model)
        if effort is not None:
            body["reasoning_effort"] = effort
    return body


def has(body: dict[str, Any], part: str) -> bool:
    """Whether the part, one of `OPTIONAL`, is in the request."""
    if part == FORCED:
        return bool(body.get(FORCED, "auto") != "auto")
    messages: list[Message] = body["messages"]
    return any(part in message for message in messages)


def to_messages(
    system: str, entries: Sequence[Entry], model: str = "", without: Collection[str] = ()
) -> list[Message]:
    messages: list[Message] = [{"role": "system", "content": system}] if system.strip() else []
    waiting: list[ToolCall] = []
    texts: list[str] = []
    for entry in entries:
        if isinstance(entry, AssistantEntry):
            _settle(messages, waiting, texts)
            waiting, texts = list(entry.calls), []
            if messages and messages[-1]["role"] == "assistant":
                _add_user(messages, GO_ON)
            if entry.calls or entry.content.loaded.strip():
                messages.append(_assistant(entry) | _thought(entry, model, without))
        elif isinstance(entry, ToolEntry) and any(call.call_id == entry.call_id for call in waiting):
            waiting = [call for call in waiting if call.call_id != entry.call_id]
            messages.append(_tool(entry.call_id, entry.content.loaded))
        elif isinstance(entry, ToolEntry):
            texts.append(f"Result of {entry.name}:\n{entry.content.loaded}")
        else:
            texts.append(entry.content.loaded)
    _settle(messages, waiting, texts)
    return messages or [{"role": "user", "content": GO_ON}]


def _settle(messages: list[Message], waiting: list[ToolCall], texts: list[str]) -> None:
    """What people said comes after all results; a call without one would make the provider refuse the
    request."""
    messages += [_tool(call.call_id, "Error: this call has no result.") for call in waiting]
    for text in texts:
        if text.strip():
            _add_user(messages, text)


def _assistant(entry: AssistantEntry) -> Message:
    message: Message = {"role": "assistant", "content": entry.content.loaded or None}
    if entry.calls:
        message["tool_calls"] = [
            {
                "id": call_id_on_wire(call.call_id),
                "type": "function",
                "function": {
                    "name": tool_name_on_wire(call.name),
                    "arguments": json.dumps(call.input or {}, ensure_ascii=False, separators=(",", ":")),
                },
            }
            for call in entry.calls
        ]
    return message


def _thought(entry: AssistantEntry, model: str, without: Collection[str]) -> Message:
    """What was thought before the calls, under the name it came by, to the model that thought it."""
    raw = entry.raw if entry.provider == PROVIDER and isinstance(entry.raw, dict) else {}
    if raw.get("api") != API or raw.get("model") != model or raw["name"] in without:
        return {}
    return {raw["name"]: entry.thinking}


def _tool(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": call_id_on_wire(call_id), "content": text}


def _add_user(messages: list[Message], text: str) -> None:
    if messages and messages[-1]["role"] == "user":
        messages[-1]["content"] += "\n\n" + text
    else:
        messages.append({"role": "user", "content": text})


def _choice(request: ModelRequest) -> Any:
    if len(request.tools) == 1:  # says the same, and more servers know it
        return "required"
    return {"type": "function", "function": {"name": request.tool_choice}}

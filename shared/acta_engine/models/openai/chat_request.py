"""Renders a request for Chat Completions.

All messages are made from the entries alone and the suffix, which changes every turn, comes last: a provider's cache
finds a request's content only where the next request begins with the same. User texts in a row become one message,
because the chat templates of many compatible servers insist on alternating roles.

Servers whose models think contradict one another. Some refuse a forced tool while the model thinks. Some insist on
getting the thinking back that came before a call, and some refuse it. So a request first has both (`OPTIONAL`), and
`without` names what the server refused.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any

from acta_engine.log.conversation import AssistantEntry, EndedTurns, Entry, ToolCall, ToolEntry, Turns
from acta_engine.models.common.conversation import (
    GO_ON,
    NO_RESULT,
    cache_key,
    result_as_text,
    wire_call_id,
    wire_tool_name,
    wire_tools,
    with_tool_order,
)
from acta_engine.models.model import ModelRequest
from acta_engine.models.model_catalogue import counts_reasoning, reasoning_effort_with_tools
from acta_engine.models.openai.chat_stream import API, THINKING_FIELDS
from acta_engine.models.openai.client import PROVIDER

TOOL_CHOICE = "tool_choice"
OPTIONAL = (TOOL_CHOICE, *THINKING_FIELDS)
"""Parameters that a server may refuse, by the names that its error messages use."""

Message = dict[str, Any]


def to_body(request: ModelRequest, *, official: bool, without: Collection[str] = ()) -> dict[str, Any]:
    """The keyword arguments of `chat.completions.create`, without `timeout`. `official`: OpenAI itself is asked.
    `without`: parameters of `OPTIONAL` to leave out.
    """
    messages = to_messages(request.system, request.entries, request.model, without, request.ended_turns)
    forced = request.tool_choice != "auto"
    suffix = request.suffix
    if forced and TOOL_CHOICE in without:
        suffix = with_tool_order(suffix, request.tool_choice)
    if suffix.strip():
        _add_user(messages, suffix)
    elif messages[-1]["role"] in ("assistant", "system"):
        _add_user(messages, GO_ON)
    limit = "max_completion_tokens" if official or counts_reasoning(request.model) else "max_tokens"
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
            for tool in wire_tools(request.tools)
        ]
        body[TOOL_CHOICE] = _forced_choice(request) if forced and TOOL_CHOICE not in without else "auto"
        effort = reasoning_effort_with_tools(request.model)
        if effort is not None:
            body["reasoning_effort"] = effort
    return body


def is_in(body: dict[str, Any], parameter: str) -> bool:
    """Whether a parameter of `OPTIONAL` is in the request."""
    if parameter == TOOL_CHOICE:
        return bool(body.get(TOOL_CHOICE, "auto") != "auto")
    messages: list[Message] = body["messages"]
    return any(parameter in message for message in messages)


def to_messages(
    system: str,
    entries: Sequence[Entry],
    model: str = "",
    without: Collection[str] = (),
    ended_turns: EndedTurns | None = None,
) -> list[Message]:
    """All messages without the suffix. Every call of a reply has its result before any other message. `ended_turns`: as
    in `ModelRequest`; so the messages are shared by requests, and none may be changed.
    """
    nothing: list[Message] = []

    def with_turns(before: list[Message], turns: Turns) -> list[Message]:
        messages = list(before)
        for turn in turns:
            _add_turn(messages, turn, model, without)
        return messages

    form = (API, model, frozenset(without))
    messages = (ended_turns or EndedTurns()).made(form, entries, nothing, with_turns)
    if system.strip():
        messages.insert(0, {"role": "system", "content": system})
    return messages or [{"role": "user", "content": GO_ON}]


def _add_turn(
    messages: list[Message], entries: Sequence[Entry], model: str, without: Collection[str]
) -> None:
    unanswered: list[ToolCall] = []
    texts: list[str] = []
    for entry in entries:
        if isinstance(entry, AssistantEntry):
            unanswered = list(entry.calls)
            if messages and messages[-1]["role"] == "assistant":
                _add_user(messages, GO_ON)
            if entry.calls or entry.content.loaded.strip():
                messages.append(_reply(entry) | _thinking(entry, model, without))
        elif isinstance(entry, ToolEntry) and any(call.call_id == entry.call_id for call in unanswered):
            unanswered = [call for call in unanswered if call.call_id != entry.call_id]
            messages.append(_tool_result(entry.call_id, entry.content.loaded))
        elif isinstance(entry, ToolEntry):
            texts.append(result_as_text(entry))
        else:
            texts.append(entry.content.loaded)
    _end_turn(messages, unanswered, texts)


def _end_turn(messages: list[Message], unanswered: list[ToolCall], texts: list[str]) -> None:
    """Adds a result for each call that has none, then the texts that people sent during the turn."""
    messages += [_tool_result(call.call_id, NO_RESULT) for call in unanswered]
    for text in texts:
        if text.strip():
            _add_user(messages, text)


def _reply(entry: AssistantEntry) -> Message:
    message: Message = {"role": "assistant", "content": entry.content.loaded or None}
    if entry.calls:
        message["tool_calls"] = [
            {
                "id": wire_call_id(call.call_id),
                "type": "function",
                "function": {
                    "name": wire_tool_name(call.name),
                    "arguments": json.dumps(call.input or {}, ensure_ascii=False, separators=(",", ":")),
                },
            }
            for call in entry.calls
        ]
    return message


def _thinking(entry: AssistantEntry, model: str, without: Collection[str]) -> Message:
    """The thinking before the reply's calls, in the field that it came in. Empty where it is another model's."""
    raw = entry.raw if entry.provider == PROVIDER and isinstance(entry.raw, dict) else {}
    if raw.get("api") != API or raw.get("model") != model or raw["name"] in without:
        return {}
    return {raw["name"]: entry.thinking}


def _tool_result(call_id: str, text: str) -> Message:
    return {"role": "tool", "tool_call_id": wire_call_id(call_id), "content": text}


def _add_user(messages: list[Message], text: str) -> None:
    if messages and messages[-1]["role"] == "user":
        messages[-1] = {"role": "user", "content": messages[-1]["content"] + "\n\n" + text}
    else:
        messages.append({"role": "user", "content": text})


def _forced_choice(request: ModelRequest) -> Any:
    if len(request.tools) == 1:
        return "required"  # means the same, and more servers know it
    return {"type": "function", "function": {"name": request.tool_choice}}

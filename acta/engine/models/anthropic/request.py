"""Renders a request for the Messages API.

The API caches a request's content up to a breakpoint (`cache_control`) and finds it again only where the next request
begins with the same content. So all messages are made from the entries alone, and the suffix, which changes every turn,
is the last block of the last user message.

There are three breakpoints: after system and tools, after the last block before the suffix, and where the previous
request had its last one. The API looks back only 20 blocks from a breakpoint, so a turn of more blocks needs the third.
"""

import re
from itertools import islice
from typing import Any

from acta.engine.log.conversation import AssistantEntry, ToolCall
from acta.engine.models.answer_format import answer_format
from acta.engine.models.anthropic.stream import drop_last_thinking, with_signed_thinking
from acta.engine.models.model import ModelRequest
from acta.engine.models.wire import (
    CLAUDE_TOOLS,
    GO_ON,
    AnsweredCall,
    Block,
    add_blocks,
    kept_of,
    messages_of_blocks,
    wire_tool_name,
    wire_tools,
)

PROVIDER = "anthropic"
_BREAKPOINT = {"type": "ephemeral"}

Message = dict[str, Any]

# What differs between Claude's models. The names are those that the SDK lists (anthropic 2.12, `types/model.py`). A
# name that no pattern knows is treated like the newest models, which accept least. Patterns allow for what providers
# put around a name: `eu.anthropic.claude-…`, a date or a version at the end.
_UP_TO_CLAUDE_5 = r"(.*[./])?claude-(3\b.*|[a-z]+-4\b.*|[a-z]+-5(-\d{8})?(-v\d+)?([@:].*)?)"
_SONNET_5_5 = r"(.*[./])?claude-sonnet-5-5([-@:].*)?"


def takes_back_thinking(model: str) -> bool:
    """Whether thinking can go back to Claude. From 5.1 on a thinking block is bound to every byte before it, the suffix
    included. The suffix changes each turn, so the API may refuse the block. A request may leave thinking out.
    """
    return re.fullmatch(_UP_TO_CLAUDE_5, model) is not None


def thinking_of(model: str) -> dict[str, Any] | None:
    """What to send as `thinking` where no effort is named. None: nothing, the model decides. `between_tools` is Sonnet
    5.5's lowest setting: the model's notes between tool calls stay readable, and its answers stay inside a small output
    limit.
    """
    return {"type": "between_tools"} if re.fullmatch(_SONNET_5_5, model) else None


def to_body(request: ModelRequest, provider: str = PROVIDER, *, thinking: bool = True) -> dict[str, Any]:
    """The keyword arguments of `messages.create`, without `stream` and `timeout`. `provider`: who is asked; thinking
    goes back only to the provider that it came from, and to nobody if `thinking` is False.
    """
    messages = to_messages(request, provider, thinking=thinking)
    _set_breakpoints(messages)
    if request.suffix.strip():
        add_blocks(messages, "user", [_text(request.suffix)])
    elif messages[-1]["role"] == "assistant":  # the model would continue that reply instead of answering
        add_blocks(messages, "user", [_text(GO_ON)])
    tools: list[Block] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in wire_tools(request.tools, CLAUDE_TOOLS)
    ]
    body: dict[str, Any] = {"model": request.model, "max_tokens": request.max_tokens, "messages": messages}
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system, "cache_control": _BREAKPOINT}]
    elif tools:
        tools[-1]["cache_control"] = _BREAKPOINT
    if tools:
        body["tools"] = tools
        body["tool_choice"] = {"type": "auto"}
    effort = request.parameters.taken(provider, request.model).effort
    how = thinking_of(request.model) if effort is None else None
    output: dict[str, Any] = {} if effort is None else {"effort": effort}
    if (schema := answer_format(request.answer_schema)) is not None:
        output["format"] = {"type": "json_schema", "schema": schema}
    if output:
        body["output_config"] = output
    if how is not None:
        body["thinking"] = how
    return body


def to_messages(request: ModelRequest, provider: str = PROVIDER, *, thinking: bool = True) -> list[Message]:
    """All messages without the suffix."""

    def reply(entry: AssistantEntry) -> list[Block]:
        return _reply_blocks(entry, request.model, provider, thinking)

    return messages_of_blocks(request, (provider, request.model, thinking), reply, _tool_result, _text)


def _reply_blocks(entry: AssistantEntry, model: str, provider: str, thinking: bool) -> list[Block]:
    """The reply's blocks as they came, where its thinking goes back; else its text, then its calls."""
    text = entry.content.loaded
    calls = [_tool_use(call) for call in entry.calls]
    takes = thinking and takes_back_thinking(model)
    kept = kept_of(entry, provider, model).get("blocks", []) if takes else []
    blocks: list[Block] = []
    for part in with_signed_thinking(kept):
        if part["type"] == "text":
            piece, text = text[: part["chars"]], text[part["chars"] :]
            blocks += [_text(piece)] if piece.strip() else []
        elif part["type"] == "tool_use":
            blocks += calls[:1]
            calls = calls[1:]
        else:
            blocks.append(dict(part))
    blocks += ([_text(text)] if text.strip() else []) + calls
    drop_last_thinking(blocks)
    return blocks


def _tool_use(call: ToolCall) -> Block:
    return {
        "type": "tool_use",
        "id": call.call_id,
        "name": wire_tool_name(call.name),
        "input": call.input or {},
    }


def _tool_result(answered: AnsweredCall) -> Block:
    block = {
        "type": "tool_result",
        "tool_use_id": answered.call.call_id,
        "content": answered.text,
    }
    return block if answered.ok else {**block, "is_error": True}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _set_breakpoints(messages: list[Message]) -> None:
    """At the last block, and at the block that was the last one of the previous request."""
    last = len(messages) - 1
    earlier = (at for at in range(last - 1, -1, -1) if messages[at]["role"] == "user")
    for at in (last, *islice(earlier, 1)):
        *before, block = messages[at]["content"]
        if block["type"] in ("text", "tool_use", "tool_result"):
            content = [*before, {**block, "cache_control": _BREAKPOINT}]
            messages[at] = {**messages[at], "content": content}

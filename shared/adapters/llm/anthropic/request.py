"""Entries as Messages API messages.

The volatile suffix is the last block of the last user message; all before it is a pure function of the
entries, so that each request starts with the previous one's content up to its suffix. Cache breakpoints
(`cache_control`) are no part of that content: three of them, after system and tools, after the last stable
block, and where the previous request had its last one, so that turns of more than 20 blocks still find it.
"""

from collections.abc import Sequence
from typing import Any

from shared.adapters.llm import models as catalogue
from shared.adapters.llm.anthropic.stream import only_signed, without_last_thinking
from shared.adapters.llm.common.conversation import (
    Answer,
    call_id_on_wire,
    in_turns,
    on_wire,
    ordered,
    tool_name_on_wire,
)
from shared.domain.session.conversation import AssistantEntry, Entry, ToolCall
from shared.ports.model import ModelRequest

PROVIDER = "anthropic"
GO_ON = "Go on."
_EPHEMERAL = {"type": "ephemeral"}

Block = dict[str, Any]
Message = dict[str, Any]


def to_body(request: ModelRequest, provider: str = PROVIDER) -> dict[str, Any]:
    """The keyword arguments of `messages.create`, without `stream` and `timeout`. `provider`: whose thinking may
    go back, which is nobody's else's."""
    messages = to_messages(request.entries, request.model, provider)
    _mark_stable(messages)
    _add_suffix(messages, _suffix(request))
    tools: list[Block] = [
        {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}
        for tool in on_wire(request.tools)
    ]
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": request.max_tokens,
        "messages": messages,
    }
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system, "cache_control": _EPHEMERAL}]
    elif tools:
        tools[-1]["cache_control"] = _EPHEMERAL
    if tools:
        body["tools"] = tools
        forced = request.tool_choice != "auto" and catalogue.takes_forced_tool(request.model)
        body["tool_choice"] = {"type": "tool", "name": request.tool_choice} if forced else {"type": "auto"}
    thinking = catalogue.thinking_of(request.model)
    if thinking is not None:
        body["thinking"] = thinking
    return body


def to_messages(entries: Sequence[Entry], model: str, provider: str = PROVIDER) -> list[Message]:
    """The stable part: alternating roles, each tool_use answered in the very next message, results first."""
    messages: list[Message] = []
    opening, turns = in_turns(entries)
    _add(messages, "user", [_text(text) for text in opening])
    for turn in turns:
        if messages and messages[-1]["role"] == "assistant":
            _add(messages, "user", [_text(GO_ON)])
        _add(messages, "assistant", _assistant_blocks(turn.reply, model, provider))
        answers = [_result(answer) for answer in turn.answers]
        _add(messages, "user", answers + [_text(text) for text in turn.said])
    if not messages or messages[0]["role"] == "assistant":
        messages.insert(0, {"role": "user", "content": [_text(GO_ON)]})
    return messages


def _assistant_blocks(entry: AssistantEntry, model: str, provider: str) -> list[Block]:
    text = entry.content.loaded
    calls = [_tool_use(call) for call in entry.calls]
    kept = _kept_blocks(entry, model, provider)
    if not kept:
        return ([_text(text)] if text.strip() else []) + calls
    blocks: list[Block] = []
    for part in kept:
        if part["type"] == "text":
            piece, text = text[: part["chars"]], text[part["chars"] :]
            blocks += [_text(piece)] if piece.strip() else []
        elif part["type"] == "tool_use":
            blocks += calls[:1]
            calls = calls[1:]
        else:
            blocks.append(dict(part))
    blocks += ([_text(text)] if text.strip() else []) + calls
    without_last_thinking(blocks)
    return blocks


def _kept_blocks(entry: AssistantEntry, model: str, provider: str) -> list[Block]:
    """The order of the reply's blocks with its thinking (see `anthropic_stream.Reading.raw`)."""
    usable = entry.provider == provider and isinstance(entry.raw, dict) and entry.raw.get("model") == model
    return only_signed(entry.raw["blocks"]) if usable and catalogue.takes_back_thinking(model) else []


def _tool_use(call: ToolCall) -> Block:
    return {
        "type": "tool_use",
        "id": call_id_on_wire(call.call_id),
        "name": tool_name_on_wire(call.name),
        "input": call.input or {},
    }


def _result(answer: Answer) -> Block:
    block = {
        "type": "tool_result",
        "tool_use_id": call_id_on_wire(answer.call.call_id),
        "content": answer.text,
    }
    return block if answer.ok else {**block, "is_error": True}


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _add(messages: list[Message], role: str, blocks: list[Block]) -> None:
    if not blocks:
        return
    if messages and messages[-1]["role"] == role:
        messages[-1]["content"] += blocks
    else:
        messages.append({"role": role, "content": blocks})


def _mark_stable(messages: list[Message]) -> None:
    users = [message for message in messages if message["role"] == "user"]
    previous = users[-2:-1] if messages[-1]["role"] == "user" else users[-1:]
    for message in [*previous, messages[-1]]:
        block = message["content"][-1]
        if block["type"] in ("text", "tool_use", "tool_result"):
            block["cache_control"] = _EPHEMERAL


def _suffix(request: ModelRequest) -> str:
    if request.tool_choice == "auto" or catalogue.takes_forced_tool(request.model):
        return request.suffix
    return ordered(request.suffix, request.tool_choice)


def _add_suffix(messages: list[Message], suffix: str) -> None:
    if suffix.strip():
        _add(messages, "user", [_text(suffix)])
    elif messages[-1]["role"] == "assistant":  # an answer may not be prefilled
        _add(messages, "user", [_text(GO_ON)])

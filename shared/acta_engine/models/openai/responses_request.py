"""Renders a request for the Responses API. Nothing is stored there, so a request holds the whole conversation.

The API caches a request's content and finds it again only where the next request begins with the same content. So all
items are made from the entries alone, and the suffix, which changes every turn, is the last item.

Models from GPT 5.6 on find a cached prefix at a breakpoint only, and would set their own after the suffix. They get
three: after the system prompt, at the end of the last item before the suffix, and where the previous request had that
end. Breakpoints are no part of the content.

Reasoning goes back to the model that it came from, in its place and encrypted as it came. The API itself leaves out
what the model cannot use any more.
"""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from acta_engine.log.conversation import AssistantEntry, EndedTurns, Entry, ToolCall, Turns
from acta_engine.models.common.conversation import (
    GO_ON,
    Turn,
    cache_key,
    turn_of,
    wire_call_id,
    wire_tool_name,
    wire_tools,
)
from acta_engine.models.model import ModelRequest
from acta_engine.models.model_catalogue import (
    effort_within,
    returns_encrypted_reasoning,
    takes_breakpoints,
)
from acta_engine.models.openai.client import PROVIDER
from acta_engine.models.openai.responses_stream import API

MIN_OUTPUT_TOKENS = 16
"""With less the API refuses the request."""
_BREAKPOINT = {"mode": "explicit"}

Item = dict[str, Any]


ENCRYPTED_REASONING = "reasoning.encrypted_content"


def to_body(
    request: ModelRequest, *, official: bool, reasoning: bool = True, background: bool = False
) -> dict[str, Any]:
    """The keyword arguments of `responses.create`, without `timeout`. `official`: OpenAI itself is asked. `reasoning`
    False: without what was kept of earlier replies. `background`: the server makes the answer by itself and keeps it.
    """
    with_breakpoints = official and takes_breakpoints(request.model)
    items = [_message("system", request.system)] if request.system.strip() else []
    shown_to = request.model if reasoning else ""
    items += to_items(request.entries, shown_to, in_blocks=with_breakpoints, ended_turns=request.ended_turns)
    if with_breakpoints:
        _set_breakpoints(items)
    if request.suffix.strip():
        items.append(_message("user", request.suffix))
    elif not items or items[-1].get("role") in ("assistant", "system"):
        items.append(_message("user", GO_ON))
    body: dict[str, Any] = {
        "model": request.model,
        "input": items,
        "max_output_tokens": max(request.max_tokens, MIN_OUTPUT_TOKENS),
        "stream": not background,
        "store": background,
    }
    if background:
        body["background"] = True
    if official:
        body["prompt_cache_key"] = cache_key(request)
    if with_breakpoints:
        body["prompt_cache_options"] = _BREAKPOINT
    if returns_encrypted_reasoning(request.model):
        body["include"] = [ENCRYPTED_REASONING]
    effort = effort_within(request.model, request.max_tokens)
    if effort is not None:
        body["reasoning"] = {"effort": effort}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
                "strict": False,  # strict mode takes only a part of JSON Schema
            }
            for tool in wire_tools(request.tools)
        ]
        body["tool_choice"] = _tool_choice(request)
    return body


class _Rendered(NamedTuple):
    """`used`: ids of the calls in `items`."""

    items: list[Item]
    used: frozenset[str]


def to_items(
    entries: Sequence[Entry], model: str, *, in_blocks: bool, ended_turns: EndedTurns | None = None
) -> list[Item]:
    """All items without the suffix. `model`: who is asked; only its own reasoning goes back. `in_blocks`: results as
    blocks, which can carry a breakpoint, instead of plain text. `ended_turns`: as in `ModelRequest`; so the items are
    shared by requests, and none may be changed.
    """

    def with_turns(before: _Rendered, turns: Turns) -> _Rendered:
        items, used = list(before.items), set(before.used)
        for turn in map(turn_of, turns):
            items += _turn_items(turn, model, used, in_blocks=in_blocks)
        return _Rendered(items, frozenset(used))

    form, nothing = (API, model, in_blocks), _Rendered([], frozenset())
    return (ended_turns or EndedTurns()).made(form, entries, nothing, with_turns).items


def _turn_items(turn: Turn, model: str, used_ids: set[str], *, in_blocks: bool) -> list[Item]:
    items: list[Item] = []
    if turn.reply is not None:
        kept = _kept_items(turn.reply, model)
        ids = _call_ids(turn.reply, kept, used_ids)
        items += _reply_items(turn.reply, kept, ids)
        for answered, call_id in zip(turn.calls, ids, strict=True):
            output: Any = [_text(answered.text)] if in_blocks else answered.text
            items.append({"type": "function_call_output", "call_id": call_id, "output": output})
    return items + [_message("user", text) for text in turn.texts]


def _kept_items(reply: AssistantEntry, model: str) -> list[Item]:
    """What `responses_stream.py` kept of the reply in `raw`; empty where it came from another model or another API."""
    raw = reply.raw if reply.provider == PROVIDER and isinstance(reply.raw, dict) else {}
    return list(raw["items"]) if raw.get("api") == API and raw.get("model") == model else []


def _call_ids(reply: AssistantEntry, kept: list[Item], used: set[str]) -> list[str]:
    """An id for each call: the provider's where it was kept and no earlier call has it, else Acta's. Adds to `used`."""
    provider_ids = iter([part.get("call_id") for part in kept if part["type"] == "function_call"])
    ids = []
    for call in reply.calls:
        provider_id = next(provider_ids, None)
        ids.append(provider_id if provider_id and provider_id not in used else wire_call_id(call.call_id))
        used.add(ids[-1])
    return ids


def _reply_items(reply: AssistantEntry, kept: list[Item], ids: list[str]) -> list[Item]:
    """The kept items in their order, then what is left of the text and of the calls."""
    calls = zip(reply.calls, ids, strict=True)
    text = reply.content.loaded
    items: list[Item] = []
    for part in kept:
        if part["type"] == "message":
            piece, text = text[: part["chars"]], text[part["chars"] :]
            items += [_reply_message(piece, part)] if piece.strip() else []
        elif part["type"] == "function_call":
            items += [_function_call(call, call_id, part.get("id")) for call, call_id in _first_of(calls)]
        else:
            items.append(dict(part))
    while items and items[-1]["type"] == "reasoning":  # refused where nothing follows that it led to
        items.pop()
    if text.strip():
        items.append({"role": "assistant", "content": text})
    return items + [_function_call(call, call_id) for call, call_id in calls]


def _first_of(calls: Iterator[tuple[ToolCall, str]]) -> list[tuple[ToolCall, str]]:
    first = next(calls, None)
    return [] if first is None else [first]


def _reply_message(text: str, part: Item) -> Item:
    if "id" not in part:
        return {"type": "message", "role": "assistant", "content": text}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"type": "message", "role": "assistant", "status": "completed", "content": content}
    return item | {key: part[key] for key in ("id", "phase") if key in part}


def _function_call(call: ToolCall, call_id: str, item_id: str | None = None) -> Item:
    item: Item = {
        "type": "function_call",
        "call_id": call_id,
        "name": wire_tool_name(call.name),
        "arguments": json.dumps(call.input or {}, ensure_ascii=False, separators=(",", ":")),
    }
    return {**item, "id": item_id} if item_id else item


def _message(role: str, text: str) -> Item:
    return {"role": role, "content": [_text(text)]}


def _text(text: str) -> Item:
    return {"type": "input_text", "text": text}


def _set_breakpoints(items: list[Item]) -> None:
    """Only input can carry a breakpoint: texts to the model and results. Items of input in a row are one group; the
    last two groups get a breakpoint at their ends, and the system prompt gets one.
    """
    ends = (
        position
        for position in range(len(items) - 1, -1, -1)
        if _input_blocks(items[position]) and not any(map(_input_blocks, items[position + 1 : position + 2]))
    )
    system = [0] if items[:1] and items[0].get("role") == "system" else []
    for position in {*islice(ends, 2), *system}:
        items[position] = _with_breakpoint(items[position])


def _with_breakpoint(item: Item) -> Item:
    *before, block = _input_blocks(item)
    blocks = [*before, {**block, "prompt_cache_breakpoint": _BREAKPOINT}]
    return {**item, "output" if "output" in item else "content": blocks}


def _input_blocks(item: Item) -> list[Item]:
    """Empty where the item is the model's own."""
    is_result = item.get("type") == "function_call_output"
    blocks = item.get("output") if is_result else item.get("content")
    is_input = is_result or item.get("role") in ("system", "user")
    return blocks if is_input and isinstance(blocks, list) else []


def _tool_choice(request: ModelRequest) -> Any:
    if request.tool_choice == "auto":
        return "auto"
    if len(request.tools) == 1:
        return "required"  # means the same, and more servers know it
    return {"type": "function", "name": request.tool_choice}

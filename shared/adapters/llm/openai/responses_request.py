"""Entries as input items of the Responses API, stateless: nothing is stored there, everything is sent.

Stable as in `anthropic_request`: all but the suffix, which is the last item, is a pure function of the entries.
Reasoning goes back in its place to the model that thought it, encrypted as it came; the API withholds from the
model what it cannot use. Models from GPT 5.6 on find a cached prefix only at a breakpoint and would set theirs
behind the suffix, so they are given three: after the system prompt, at the end of what is stable, and where the
previous request had that end. Breakpoints are no part of the content.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from shared.adapters.llm import models as catalogue
from shared.adapters.llm.common.conversation import (
    Turn,
    cache_key,
    call_id_on_wire,
    in_turns,
    on_wire,
    tool_name_on_wire,
)
from shared.adapters.llm.openai.client import PROVIDER
from shared.adapters.llm.openai.responses_stream import API
from shared.domain.session.conversation import AssistantEntry, Entry, ToolCall
from shared.ports.model import ModelRequest

GO_ON = "Go on."
LEAST_OUTPUT = 16
"""Tokens; with less the API refuses the request."""
_BREAKPOINT = {"mode": "explicit"}

Item = dict[str, Any]


def to_body(request: ModelRequest, *, official: bool, reasoning: bool = True) -> dict[str, Any]:
    """The keyword arguments of `responses.create`, without `timeout`. `reasoning` False leaves out what was
    kept of earlier replies."""
    marked = official and catalogue.takes_breakpoints(request.model)
    items = [_said("system", request.system)] if request.system.strip() else []
    items += to_items(request.entries, request.model if reasoning else "", in_blocks=marked)
    if marked:
        _mark(items)
    if request.suffix.strip():
        items.append(_said("user", request.suffix))
    elif not items or items[-1].get("role") in ("assistant", "system"):
        items.append(_said("user", GO_ON))
    body: dict[str, Any] = {
        "model": request.model,
        "input": items,
        "max_output_tokens": max(request.max_tokens, LEAST_OUTPUT),
        "stream": True,
        "store": False,
    }
    if official:
        body["prompt_cache_key"] = cache_key(request)
    if marked:
        body["prompt_cache_options"] = _BREAKPOINT
    if catalogue.thinks_encrypted(request.model):
        body["include"] = ["reasoning.encrypted_content"]
    effort = catalogue.effort_within(request.model, request.max_tokens)
    if effort is not None:
        body["reasoning"] = {"effort": effort}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.input_schema,
                "strict": False,  # not every JSON Schema is one it could hold a model to
            }
            for tool in on_wire(request.tools)
        ]
        body["tool_choice"] = _choice(request)
    return body


def to_items(entries: Sequence[Entry], model: str, *, in_blocks: bool) -> list[Item]:
    """`in_blocks`: results as blocks, which can carry a breakpoint, not as plain text."""
    opening, turns = in_turns(entries)
    items = [_said("user", text) for text in opening]
    used: set[str] = set()
    for turn in turns:
        kept = _kept(turn.reply, model)
        ids = _ids(turn, kept, used)
        items += _reply(turn.reply, kept, ids)
        for answer, call_id in zip(turn.answers, ids, strict=True):
            output: Any = [_text(answer.text)] if in_blocks else answer.text
            items.append({"type": "function_call_output", "call_id": call_id, "output": output})
        items += [_said("user", text) for text in turn.said]
    return items


def _kept(reply: AssistantEntry, model: str) -> list[Item]:
    """The order of the reply's items with its reasoning (see `openai_responses_stream.Reading`)."""
    raw = reply.raw if reply.provider == PROVIDER and isinstance(reply.raw, dict) else {}
    return list(raw["items"]) if raw.get("api") == API and raw.get("model") == model else []


def _ids(turn: Turn, kept: list[Item], used: set[str]) -> list[str]:
    """A call's id: the one the provider gave it where that is kept and nobody else has it, else the runtime's."""
    given = iter([part.get("call_id") for part in kept if part["type"] == "function_call"])
    ids = []
    for call in turn.reply.calls:
        theirs = next(given, None)
        ids.append(theirs if theirs and theirs not in used else call_id_on_wire(call.call_id))
        used.add(ids[-1])
    return ids


def _reply(reply: AssistantEntry, kept: list[Item], ids: list[str]) -> list[Item]:
    calls = zip(reply.calls, ids, strict=True)
    text = reply.content.loaded
    items: list[Item] = []
    for part in kept:
        if part["type"] == "message":
            piece, text = text[: part["chars"]], text[part["chars"] :]
            items += [_message(piece, part)] if piece.strip() else []
        elif part["type"] == "function_call":
            items += [_call(call, call_id, part.get("id")) for call, call_id in _first(calls)]
        else:
            items.append(dict(part))
    while items and items[-1]["type"] == "reasoning":  # refused where nothing follows that it led to
        items.pop()
    if text.strip():
        items.append({"role": "assistant", "content": text})
    return items + [_call(call, call_id) for call, call_id in calls]


def _first(calls: Iterator[tuple[ToolCall, str]]) -> list[tuple[ToolCall, str]]:
    found = next(calls, None)
    return [] if found is None else [found]


def _message(text: str, part: Item) -> Item:
    if "id" not in part:
        return {"type": "message", "role": "assistant", "content": text}
    content = [{"type": "output_text", "text": text, "annotations": []}]
    item = {"type": "message", "role": "assistant", "status": "completed", "content": content}
    return item | {key: part[key] for key in ("id", "phase") if key in part}


def _call(call: ToolCall, call_id: str, item_id: str | None = None) -> Item:
    item: Item = {
        "type": "function_call",
        "call_id": call_id,
        "name": tool_name_on_wire(call.name),
        "arguments": json.dumps(call.input or {}, ensure_ascii=False, separators=(",", ":")),
    }
    return {**item, "id": item_id} if item_id else item


def _said(role: str, text: str) -> Item:
    return {"role": role, "content": [_text(text)]}


def _text(text: str) -> Item:
    return {"type": "input_text", "text": text}


def _mark(items: list[Item]) -> None:
    """Only what is said to the model can carry a breakpoint, so those of the last two groups of it are marked."""
    ends = [
        place
        for place, item in enumerate(items)
        if _blocks(item) and (place + 1 == len(items) or not _blocks(items[place + 1]))
    ]
    for place in {*ends[-2:], *([0] if items[:1] and items[0].get("role") == "system" else [])}:
        _blocks(items[place])[-1]["prompt_cache_breakpoint"] = _BREAKPOINT


def _blocks(item: Item) -> list[Item]:
    blocks = item.get("output") if item.get("type") == "function_call_output" else item.get("content")
    told = item.get("role") in ("system", "user") or item.get("type") == "function_call_output"
    return blocks if told and isinstance(blocks, list) else []


def _choice(request: ModelRequest) -> Any:
    if request.tool_choice == "auto":
        return "auto"
    if len(request.tools) == 1:  # says the same, and more servers know it
        return "required"
    return {"type": "function", "name": request.tool_choice}

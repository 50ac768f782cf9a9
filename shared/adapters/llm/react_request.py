"""A request for a model with tools as one for a model without: rules in the system text, calls and results as text.

Stable like the providers' own renderings: all but the tail is a pure function of system, tools and entries. Each
call is one assistant message in the protocol's own form and each result the user message right behind it, so calls
made together under native tool calling read as made one after another.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from shared.adapters.llm.react_fence import fenced
from shared.adapters.llm.react_protocol import order, protocol
from shared.adapters.llm.wire_names import tool_name_on_wire
from shared.domain.content import Content
from shared.domain.continuation import GOAL_COMPLETE, claims_completion
from shared.domain.conversation import AssistantEntry, Entry, ToolCall, ToolEntry, UserEntry
from shared.ports.model import ModelRequest

UNREADABLE = "_unreadable_reply"
"""Stands for a call where a reply was none: no tool can have this name (`ToolSpec.name` begins with a letter)."""

_NO_RESULT = "Error: this call has no result."


def to_inner(request: ModelRequest) -> ModelRequest:
    rules = protocol(request.tools, GOAL_COMPLETE)
    last = order(request.tool_choice)
    return request._replace(
        system=f"{request.system}\n\n{rules}" if request.system.strip() else rules,
        tools=(),
        entries=tuple(_rendered(request.entries)),
        tail=f"{fenced('runtime', request.tail)}\n\n{last}" if request.tail.strip() else last,
        tool_choice="auto",
        hearing=request.hearing._replace(on_text=None),  # what comes is JSON, not a text for people
    )


def _rendered(entries: Sequence[Entry]) -> Iterator[Entry]:
    told: set[str] = set()
    for index, entry in enumerate(entries):
        match entry:
            case AssistantEntry():
                told = {call.call_id for call in entry.calls}
                yield from _turn(entry, _results(entries, index + 1))
            case UserEntry():
                yield _message(entry.message_id, "user", entry.content.loaded)
            case ToolEntry() if entry.call_id not in told:
                yield _observation(entry)


def _turn(entry: AssistantEntry, results: dict[str, ToolEntry]) -> Iterator[Entry]:
    said, thought = entry.content.loaded, entry.content.loaded or entry.thinking
    if not entry.calls and said.strip():
        yield _assistant(entry, _json(thought=entry.thinking, final_answer=_without_marker(said)))
    for call in entry.calls:
        if call.name == UNREADABLE and call.input is None:
            yield _assistant(entry, thought)
        else:
            yield _assistant(entry, _json(thought=thought, action=call.name, action_input=call.input or {}))
        yield _result(call, results.get(call.call_id))
        thought = ""


def _results(entries: Sequence[Entry], start: int) -> dict[str, ToolEntry]:
    """By call id, up to the next turn."""
    found: dict[str, ToolEntry] = {}
    for index in range(start, len(entries)):
        entry = entries[index]
        if isinstance(entry, AssistantEntry):
            break
        if isinstance(entry, ToolEntry):
            found[entry.call_id] = entry
    return found


def _result(call: ToolCall, entry: ToolEntry | None) -> Entry:
    if entry is None:
        return _message(call.call_id, _origin(call.name, ok=False), _NO_RESULT)
    return _observation(entry)


def _observation(entry: ToolEntry) -> Entry:
    return _message(entry.call_id, _origin(entry.name, ok=entry.ok), entry.content.loaded or "(no output)")


def _origin(name: str, *, ok: bool) -> str:
    kind = "observation" if ok else "failed observation"
    return f"{kind} of {tool_name_on_wire(name)}"


def _message(message_id: str, origin: str, text: str) -> Entry:
    return UserEntry(message_id=message_id, content=Content.of(fenced(origin, text)))


def _assistant(entry: AssistantEntry, text: str) -> Entry:
    return AssistantEntry(message_id=entry.message_id, content=Content.of(text), provider=entry.provider)


def _without_marker(text: str) -> str:
    return text.lstrip()[len(GOAL_COMPLETE) :].lstrip(" :.-\n") if claims_completion(text) else text


def _json(**parts: Any) -> str:
    return json.dumps(parts, ensure_ascii=False)

"""What every provider's rendering of a conversation shares: turns, names, tool definitions, the cache key."""

import hashlib
import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from shared.domain.session.conversation import AssistantEntry, Entry, ToolCall, ToolEntry
from shared.ports.model import ModelRequest, ToolDefinition

NO_RESULT = "Error: this call has no result."
"""A call left without one would make the provider refuse every later request."""
NO_OUTPUT = "(no output)"
ORDER = "Answer now by calling the tool `{}`, and with nothing else."


class Answer(NamedTuple):
    """The one result of a call."""

    call: ToolCall
    text: str
    ok: bool


class Turn(NamedTuple):
    """One reply of the model: an answer for each of its calls, in their order, and the texts that follow."""

    reply: AssistantEntry
    answers: tuple[Answer, ...]
    said: tuple[str, ...]


def in_turns(entries: Sequence[Entry]) -> tuple[tuple[str, ...], list[Turn]]:
    """The texts before the first reply, and the turns. Blank texts are left out: no provider wants them. A result
    whose call is no longer there is told as text."""
    bounds = [at for at, entry in enumerate(entries) if isinstance(entry, AssistantEntry)] + [len(entries)]
    turns = [_turn(entries[start:end]) for start, end in pairwise(bounds)]
    return _said(entries[: bounds[0]], {}), turns


def _turn(entries: Sequence[Entry]) -> Turn:
    reply, *following = entries
    assert isinstance(reply, AssistantEntry)
    results = {entry.call_id: entry for entry in following if isinstance(entry, ToolEntry)}
    answers = tuple(_answer(call, results.get(call.call_id)) for call in reply.calls)
    return Turn(reply, answers, _said(following, {call.call_id: call for call in reply.calls}))


def _answer(call: ToolCall, result: ToolEntry | None) -> Answer:
    if result is None:
        return Answer(call, NO_RESULT, ok=False)
    text = result.content.loaded
    return Answer(call, text if text.strip() else NO_OUTPUT, result.ok)


def _said(entries: Sequence[Entry], called: dict[str, ToolCall]) -> tuple[str, ...]:
    texts = []
    for entry in entries:
        if not isinstance(entry, ToolEntry):
            texts.append(entry.content.loaded)
        elif entry.call_id not in called:
            texts.append(f"Result of {entry.name}:\n{entry.content.loaded}")
    return tuple(text for text in texts if text.strip())


def ordered(suffix: str, tool: str) -> str:
    """The suffix for a model that cannot be forced to call the tool, and so is told to."""
    return f"{suffix}\n\n{ORDER.format(tool)}" if suffix.strip() else ORDER.format(tool)


_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def call_id_on_wire(call_id: str) -> str:
    """The id itself, or a hash of it when a provider would refuse it (openai takes 40 characters)."""
    if _CALL_ID.fullmatch(call_id):
        return call_id
    return "c_" + hashlib.sha256(call_id.encode()).hexdigest()[:32]


def tool_name_on_wire(name: str) -> str:
    return _NOT_IN_NAMES.sub("_", name)[:64] or "_"


NOT_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "enum", "not")
"""Anthropic refuses the first three there, OpenAI all of them."""
RULE = "The input must satisfy this JSON Schema as well: "


def on_wire(tools: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """What cannot stand at the top of a schema is told in words. OpenAI wants `properties`, empty as they may be."""
    return tuple(tool._replace(description=_described(tool), input_schema=_schema(tool)) for tool in tools)


def _schema(tool: ToolDefinition) -> dict[str, Any]:
    taken = {key: value for key, value in tool.input_schema.items() if key not in NOT_AT_THE_TOP}
    return taken if "properties" in taken else {**taken, "properties": {}}


def _described(tool: ToolDefinition) -> str:
    left_out = {key: value for key, value in tool.input_schema.items() if key in NOT_AT_THE_TOP}
    if not left_out:
        return tool.description
    rule = RULE + json.dumps(left_out, ensure_ascii=False, separators=(",", ":"))
    return f"{tool.description}\n\n{rule}" if tool.description.strip() else rule


def cache_key(request: ModelRequest) -> str:
    """The same for all requests whose conversation begins with the same entry: a session's, until a compaction
    gives it another beginning. Entries' ids say nothing of what was said."""
    first = request.entries[0] if request.entries else None
    opening = "" if first is None else getattr(first, "message_id", "") or getattr(first, "call_id", "")
    return "acta-" + hashlib.sha256(f"{request.model}\n{opening}".encode()).hexdigest()[:32]

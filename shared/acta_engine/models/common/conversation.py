"""What every rendering of a conversation shares: turns, texts, ids, names, tool definitions, the cache key."""

import hashlib
import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from acta_engine.log.conversation import AssistantEntry, Entry, ToolCall, ToolEntry
from acta_engine.models.model import ModelRequest, ToolDefinition

NO_RESULT = "Error: this call has no result."
"""Stands for a missing result: providers refuse a request in which a call has none."""
NO_OUTPUT = "(no output)"
GO_ON = "Go on."
"""The user's words between two replies in a row, and after a reply at the end, which providers would continue."""


class AnsweredCall(NamedTuple):
    """A tool call with its one result."""

    call: ToolCall
    text: str
    ok: bool


class Turn(NamedTuple):
    """One reply of the model, its calls in the model's order, and the texts that came after it. `reply` None: the texts
    came before any reply.
    """

    reply: AssistantEntry | None
    calls: tuple[AnsweredCall, ...]
    texts: tuple[str, ...]


def turn_of(entries: Sequence[Entry]) -> Turn:
    """The turn that these are, as `EndedTurns` splits a conversation.

    Blank texts are left out, because no provider wants them. A result whose call is no longer there becomes a text.
    """
    reply = entries[0] if entries else None
    if not isinstance(reply, AssistantEntry):
        return Turn(None, (), _texts(entries, frozenset()))
    following = entries[1:]
    results = {entry.call_id: entry for entry in following if isinstance(entry, ToolEntry)}
    calls = tuple(_answered(call, results.get(call.call_id)) for call in reply.calls)
    return Turn(reply, calls, _texts(following, frozenset(call.call_id for call in reply.calls)))


def _answered(call: ToolCall, result: ToolEntry | None) -> AnsweredCall:
    if result is None:
        return AnsweredCall(call, NO_RESULT, ok=False)
    text = result.content.loaded
    return AnsweredCall(call, text if text.strip() else NO_OUTPUT, result.ok)


def _texts(entries: Sequence[Entry], call_ids: frozenset[str]) -> tuple[str, ...]:
    texts = [
        result_as_text(entry) if isinstance(entry, ToolEntry) else entry.content.loaded
        for entry in entries
        if not isinstance(entry, ToolEntry) or entry.call_id not in call_ids
    ]
    return tuple(text for text in texts if text.strip())


def result_as_text(result: ToolEntry) -> str:
    """The result as a text, for a request that no longer holds its call."""
    return f"Result of {wire_tool_name(result.name)}:\n{result.content.loaded}"


def with_tool_order(suffix: str, tool: str) -> str:
    """The suffix with an order to call the tool, for a model that cannot be forced to call it."""
    order = f"Answer now by calling the tool `{tool}`, and with nothing else."
    return f"{suffix}\n\n{order}" if suffix.strip() else order


_CALL_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")


def wire_call_id(call_id: str) -> str:
    """The id itself, or a hash of it where a provider would refuse it. OpenAI takes 40 characters."""
    if _CALL_ID.fullmatch(call_id):
        return call_id
    return "c_" + hashlib.sha256(call_id.encode()).hexdigest()[:32]


def wire_tool_name(name: str) -> str:
    """The name with `_` for each character that a provider would refuse, cut to 64 characters."""
    return _NOT_IN_NAMES.sub("_", name)[:64] or "_"


_REFUSED_AT_THE_TOP = ("anyOf", "oneOf", "allOf", "enum", "not")
"""Keywords of JSON Schema. At the top of a tool's schema Anthropic refuses the first three, OpenAI all of them."""


def wire_tools(tools: Sequence[ToolDefinition]) -> tuple[ToolDefinition, ...]:
    """The tools as every provider accepts them. Keywords that may not stand at the top of a schema move into the
    description. `properties` is always there, because OpenAI refuses a schema without it.
    """
    return tuple(tool._replace(description=_description(tool), input_schema=_schema(tool)) for tool in tools)


def _schema(tool: ToolDefinition) -> dict[str, Any]:
    kept = {key: value for key, value in tool.input_schema.items() if key not in _REFUSED_AT_THE_TOP}
    return kept if "properties" in kept else {**kept, "properties": {}}


def _description(tool: ToolDefinition) -> str:
    moved = {key: value for key, value in tool.input_schema.items() if key in _REFUSED_AT_THE_TOP}
    if not moved:
        return tool.description
    schema = json.dumps(moved, ensure_ascii=False, separators=(",", ":"))
    rule = f"The input must satisfy this JSON Schema as well: {schema}"
    return f"{tool.description}\n\n{rule}" if tool.description.strip() else rule


def cache_key(request: ModelRequest) -> str:
    """OpenAI's `prompt_cache_key`: the same for all requests to one model whose conversation begins with the same
    entry. That is one session's, until a compaction gives it another beginning. The key is made from the entry's id, so
    it tells nothing of the text.
    """
    first = request.entries[0] if request.entries else None
    opening = "" if first is None else getattr(first, "message_id", "") or getattr(first, "call_id", "")
    return "acta-" + hashlib.sha256(f"{request.model}\n{opening}".encode()).hexdigest()[:32]

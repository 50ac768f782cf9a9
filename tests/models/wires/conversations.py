"""Entries and requests for the tests of models."""

from typing import Any

from acta.engine.log.conversation import AssistantEntry, Content, Entry, ToolCall, ToolEntry, UserEntry
from acta.engine.models.model import ModelRequest, OfferedTool

KEY = "sk-test-not-to-be-seen"
TIMEOUT = 20.0
SECRET_TEXT = "the-secret-of-the-prompt"

READ_FILE = OfferedTool(
    "read_file",
    "Read a file.",
    {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
)
UPDATE_PLAN = OfferedTool(
    "update_plan",
    "Change the plan.",
    {"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]},
)


def user(text: str, number: int = 1) -> UserEntry:
    return UserEntry(message_id=f"u{number}", content=Content.of(text))


def call(call_id: str, name: str = "read_file", **arguments: Any) -> ToolCall:
    return ToolCall(call_id=call_id, effect_id=f"e-{call_id}", name=name, input=arguments)


def assistant(text: str, *calls: ToolCall, provider: str = "", raw: Any = None) -> AssistantEntry:
    return AssistantEntry(message_id="a", content=Content.of(text), calls=calls, provider=provider, raw=raw)


def result(call_id: str, text: str, *, ok: bool = True) -> ToolEntry:
    return ToolEntry(call_id=call_id, name="read_file", content=Content.of(text), ok=ok)


def request(
    *entries: Entry,
    model: str = "test-model",
    suffix: str = "Plan: step 1 of 2.",
    tools: tuple[OfferedTool, ...] = (READ_FILE, UPDATE_PLAN),
    system: str = "You work.",
    max_tokens: int = 500,
) -> ModelRequest:
    return ModelRequest(
        model=model,
        system=system,
        tools=tools,
        entries=entries or (user(f"Say hello. {SECRET_TEXT}"),),
        suffix=suffix,
        max_tokens=max_tokens,
    )

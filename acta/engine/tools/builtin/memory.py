"""The tools `remember` and `recall`: notes of a session, and an agent's long-term memory (docs/design/files.md 11)."""

from collections.abc import Mapping
from typing import Any

from acta.engine.clock import MEMORY
from acta.engine.errors import ToolFailed
from acta.engine.memories.memory import (
    MAX_PER_AGENT,
    MAX_TEXT_CHARS,
    Memory,
    MemoryFull,
    Source,
    as_line,
    same_text,
)
from acta.engine.tools.port import BuiltinCall
from acta.engine.tools.tool import BuiltinTool, fields
from acta.engine.untrusted.quoting import OutsideText

RECALLED = 10
"""The most memories that one `recall` returns."""
RECALLED_CHARS = 6_000
"""The most characters of their texts together."""


def note(arguments: Mapping[str, Any]) -> str | None:
    """A note for the session alone is kept in the session's head, so nothing has to run."""
    return str(arguments.get("text", "")) if arguments.get("scope") == "session" else None


def remember(call: BuiltinCall) -> str:
    """The memory's id is made from the effect's id, so a call that runs again adds nothing.

    A text from outside may have made the agent remember this. So once the agent has read such a text, the memory is for
    this user's sessions alone until a person lets everybody have it. A memory from a private session is for the user's
    private sessions alone until then.
    """
    context, kept = call.context, call.arguments["text"].strip()
    if call.arguments["scope"] != "agent":
        raise ToolFailed("only notes for later sessions are kept here. Use scope agent.")
    if not kept:
        raise ToolFailed("the text is blank.")
    user = context.user if context.read_outside or context.private else None
    memory_id = f"{MEMORY}_{context.effect_id.partition('_')[2]}"
    # The memory that an earlier attempt of this call stored is passed over, so every attempt has the same result.
    is_known = any(
        one.memory_id != memory_id and same_text(one.text, kept) and one.only_for in (None, user)
        for one in _near(call, kept, RECALLED * MAX_TEXT_CHARS)
    )
    if is_known:
        return "That is remembered already."
    now = call.reach.clock.now()
    memory = Memory(
        memory_id=memory_id,
        agent_id=context.agent_id,
        kind=call.arguments.get("kind", "fact"),
        text=kept,
        source=Source(session_id=context.session_id),
        created_at=now,
        updated_at=now,
        origin="after_outside_data" if context.read_outside else "agent",
        only_for=user,
        private=context.private,
    )
    try:
        call.reach.memories.add(context.tenant, memory)
    except MemoryFull:
        raise ToolFailed(
            f"this agent's memory is full ({MAX_PER_AGENT}). Tell the user, who can delete memories."
        ) from None
    whose = " of this user" if memory.only_for is not None else ""
    return f"Remembered as a {memory.kind} for later sessions{whose}."


def recall(call: BuiltinCall) -> str | OutsideText:
    query = call.arguments["query"]
    found = _near(call, query, RECALLED_CHARS)
    if not found:
        return "Nothing that fits was kept from earlier sessions."
    lines = [f"{memory.created_at:%Y-%m-%d} {as_line(memory)}" for memory in found]
    return OutsideText("memory", query, "\n".join(lines))


def _near(call: BuiltinCall, words: str, chars: int) -> tuple[Memory, ...]:
    context = call.context
    found = call.reach.memories.relevant(
        context.tenant, context.agent_id, context.user, words, RECALLED, chars, private=context.private
    )
    return tuple(found)


TOOLS = (
    BuiltinTool(
        name="remember",
        description=(
            "Note one thing, clear on its own. scope session: you see it every turn. scope agent: for later sessions "
            "too, if it will hold then and is no secret."
        ),
        input_schema=fields(
            ("text", "scope"),
            text={"type": "string", "maxLength": MAX_TEXT_CHARS},
            scope={"type": "string", "enum": ["session", "agent"]},
            kind={"type": "string", "enum": ["fact", "preference", "lesson"]},
        ),
        effect="idempotent",
        risk="write",
        bounded=True,
        note=note,
        run=remember,
    ),
    BuiltinTool(
        name="recall",
        description="Find notes of earlier sessions by their words.",
        input_schema=fields(("query",), query={"type": "string", "maxLength": 500}),
        bounded=True,
        run=recall,
    ),
)

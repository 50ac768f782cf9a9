"""A conversation entry as JSON (design §3)."""

from typing import Any

from shared.agent.queries.history import PositionedEntry
from shared.api.response.views import instant
from shared.domain.session.conversation import AssistantEntry, ToolEntry


def message_view(one: PositionedEntry) -> dict[str, Any]:
    entry = one.entry
    view: dict[str, Any] = {
        "message_id": entry.call_id if isinstance(entry, ToolEntry) else entry.message_id,
        "seq": one.seq,
        "at": instant(one.at),
        "role": entry.kind,
        "content": entry.content.text,
    }
    if isinstance(entry, AssistantEntry) and entry.calls:
        view["tool_calls"] = [
            {"call_id": c.call_id, "name": c.name, "input": c.input, **one.amendment(c.call_id)}
            for c in entry.calls
        ]
    if isinstance(entry, AssistantEntry) and entry.continues:
        view["continues"] = entry.continues
    if isinstance(entry, ToolEntry):
        view |= {"call_id": entry.call_id}
    return view

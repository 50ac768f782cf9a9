"""What people, models and tools said, as attributes of spans: only where an operator has asked for it (docs/traces.md).

Texts of more than 4 KB are not in the commit and stay where they are. Source of the form: OpenTelemetry, the JSON
schemas of `gen_ai.input.messages` and `gen_ai.output.messages`; on spans they may be JSON strings.
"""

import json
from typing import Any

from shared.domain.session.commit import Commit
from shared.domain.session.conversation import AssistantEntry, Content, ToolEntry
from shared.domain.session.head import Head
from shared.domain.traces.span import Value


def of_reply(commit: Commit) -> dict[str, Value]:
    """The model's reply in it, with the calls it asked for and their inputs."""
    reply = next((each for each in commit.entries if isinstance(each, AssistantEntry)), None)
    if reply is None:
        return {}
    calls = [
        {"type": "tool_call", "id": call.call_id, "name": call.name, "arguments": call.input}
        for call in reply.calls
    ]
    parts = [*_text(reply.content), *calls]
    why = "tool_call" if calls else "stop"
    return {"gen_ai.output.messages": _json([{"role": "assistant", "parts": parts, "finish_reason": why}])}


def of_result(commit: Commit, call_id: str) -> dict[str, Value]:
    """What the call came back with."""
    for each in commit.entries:
        if isinstance(each, ToolEntry) and each.call_id == call_id and each.content.text is not None:
            return {"gen_ai.tool.call.result": each.content.text}
    return {}


def of_run(head: Head) -> dict[str, Value]:
    """The goal and the answer, of each the beginning."""
    asked = {"role": "user", "parts": [{"type": "text", "content": head.goal}]}
    attributes: dict[str, Value] = {"gen_ai.input.messages": _json([asked])}
    if head.result is not None and head.result.answer is not None:
        parts = [{"type": "text", "content": head.result.answer}]
        answered = {"role": "assistant", "parts": parts, "finish_reason": "stop"}
        attributes["gen_ai.output.messages"] = _json([answered])
    return attributes


def _text(content: Content) -> list[dict[str, Any]]:
    return [{"type": "text", "content": content.text}] if content.text else []


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)

"""Events of `ConverseStream`."""

from typing import Any

from tests.models.wires.anthropic.event_stream import message

STREAM = {"content-type": "application/vnd.amazon.eventstream"}


def event(name: str, **told: Any) -> bytes:
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return message(headers, told)


def delta(at: int, **told: Any) -> bytes:
    return event("contentBlockDelta", contentBlockIndex=at, delta=told)


def ended(stop: str, **usage: int) -> tuple[bytes, ...]:
    told = {"inputTokens": 100, "outputTokens": 7, "totalTokens": 107, **usage}
    return event("messageStop", stopReason=stop), event("metadata", usage=told, metrics={"latencyMs": 5})


BEGUN = event("messageStart", role="assistant")
TOOL = event(
    "contentBlockStart",
    contentBlockIndex=1,
    start={"toolUse": {"toolUseId": "tooluse_1", "name": "read_file"}},
)
CALL = (BEGUN, TOOL, delta(1, toolUse={"input": '{"path": "a.md"}'}))

"""A model behind the Anthropic Messages API that answers by the conversation it is sent, so a repeated request gets
the same reply.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.faults.calls import Answer, Request
from tests.faults.script import SCRIPT, Said, Turn


class Provider:
    """`turns`: see `script.SCRIPT`."""

    def __init__(self, turns: Sequence[Turn] = SCRIPT) -> None:
        self._turns = turns

    def __call__(self, request: Request) -> Answer:
        messages = json.loads(request.body)["messages"]
        said = sum(1 for message in messages if message["role"] == "assistant")
        if said >= len(self._turns):
            error = {"type": "invalid_request_error", "message": "the script is over"}
            return Answer(
                400,
                {"Content-Type": "application/json"},
                json.dumps({"type": "error", "error": error}).encode(),
            )
        stream = b"".join(_events(self._turns[said], said))
        return Answer(200, {"Content-Type": "text/event-stream; charset=utf-8"}, stream)


def _events(turn: Turn, number: int) -> Iterator[bytes]:
    usage = {"input_tokens": 500, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": f"msg_{number:024d}", "type": "message", "role": "assistant", "model": "claude-scripted",
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield _event("message_start", message=message)
    index = 0
    if turn.text:
        yield from _block(index, {"type": "text", "text": ""}, {"type": "text_delta", "text": turn.text})
        index += 1
    for call in turn.calls:
        yield from _block(index, _tool_use(call, number, index), _input(call))
        index += 1
    stop = "tool_use" if turn.calls else "end_turn"
    yield _event(
        "message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage={"output_tokens": 60}
    )
    yield _event("message_stop")


def _tool_use(call: Said, number: int, index: int) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{number:012d}{index:012d}", "name": call.name, "input": {}}


def _input(call: Said) -> dict[str, str]:
    return {"type": "input_json_delta", "partial_json": json.dumps(call.input)}


def _block(index: int, block: dict[str, Any], delta: dict[str, str]) -> Iterator[bytes]:
    yield _event("content_block_start", index=index, content_block=block)
    yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()

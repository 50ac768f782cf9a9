"""A model behind the Anthropic Messages API that answers by the conversation it is sent, so a repeated request gets
the same reply.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tests.faults.calls import Answer, Request
from tests.faults.script import SCRIPT, Said, Turn


class Sold(NamedTuple):
    """A reply: its place in the script from 0, and the tokens that it is charged with."""

    place: int
    input_tokens: int
    output_tokens: int


def priced(place: int) -> Sold:
    """Each reply costs something else, so that what is charged shows which were."""
    return Sold(place, 500 + 10 * place, 60 + place)


class Provider:
    """`turns`: see `script.SCRIPT`. `sold`: every reply that was given, by run, in order."""

    def __init__(self, turns: Sequence[Turn] = SCRIPT) -> None:
        self._turns = turns
        self.sold: dict[str, list[Sold]] = defaultdict(list)

    def __call__(self, request: Request) -> Answer:
        said, turns = place_of(request), self.turns_of(request)
        if said >= len(turns):
            error = {"type": "invalid_request_error", "message": "the script is over"}
            return Answer(
                400,
                {"Content-Type": "application/json"},
                json.dumps({"type": "error", "error": error}).encode(),
            )
        self.sold[request.tag or ""].append(priced(said))
        stream = b"".join(_events(turns[said], said))
        return Answer(200, {"Content-Type": "text/event-stream; charset=utf-8"}, stream)

    def turns_of(self, request: Request) -> Sequence[Turn]:
        """All that its session is told, the one that is asked for among them."""
        return self._turns


def place_of(request: Request) -> int:
    """The place in the script of the reply that is asked for."""
    messages = json.loads(request.body)["messages"]
    return sum(1 for message in messages if message["role"] == "assistant")


def _events(turn: Turn, number: int) -> Iterator[bytes]:
    price = priced(number)
    usage = {"input_tokens": price.input_tokens, "output_tokens": 1}
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
    usage = {"output_tokens": price.output_tokens}
    yield _event("message_delta", delta={"stop_reason": stop, "stop_sequence": None}, usage=usage)
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

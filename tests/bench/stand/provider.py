"""A model provider that speaks the Anthropic Messages API on the wire and says what a script tells it to."""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.bench.stand.prose import prose
from tests.bench.stand.proxy import HOST, _Server
from tests.bench.stand.script import Call, Reply

PIECE = 24
"""Characters per delta; the real API sends a few tokens at a time."""
SUMMARY = prose("a summary", 3_000)


class ScriptedProvider:
    """One script at a time; every request takes its next reply, but one that offers no tool: that wants a summary.

    `summaries` counts these; `sent` is the size of each other request's body. `problems` says where a request did not
    follow from the script.
    """

    def __init__(self) -> None:
        self.sent: list[int] = []
        self.summaries = 0
        self.problems: list[str] = []
        self.before: Callable[[int], None] = lambda turn: None
        self._replies: Sequence[Reply] = ()
        handler = type("Handler", (_Handler,), {"provider": self})
        self._server = _Server((HOST, 0), handler)
        self.url = f"http://{HOST}:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True, name="provider").start()

    def play(self, replies: Sequence[Reply], before: Callable[[int], None] = lambda turn: None) -> None:
        """`before` is called with the reply's index ahead of each."""
        self._replies, self.sent, self.problems, self.before = replies, [], [], before
        self.summaries = 0

    @property
    def replies(self) -> int:
        """In the script."""
        return len(self._replies)

    @property
    def is_at_end(self) -> bool:
        return len(self.sent) == self.replies

    def answer(self, body: bytes) -> bytes | None:
        """The stream for the next reply, None past the script's end."""
        turn = len(self.sent)
        if b'"tools":' not in body:  # within a text the quotes would be escaped
            self.summaries += 1
            return b"".join(_events(Reply(SUMMARY), turn, tokens=len(body) // 4))
        if turn >= len(self._replies):
            self.problems.append(f"request {turn + 1} of a script of {len(self._replies)}")
            return None
        reply = self._replies[turn]
        self.before(turn)
        self.problems += [
            f"turn {turn}: {text!r} is not in the request"
            for text in reply.expects
            if text.encode() not in body
        ]
        self.sent.append(len(body))
        return b"".join(_events(reply, turn, tokens=len(body) // 4))

    def stream(self, reply: Reply, turn: int, size: int) -> bytes:
        """`size`: of the request, in bytes."""
        return b"".join(_events(reply, turn, tokens=size // 4))

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    provider: ScriptedProvider
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        stream = self.provider.answer(self.rfile.read(int(self.headers["Content-Length"])))
        kind = "text/event-stream; charset=utf-8" if stream else "application/json"
        payload = (
            stream or b'{"type":"error","error":{"type":"invalid_request_error","message":"script over"}}'
        )
        self.send_response_only(200 if stream else 400)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


def _events(reply: Reply, turn: int, tokens: int) -> Iterator[bytes]:
    usage = {
        "input_tokens": 40,
        "cache_creation_input_tokens": 600,
        "cache_read_input_tokens": tokens,
        "output_tokens": 1,
    }
    message: dict[str, Any] = {
        "id": f"msg_{turn:024d}", "type": "message", "role": "assistant", "model": "claude-scripted",
        "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage,
    }  # fmt: skip
    yield _event("message_start", message=message)
    index = 0
    if reply.text:
        block: dict[str, Any] = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(reply.text)]
        yield from _block(index, block, deltas)
        index += 1
    for call in reply.calls:
        block = {"type": "tool_use", "id": f"toolu_{turn:012d}{index:012d}", "name": call.name, "input": {}}
        yield from _block(
            index, block, [{"type": "input_json_delta", "partial_json": p} for p in _input(call)]
        )
        index += 1
    stop = "tool_use" if reply.calls else "end_turn"
    yield _event(
        "message_delta",
        delta={"stop_reason": stop, "stop_sequence": None},
        usage={"output_tokens": 60 + index},
    )
    yield _event("message_stop")


def _block(index: int, block: dict[str, Any], deltas: list[dict[str, str]]) -> Iterator[bytes]:
    yield _event("content_block_start", index=index, content_block=block)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _input(call: Call) -> list[str]:
    return _pieces(json.dumps(call.input))


def _pieces(text: str) -> list[str]:
    return [text[start : start + PIECE] for start in range(0, len(text), PIECE)]


def _event(kind: str, **data: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **data})}\n\n".encode()

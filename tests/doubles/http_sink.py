"""Servers on the loopback address that count what tools do to them."""

import json
import socket
import struct
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, NamedTuple, Self


class Heard(NamedTuple):
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class Reply(NamedTuple):
    """`length`: what the header promises, where it is not the truth. `wire`: all bytes of the answer, instead of the
    other fields; `then`: what becomes of the connection after them, `held` until the end.
    """

    status: int = 200
    body: bytes = b"Done."
    headers: Mapping[str, str] = {}
    length: int | None = None
    wire: bytes | None = None
    then: Literal["closed", "held", "reset"] = "closed"


class Sink(ThreadingHTTPServer):
    """`replies` by path, without the query; `held`: a path whose answer does not come before the end."""

    daemon_threads = True

    def __init__(self, replies: Mapping[str, Reply] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), SinkHandler)
        self.replies = dict(replies or {})
        self.held = ""
        self.end = threading.Event()
        self.heard: list[Heard] = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def at(self) -> str:
        return f"127.0.0.1:{self.server_port}"

    def reply_to(self, heard: Heard) -> Reply:
        return self.replies.get(heard.path.partition("?")[0], Reply())

    def parse(self, data: bytes) -> Any:
        return json.loads(data)

    def url(self, path: str = "/") -> str:
        return f"http://{self.at}{path}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end.set()
        self.shutdown()
        self.server_close()


class SinkHandler(BaseHTTPRequestHandler):
    server: Sink

    def answer(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        heard = Heard(self.command, self.path, headers, self.server.parse(data) if data else None)
        self.server.heard.append(heard)
        if self.path.partition("?")[0] == self.server.held:
            self.server.end.wait(30)
            return
        reply = self.server.reply_to(heard)
        if reply.wire is not None:
            self.send_wire(reply.wire, reply.then)
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body) if reply.length is None else reply.length))
        self.end_headers()
        with suppress(OSError):  # the other side may have seen enough
            self.wfile.write(reply.body)

    def send_wire(self, wire: bytes, then: str) -> None:
        self.close_connection = True
        with suppress(OSError):
            self.wfile.write(wire)
        if then == "held":
            self.server.end.wait(30)
        if then == "reset":  # without lingering, closing is a reset
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.rfile.close()
            self.connection.close()

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass

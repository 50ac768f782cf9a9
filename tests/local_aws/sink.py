"""A server on the loopback address that keeps what functions and machines send to it."""

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self


class Heard(NamedTuple):
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any


class Reply(NamedTuple):
    status: int = 200
    body: bytes = b"Done."


class Sink(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SinkHandler)
        self.replies: dict[str, Reply] = {}
        """By path, without the query."""
        self.heard: list[Heard] = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class SinkHandler(BaseHTTPRequestHandler):
    server: Sink

    def answer(self) -> None:
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.server.heard.append(Heard(self.command, self.path, headers, json.loads(data) if data else None))
        reply = self.server.replies.get(self.path.partition("?")[0], Reply())
        self.send_response(reply.status)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass

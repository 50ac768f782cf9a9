"""Servers on the loopback address that count what tools do to them."""

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
    """`length`: what the header promises, where it is not the truth."""

    status: int = 200
    body: bytes = b"Done."
    headers: Mapping[str, str] = {}
    length: int | None = None


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
        heard = Heard(self.command, self.path, headers, self.parse(data) if data else None)
        self.server.heard.append(heard)
        if self.path.partition("?")[0] == self.server.held:
            self.server.end.wait(30)
            return
        reply = self.server.reply_to(heard)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body) if reply.length is None else reply.length))
        self.end_headers()
        self.wfile.write(reply.body)

    def parse(self, data: bytes) -> Any:
        return json.loads(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass

"""A provider that knows its customers: stands before another one on the loopback address and lets good keys through."""

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import urlsplit

REFUSAL = json.dumps(
    {"type": "error", "error": {"type": "authentication_error", "message": "invalid x-api-key"}}
).encode()


class KeyedProvider(ThreadingHTTPServer):
    """`accepted` may be changed at any time; `keys`: what each request came with, in order."""

    daemon_threads = True

    def __init__(self, upstream: str, *accepted: str) -> None:
        """`upstream`: a base URL; its path is that of ours too."""
        super().__init__(("127.0.0.1", 0), KeyedHandler)
        self.upstream = urlsplit(upstream)
        self.accepted = set(accepted)
        self.keys: list[str] = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}{self.upstream.path}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class KeyedHandler(BaseHTTPRequestHandler):
    server: KeyedProvider

    def answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        key = self.headers.get("x-api-key") or self.headers.get("authorization", "").removeprefix("Bearer ")
        self.server.keys.append(key)
        if key in self.server.accepted:
            self._send(*self._upstream(body))
        else:
            self._send(401, "application/json", REFUSAL)

    do_GET = do_POST = answer  # noqa: N815

    def _upstream(self, body: bytes) -> tuple[int, str, bytes]:
        upstream = self.server.upstream
        connection = http.client.HTTPConnection(upstream.hostname or "", upstream.port, timeout=30)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "host"}
        connection.request(self.command, self.path, body or None, headers)
        answer = connection.getresponse()
        try:
            return answer.status, answer.headers.get_content_type(), answer.read()
        finally:
            connection.close()

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

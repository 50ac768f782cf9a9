"""Stands between the Lambdas and the local AWS and writes down what passes: HTTP/1.1, kept alive, no delay."""

import http.client
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.bench.stand.exchange import Exchange, exchange

HOST = "127.0.0.1"
_HOP_BY_HOP = frozenset(("connection", "keep-alive", "transfer-encoding", "expect", "te", "upgrade"))


class CountingProxy:
    """Listens on a free port from the start on; `exchanges` in the order in which they were answered."""

    def __init__(self, upstream_port: int) -> None:
        self.upstream_port = upstream_port
        self.exchanges: list[Exchange] = []
        handler = type("Handler", (_Handler,), {"proxy": self})
        self._server = _Server((HOST, 0), handler)
        self.url = f"http://{HOST}:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, daemon=True, name="proxy").start()

    def take(self) -> list[Exchange]:
        """What passed since the last call."""
        taken, self.exchanges = self.exchanges, []
        return taken

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False


class _Handler(BaseHTTPRequestHandler):
    proxy: CountingProxy
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body of an answer leave in one packet
    upstream: http.client.HTTPConnection | None = None

    def forward(self) -> None:
        body = self._body()
        answer, payload = self._ask(body)
        headers = [(name, value) for name, value in answer.getheaders() if name.lower() not in _HOP_BY_HOP]
        if not any(name.lower() == "content-length" for name, _ in headers):
            headers.append(("Content-Length", str(len(payload))))
        request_headers = {name.lower(): value for name, value in self.headers.items()}
        seen = exchange(
            self.command,
            self.path,
            request_headers,
            body,
            answer.status,
            payload,
            sent=len(self.requestline) + 4 + _length(self.headers.items()) + len(body),
            received=len(f"HTTP/1.1 {answer.status} {answer.reason}") + 4 + _length(headers) + len(payload),
        )
        self.proxy.exchanges.append(seen)  # before the answer leaves: whoever has it finds it counted
        self.send_response_only(answer.status, answer.reason)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload)
        self.wfile.flush()

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = forward  # noqa: N815 - the base class's names

    def handle_expect_100(self) -> bool:
        """Answered at once, past the buffer: the SDK waits a whole second for it."""
        going_on = super().handle_expect_100()
        self.wfile.flush()
        return going_on

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            chunks = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                chunks.append(self.rfile.read(size))
                self.rfile.readline()
            while self.rfile.readline().strip():
                pass
            return b"".join(chunks)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _ask(self, body: bytes) -> tuple[http.client.HTTPResponse, bytes]:
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP_BY_HOP}
        if body or self.command in ("POST", "PUT"):
            headers["Content-Length"] = str(len(body))
        for fresh in (False, True):
            if self.upstream is None or fresh:
                self.upstream = http.client.HTTPConnection(HOST, self.proxy.upstream_port, timeout=60)
                self.upstream.connect()
                self.upstream.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                self.upstream.request(self.command, self.path, body=body or None, headers=headers)
                answer = self.upstream.getresponse()
                return answer, answer.read()
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self.upstream.close()  # the kept connection had been closed meanwhile
                if fresh:
                    raise
        raise AssertionError("unreachable: the second attempt returns or raises")

    def finish(self) -> None:
        if self.upstream is not None:
            self.upstream.close()
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


def _length(headers: Any) -> int:
    return sum(len(name) + len(value) + 4 for name, value in headers)

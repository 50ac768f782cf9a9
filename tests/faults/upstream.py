"""Asks the local AWS what a Lambda asked of it, over connections kept per thread."""

import http.client
import socket
import threading

from tests.faults.calls import Answer, Request
from tests.faults.server import HOST

_HOP_BY_HOP = frozenset(
    ("connection", "keep-alive", "transfer-encoding", "expect", "te", "upgrade", "content-length")
)
TIMEOUT_SECONDS = 60


class Upstream:
    def __init__(self, port: int) -> None:
        self._port = port
        self._kept = threading.local()

    def __call__(self, request: Request) -> Answer:
        headers = {name: value for name, value in request.headers.items() if name not in _HOP_BY_HOP}
        if request.body or request.method in ("POST", "PUT"):
            headers["content-length"] = str(len(request.body))
        for last in (False, True):
            connection = self._connection(fresh=last)
            try:
                connection.request(request.method, request.path, body=request.body or None, headers=headers)
                answer = connection.getresponse()
                told = {n: v for n, v in answer.getheaders() if n.lower() not in _HOP_BY_HOP}
                return Answer(answer.status, told, answer.read())
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                connection.close()  # the kept connection had been closed meanwhile
                if last:
                    raise
        raise AssertionError("unreachable: the second attempt returns or raises")

    def _connection(self, *, fresh: bool) -> http.client.HTTPConnection:
        kept: http.client.HTTPConnection | None = getattr(self._kept, "connection", None)
        if kept is None or fresh:
            kept = http.client.HTTPConnection(HOST, self._port, timeout=TIMEOUT_SECONDS)
            kept.connect()
            kept.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._kept.connection = kept
        return kept

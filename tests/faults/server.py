"""An HTTP server on the loopback address whose every request goes by the fault point."""

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from acta.local_aws.loopback import is_readable
from tests.faults.calls import LAMBDA, Answer, Request
from tests.faults.point import FaultPoint
from tests.faults.processes import Worker

HOST = "127.0.0.1"


class FaultyServer(ThreadingHTTPServer):
    """`at`: what it stands for, see `calls`. `carry_out` does what is asked, undisturbed."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, at: str, point: FaultPoint, carry_out: Callable[[Request], Answer]) -> None:
        super().__init__((HOST, 0), _Handler)
        self.at = at
        self.point = point
        self.carry_out = carry_out
        threading.Thread(
            target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True, name=at
        ).start()

    @property
    def host(self) -> str:
        return f"{HOST}:{self.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    def stop(self) -> None:
        self.shutdown()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller who has been killed meanwhile is no error. What fails while one waits is an error of this server."""
        if not is_readable(request):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: FaultyServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and body of an answer leave in one packet
    _worker: Worker | None = None

    def serve(self) -> None:
        if self._worker is None and self.server.at != LAMBDA:  # once per connection: it stays its process's
            self._worker = self.server.point.worker(self.client_address[1], self.server.server_port)
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(
            self.server.at, self.command, self.path, headers, self._body(), self._worker, self._is_given_up
        )
        answer = self.server.point.carry(request, self.server.carry_out)
        if answer is None:
            self.close_connection = True
            with suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            return
        self.send_response_only(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(answer.body)
        self.wfile.flush()

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = serve  # noqa: N815 - the base class's names

    def handle_expect_100(self) -> bool:
        """Answered at once, past the buffer: the SDK waits a whole second for it."""
        going_on = super().handle_expect_100()
        self.wfile.flush()
        return going_on

    def _is_given_up(self) -> bool:
        """The caller sends nothing after a request; what can be read then is its end."""
        if not is_readable(self.connection):
            return False
        try:
            return not self.connection.recv(1, socket.MSG_PEEK)
        except OSError:
            return True

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return b"".join(chunks)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

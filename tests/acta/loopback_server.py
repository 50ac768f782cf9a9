"""An HTTP server on a port of this machine, for what a test has in the place of a deployment."""

import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self


class Received(NamedTuple):
    """`headers`: by their names as they came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes


class Sent(NamedTuple):
    status: int
    body: bytes
    headers: Iterable[tuple[str, str]] = ()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has gone is no error of the server's, and standard error is what some tests look at."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class LoopbackServer(ABC):
    """Serves inside `with`."""

    def __init__(self) -> None:
        self.server = _Server(("127.0.0.1", 0), _handler_of(self))
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    @abstractmethod
    def respond(self, request: Received) -> Sent | None:
        """None: the connection is closed without an answer."""

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def _handler_of(server: LoopbackServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            sent = server.respond(Received(self.command, self.path, dict(self.headers.items()), body))
            if sent is None:
                self.close_connection = True
                return
            self.send_response(sent.status)
            for name, value in sent.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(sent.body)))
            self.end_headers()
            self.wfile.write(sent.body)

        do_OPTIONS = do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler

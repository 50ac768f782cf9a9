"""A provider for tests. It sends the answers that a test has queued, byte for byte, and keeps what it was sent."""

import json
from collections import deque
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Prints nothing: tests make clients go away in the middle."""


class ReceivedRequest(NamedTuple):
    """`headers`: names in lower case."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class CannedAnswer(NamedTuple):
    """`pieces`: the body as it is sent, piece by piece. `broken`: the connection ends without the body's end."""

    status: int
    headers: Mapping[str, str]
    pieces: tuple[bytes, ...]
    broken: bool = False


class FakeProvider:
    """Use it as `with FakeProvider() as server`. Each request gets the next queued answer."""

    def __init__(self) -> None:
        self.requests: list[ReceivedRequest] = []
        self._answers: deque[CannedAnswer] = deque()
        self._server = _Server(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def queue(
        self,
        *pieces: bytes,
        status: int = 200,
        broken: bool = False,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._answers.append(CannedAnswer(status, headers, pieces, broken))

    def answer(self, request: ReceivedRequest) -> Iterator[CannedAnswer]:
        """One answer to the request, perhaps in several parts. Status and headers are the first part's."""
        yield self._answers.popleft()

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"] or 0)) or b"null")
                headers = {name.lower(): value for name, value in self.headers.items()}
                request = ReceivedRequest(self.path, headers, body)
                provider.requests.append(request)
                try:
                    self._send(provider.answer(request))
                except ConnectionError:
                    self.close_connection = True  # the client has given up

            def do_GET(self) -> None:
                self.do_POST()

            def _send(self, parts: Iterator[CannedAnswer]) -> None:
                begun, broken = False, False
                for part in parts:
                    if not begun:
                        self.send_response(part.status)
                        for name, value in {**part.headers, "transfer-encoding": "chunked"}.items():
                            self.send_header(name, value)
                        self.end_headers()
                        begun = True
                    for piece in part.pieces:
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                    broken = part.broken
                if broken:
                    self.close_connection = True
                else:
                    self.wfile.write(b"0\r\n\r\n")

            def log_message(self, format: str, *arguments: Any) -> None:
                """Logs nothing."""

        return Handler

"""A provider of a test's own: answers what it is told to, byte for byte, and keeps what it was asked."""

import json
from collections import deque
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import MappingProxyType, TracebackType
from typing import Any, NamedTuple, Self


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away in the middle are what is tested."""


class Asked(NamedTuple):
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


class Told(NamedTuple):
    """`pieces`: the body as it goes out. `broken`: the connection ends without the body's end."""

    status: int
    headers: Mapping[str, str]
    pieces: tuple[bytes, ...]
    broken: bool = False


class Served:
    """`with Served() as provider`: answers the queued ones in their order, one request each."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._told: deque[Told] = deque()
        self._server = _Quiet(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def tell(
        self,
        *pieces: bytes,
        status: int = 200,
        broken: bool = False,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._told.append(Told(status, headers, pieces, broken))

    def answer(self, asked: Asked) -> Iterator[Told]:
        """One answer; its pieces may come from several."""
        yield self._told.popleft()

    def __enter__(self) -> Self:
        Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        served = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                asked = Asked(self.path, {k.lower(): v for k, v in self.headers.items()}, json.loads(body))
                served.asked.append(asked)
                try:
                    self._send(served.answer(asked))
                except ConnectionError:
                    self.close_connection = True  # the client has given up

            def _send(self, parts: Iterator[Told]) -> None:
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
                """Nothing: what is asked stays here."""

        return Handler

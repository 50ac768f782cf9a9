"""Waits on 127.0.0.1 for the browser to come back from a sign-in (RFC 8252, 7.3)."""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from socketserver import TCPServer
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from acta.client.errors import SignInError

HOST = "127.0.0.1"
PORTS = (22820, 22821, 22822)
"""The ports that are registered at the issuer; the first free one is taken. Systems assign higher ones."""
CALLBACK_PATH = "/callback"
LONGEST_QUERY = 8_192
LOOK_SECONDS = 0.5

DONE = b"<!doctype html><meta charset=utf-8><title>Acta</title><p>Acta has what it needs. You can close this page."
UNKNOWN = b"<!doctype html><meta charset=utf-8><title>Acta</title><p>This is not the answer to a sign-in."
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
"""The pages are constant: they repeat nothing of a request. The code in the page's address is sent nowhere."""


class Receiver:
    """Listens on the first free one of `ports`. Only a request with the right `state` is taken. Others are refused and
    waiting goes on, so that no web page can end somebody's sign-in.

    Raises SignInError if no port is free.
    """

    def __init__(self, state: str, ports: tuple[int, ...] = PORTS) -> None:
        self._given: dict[str, str] | None = None
        self._state = state
        self._server = listening(ports, self._handler())
        self._server.timeout = LOOK_SECONDS

    @property
    def redirect_uri(self) -> str:
        return f"http://{HOST}:{self._server.server_address[1]}{CALLBACK_PATH}"

    def wait(self, seconds: float, clock: Callable[[], float] = time.monotonic) -> Mapping[str, str]:
        """The parameters that the browser brings back. Raises SignInError if it does not come back in time."""
        until = clock() + seconds
        while self._given is None:
            if clock() >= until:
                raise SignInError(f"nobody signed in within {seconds / 60:.0f} minutes")
            self._server.handle_request()
        return self._given

    def close(self) -> None:
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, target: str) -> bool:
        """Whether the request is the answer to this sign-in. It is not if a parameter is there twice."""
        parts = urlsplit(target)
        if parts.path != CALLBACK_PATH or len(parts.query) > LONGEST_QUERY:
            return False
        try:
            pairs = parse_qsl(parts.query, keep_blank_values=True, max_num_fields=20)
        except ValueError:
            return False
        given = dict(pairs)
        if len(given) != len(pairs):
            return False
        if not hmac.compare_digest(given.get("state", "").encode(), self._state.encode()):
            return False
        self._given = given
        return True

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        take = self._take

        class Handler(BaseHTTPRequestHandler):
            timeout = 5.0
            """Seconds to wait for a connection that sends nothing: browsers open some in advance."""

            def do_GET(self) -> None:
                is_answer = take(self.path)
                body = DONE if is_answer else UNKNOWN
                self.send_response(200 if is_answer else 404)
                for name, value in HEADERS.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Writes no log: the line would contain the code."""

        return Handler


def listening(ports: tuple[int, ...], handler: type[BaseHTTPRequestHandler]) -> HTTPServer:
    for port in ports:
        try:
            return LoopbackServer((HOST, port), handler)
        except OSError:
            continue
    raise SignInError(
        f"none of the ports {', '.join(map(str, ports))} of this machine is free, and the issuer knows no other one"
    )


class LoopbackServer(HTTPServer):
    def server_bind(self) -> None:
        """Leaves out the base class's question to DNS for this machine's name."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: object, client_address: object) -> None:
        """Prints nothing: a browser may close the connection early."""

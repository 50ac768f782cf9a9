"""A client with a configured bearer, for programs that cannot be given one: what they send goes on with a token."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

MOST_SECONDS = 35
LEFT_OUT = frozenset({"connection", "transfer-encoding", "content-length", "keep-alive"})


Renamed = Callable[[str, Mapping[str, Any]], tuple[str, Mapping[str, Any]] | None]
"""From a tool's name and arguments to those of the tool that is called instead; None: it is called as it is."""


@contextmanager
def with_bearer(url: str, token: str, renamed: Renamed = lambda name, arguments: None) -> Iterator[str]:
    """The address of `/mcp`, on the loopback address. `url`: of the API. All other headers go on as they come."""
    host = urlsplit(url).netloc

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def pass_on(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            sent = [(name, value) for name, value in self.headers.items() if name.lower() not in LEFT_OUT]
            named = _other_call(body, renamed)
            if named is not None:
                body, name_sent = named
                sent = [(name, name_sent if name.lower() == "mcp-name" else value) for name, value in sent]
            connection = HTTPConnection(host, timeout=MOST_SECONDS)
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in (
                *sent,
                ("Authorization", f"Bearer {token}"),
                ("Content-Length", str(len(body))),
            ):
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            told = answer.read()
            self.send_response(answer.status)
            for name, value in answer.getheaders():
                if name.lower() not in LEFT_OUT:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)
            connection.close()

        do_GET = do_POST = do_DELETE = do_OPTIONS = pass_on  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    serving = threading.Thread(target=server.serve_forever, daemon=True)
    serving.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp"
    finally:
        server.shutdown()
        server.server_close()
        serving.join()


def _other_call(body: bytes, renamed: Renamed) -> tuple[bytes, str] | None:
    """The body of the call that is made instead, and its tool; None: it goes on as it is."""
    try:
        message = json.loads(body)
    except ValueError:
        return None
    match message:
        case {"method": "tools/call", "params": {"name": str(name), "arguments": dict(arguments), **params}}:
            other = renamed(name, arguments)
            if other is not None:
                made = {**message, "params": {**params, "name": other[0], "arguments": dict(other[1])}}
                return json.dumps(made).encode(), other[0]
    return None

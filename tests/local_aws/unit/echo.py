"""Stands for the emulator behind the front: answers every request with what it received, byte for byte."""

import contextlib
import json
import socket
import socketserver
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self


class EchoHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: "Echo"

    def do(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append(body)
        seen = {
            "method": self.command,
            "target": self.requestline.split()[1],
            "headers": self.headers.items(),
            "body_bytes": len(body),
            "connection": self.client_address[1],
        }
        status = 204 if "status=204" in self.path else 418 if "status=418" in self.path else 200
        content = b"" if status == 204 else json.dumps(seen).encode()
        self.send_response(status)
        self.send_header("X-Upstream", "yes")
        self.send_header("Set-Cookie", "a=1")
        self.send_header("Set-Cookie", "b=2")
        if status != 204:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = do  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        pass


class Echo(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), EchoHandler)
        self.seen: list[bytes] = []
        self.clients: list[socket.socket] = []
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        self.clients.append(request)
        super().process_request(request, client_address)

    def drop_clients(self) -> None:
        """Ends every connection, as a restarted server does."""
        for client in self.clients:
            with contextlib.suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        self.clients.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        socketserver.TCPServer.server_close(self)

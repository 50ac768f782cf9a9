"""The Lambda Runtime API of one process: `/next`, `/response`, `/error`, `/init/error`.

Source: Lambda developer guide, "Using the Lambda runtime API". Each process has a listener of its own, because
nothing in a request tells processes apart. Nagle's algorithm is off: with it every turn waits for a delayed
acknowledgement (52 ms instead of 8 were measured).
"""

from __future__ import annotations

import contextlib
import re
import socket
import socketserver
import threading
from dataclasses import dataclass
from typing import Protocol

from acta.local_aws.access.web_page_guard import OwnProgramsOnly

_RESULT = re.compile(r"/2018-06-01/runtime/invocation/([^/]+)/(response|error)/?$")


@dataclass(frozen=True)
class Invocation:
    """One event on its way to a process. `deadline_ms` is a Unix time: `Function.timeout_seconds` after the start."""

    request_id: str
    event: bytes
    deadline_ms: int
    function_arn: str
    trace_id: str | None
    tenant: str | None


class RuntimeEvents(Protocol):
    """What the API reports to the process it belongs to."""

    def next_invocation(self) -> Invocation | None:
        """Blocks; None when the process is to be ended."""

    def accept_result(self, request_id: str, body: bytes, *, failed: bool) -> bool:
        """False when that request is not the one in flight."""

    def accept_init_error(self, body: bytes) -> None: ...


class RuntimeApi:
    def __init__(self, events: RuntimeEvents) -> None:
        handler = type("_BoundHandler", (_Handler,), {"events": events})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.address = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._accept, daemon=True, name="lambda-runtime-api").start()

    def close(self) -> None:
        self._server.stop()

    def _accept(self) -> None:
        # Instead of serve_forever, which polls: accept() blocks until a connection or the end.
        while True:
            try:
                request, address = self._server.get_request()
            except OSError:
                return
            self._server.process_request(request, address)


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # wakes accept()
        self.server_close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A killed process drops its connections, which is no error here."""


class _Handler(OwnProgramsOnly):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one write per answer
    events: RuntimeEvents

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""

    def handle_expect_100(self) -> bool:
        proceed = super().handle_expect_100()
        self.wfile.flush()
        return proceed

    def do_GET(self) -> None:  # noqa: N802
        if not self.path.endswith("/runtime/invocation/next"):
            return self._answer(404)
        invocation = self.events.next_invocation()
        if invocation is None:
            return self._answer(500, b"{}")
        headers = {
            "Lambda-Runtime-Aws-Request-Id": invocation.request_id,
            "Lambda-Runtime-Deadline-Ms": str(invocation.deadline_ms),
            "Lambda-Runtime-Invoked-Function-Arn": invocation.function_arn,
        }
        if invocation.trace_id:
            headers["Lambda-Runtime-Trace-Id"] = invocation.trace_id
        if invocation.tenant:
            headers["Lambda-Runtime-Aws-Tenant-Id"] = invocation.tenant
        self._answer(200, invocation.event, headers)

    def do_POST(self) -> None:  # noqa: N802
        body = self._read_body()
        if self.path.endswith("/runtime/init/error"):
            self.events.accept_init_error(body)
            return self._answer(202, b"{}")
        match = _RESULT.search(self.path)
        if match is None:
            return self._answer(404)
        if not self.events.accept_result(match[1], body, failed=match[2] == "error"):
            return self._answer(400, b'{"errorMessage":"Invalid request ID","errorType":"InvalidRequestID"}')
        self._answer(202, b"{}")

    def _read_body(self) -> bytes:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _answer(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response_only(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

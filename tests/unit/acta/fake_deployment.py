"""A small HTTP server in the place of a deployment; a test gives it its answers beforehand."""

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

SESSION_ID = "ses_01KAQ0000000000000000000A1"


class Request(NamedTuple):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reply(NamedTuple):
    status: int
    body: Any
    headers: tuple[tuple[str, str], ...] = ()


class FakeDeployment:
    """Each method and path, without the query, has a queue of answers; the last one is repeated.

    `requests`: all that were received, in their order.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.queues: dict[tuple[str, str], deque[Reply]] = {}
        self.lock = threading.Lock()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def on(self, method: str, path: str, *replies: Reply) -> None:
        self.queues[method, path] = deque(replies)

    def polls(self, *answers: dict[str, Any]) -> None:
        self.on("GET", f"/v1/sessions/{SESSION_ID}", *(success(answer) for answer in answers))

    def requests_to(self, method: str, path: str) -> list[Request]:
        return [one for one in self.requests if (one.method, one.path.partition("?")[0]) == (method, path)]

    def answer(self, request: Request) -> Reply:
        with self.lock:
            self.requests.append(request)
            queue = self.queues.get((request.method, request.path.partition("?")[0]))
            if not queue:
                return failure(404, "NOT_FOUND", "There is nothing here.")
            return queue.popleft() if len(queue) > 1 else queue[0]

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()


def success(data: Any, status: int = 200) -> Reply:
    return Reply(status, {"success": True, "data": data})


def failure(status: int, code: str, message: str, *headers: tuple[str, str], **error: Any) -> Reply:
    return Reply(
        status, {"success": False, "error": {"code": code, "message": message, **error}}, tuple(headers)
    )


def session(state: str, **values: Any) -> Any:
    return {"session_id": SESSION_ID, "state": state, "usage": {}, "interventions": [], **values}


def poll(
    snapshot: dict[str, Any], *events: dict[str, Any], cursor: str = "c1", **values: Any
) -> dict[str, Any]:
    answer = {"session": snapshot, "events": list(events), "cursor": cursor, "has_more": False}
    return {**answer, "poll_after_ms": 0, **values}


def handler_of(deployment: FakeDeployment) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            reply = deployment.answer(Request(self.command, self.path, dict(self.headers.items()), body))
            content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = do  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler

"""A small HTTP server in the place of a deployment; a test gives it its answers beforehand."""

import json
import threading
from collections import deque
from typing import Any, NamedTuple

from tests.acta.loopback_server import LoopbackServer, Received, Sent

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


class FakeDeployment(LoopbackServer):
    """Each method and path, without the query, has a queue of answers; the last one is repeated.

    `requests`: all that were received, in their order.
    """

    def __init__(self) -> None:
        super().__init__()
        self.requests: list[Request] = []
        self.queues: dict[tuple[str, str], deque[Reply]] = {}
        self.lock = threading.Lock()

    def on(self, method: str, path: str, *replies: Reply) -> None:
        self.queues[method, path] = deque(replies)

    def polls(self, *answers: dict[str, Any]) -> None:
        self.on("GET", f"/v1/sessions/{SESSION_ID}", *(success(answer) for answer in answers))

    def requests_to(self, method: str, path: str) -> list[Request]:
        return [one for one in self.requests if (one.method, one.path.partition("?")[0]) == (method, path)]

    def respond(self, request: Received) -> Sent:
        reply = self.answer(Request(*request))
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        return Sent(reply.status, content, reply.headers)

    def answer(self, request: Request) -> Reply:
        with self.lock:
            self.requests.append(request)
            queue = self.queues.get((request.method, request.path.partition("?")[0]))
            if not queue:
                return failure(404, "NOT_FOUND", "There is nothing here.")
            return queue.popleft() if len(queue) > 1 else queue[0]


def success(data: Any, status: int = 200) -> Reply:
    return Reply(status, {"success": True, "data": data})


def failure(status: int, code: str, message: str, *headers: tuple[str, str], **error: Any) -> Reply:
    return Reply(
        status, {"success": False, "error": {"code": code, "message": message, **error}}, tuple(headers)
    )


def session(state: str, **values: Any) -> Any:
    asked = [{"session_id": SESSION_ID, **each} for each in values.pop("interventions", ())]
    return {"session_id": SESSION_ID, "state": state, "usage": {}, "interventions": asked, **values}


def poll(
    snapshot: dict[str, Any], *events: dict[str, Any], cursor: str = "c1", **values: Any
) -> dict[str, Any]:
    answer = {"session": snapshot, "events": list(events), "cursor": cursor, "has_more": False}
    return {**answer, "poll_after_ms": 0, **values}

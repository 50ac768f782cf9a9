"""An MCP server on the loopback address, of either kind: it says what it is told to say, and keeps what it heard."""

import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.doubles.http_sink import Heard, Reply, Sink

MODERN = "2026-07-28"
Answer = Mapping[str, Any]
SEARCH: Answer = {
    "name": "search",
    "description": "Finds orders.",
    "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}},
    "annotations": {"readOnlyHint": True},
}
PAY: Answer = {"name": "pay", "description": "Pays.", "inputSchema": {"type": "object", "properties": {}}}


def text(said: str, **more: Any) -> Answer:
    """The result of a call."""
    return {"resultType": "complete", "content": [{"type": "text", "text": said}], **more}


class McpSink(Sink):
    """`tools`: what it lists. `called`: from a call's arguments to its result. `modern` False: it knows `revision`
    alone, and `known` are its sessions. `token`: the value that the header `Authorization` must have. `as_events`:
    answers come as event streams. `ttl_ms`: of its list. `asked_of_task`: from a method about a task and its parameters
    to the result.
    """

    def __init__(
        self,
        tools: list[Answer] | None = None,
        *,
        modern: bool = True,
        revision: str = "2025-11-25",
        token: str = "",
        as_events: bool = False,
        ttl_ms: int = 0,
    ) -> None:
        super().__init__()
        self.tools: list[Answer] = [SEARCH, PAY] if tools is None else tools
        self.called: Callable[[Mapping[str, Any]], Answer] = lambda arguments: text("found")
        self.asked_of_task: Callable[[str, Mapping[str, Any]], Answer] | None = None
        self.modern = modern
        self.revision = revision
        self.known: set[str] = set()
        self._sessions = itertools.count(1)
        self.token = token
        self.as_events = as_events
        self.ttl_ms = ttl_ms

    @property
    def methods(self) -> list[str]:
        """Of the messages that it heard."""
        return [heard.body["method"] if heard.body else heard.method for heard in self.heard]

    def name_itself(self, token_endpoint: str) -> None:
        """From now on its metadata say that it is its own authorization server."""
        resource = {"resource": self.url("/mcp"), "authorization_servers": [self.url("")]}
        self.replies["/metadata"] = Reply(body=json.dumps(resource).encode())
        issuer = {"issuer": self.url(""), "token_endpoint": token_endpoint}
        self.replies["/.well-known/oauth-authorization-server"] = Reply(body=json.dumps(issuer).encode())

    def reply_to(self, heard: Heard) -> Reply:
        path = heard.path.partition("?")[0]
        if path in self.replies:
            return self.replies[path]
        if self.token and heard.headers.get("authorization") != self.token:
            metadata = f'Bearer resource_metadata="{self.url("/metadata")}"'
            return Reply(401, b'{"error": "invalid_token"}', {"WWW-Authenticate": metadata})
        return self._modern(heard) if self.modern else self._older(heard)

    def _modern(self, heard: Heard) -> Reply:
        if heard.headers.get("mcp-protocol-version") != MODERN:
            return self._error(heard, -32022, 400, {"supported": [MODERN]})
        match heard.body:
            case {"method": "tools/list"}:
                hints = {"resultType": "complete", "ttlMs": self.ttl_ms, "cacheScope": "private"}
                return self._result(heard, {"tools": self.tools, **hints})
            case {"method": "tools/call", "params": dict(params)}:
                return self._result(heard, self.called(params))
            case {"method": "tasks/get" | "tasks/update" | "tasks/cancel" as method, "params": dict(params)}:
                if self.asked_of_task is not None:
                    return self._result(heard, self.asked_of_task(method, params))
        return self._error(heard, -32601, 404)

    def _older(self, heard: Heard) -> Reply:
        match heard.body:
            case {"method": "initialize"}:
                said = {"protocolVersion": self.revision, "capabilities": {"tools": {}}, "serverInfo": {}}
                reply, session = self._result(heard, said), f"s-{next(self._sessions)}"
                self.known.add(session)
                return reply._replace(headers={**reply.headers, "Mcp-Session-Id": session})
            case None:
                return Reply(200, b"")
        if heard.headers.get("mcp-session-id") not in self.known:
            return Reply(
                400, b'{"jsonrpc": "2.0", "error": {"code": -32000, "message": "no session"}, "id": null}'
            )
        match heard.body:
            case {"method": "notifications/initialized"}:
                return Reply(202, b"")
            case {"method": "tools/list"}:
                return self._result(heard, {"tools": self.tools})
            case {"method": "tools/call", "params": dict(params)}:
                return self._result(heard, self.called(params))
        return self._error(heard, -32601, 200)

    def _result(self, heard: Heard, result: Answer) -> Reply:
        if "rpc_error" in result:
            return self._said(heard, {"error": result["rpc_error"]}, 200)
        return self._said(heard, {"result": result}, 200)

    def _error(self, heard: Heard, code: int, status: int, data: Any = None) -> Reply:
        return self._said(heard, {"error": {"code": code, "message": "no", "data": data}}, status)

    def _said(self, heard: Heard, said: Answer, status: int) -> Reply:
        message = json.dumps({"jsonrpc": "2.0", "id": (heard.body or {}).get("id"), **said})
        if not self.as_events:
            return Reply(status, message.encode(), {"Content-Type": "application/json"})
        events = (
            f': hello\n\ndata: {{"jsonrpc": "2.0", "method": "notifications/message"}}\n\ndata: {message}\n\n'
        )
        return Reply(status, events.encode(), {"Content-Type": "text/event-stream"})


class Forgetful(McpSink):
    """It has a handshake, and forgets its sessions when it hears the method in one of them, the first `times` times."""

    def __init__(
        self,
        method: str,
        refusal: Reply,
        times: int = 1,
        tools: list[Answer] | None = None,
        revision: str = "2025-11-25",
    ) -> None:
        super().__init__(tools, modern=False, revision=revision)
        self.method, self.refusal, self.times = method, refusal, times

    def reply_to(self, heard: Heard) -> Reply:
        mine = heard.body and heard.body["method"] == self.method and heard.headers.get("mcp-session-id")
        if not mine or self.times == 0:
            return super().reply_to(heard)
        self.times -= 1
        self.known.clear()
        if self.refusal.status == 200:  # such an answer names its request
            body = json.dumps({**json.loads(self.refusal.body), "id": heard.body["id"]})
            return self.refusal._replace(body=body.encode())
        return self.refusal

"""The emulator answers programs of this machine, and no web page. The Runtime API answers its own user alone.

ministack answers everybody, with `Access-Control-Allow-Origin: *`: a page that a developer has open could
create and run a function. Here a request is refused with 403 before ministack sees it, by the rules of
`acta.local_aws.loopback`, and no answer allows another origin to read it. The requests to a deployed HTTP API
are the exception: pages may call it, and its own CORS configuration and authorizer decide.

Each Lambda process has a port of its own for the Runtime API. What is sent there carries no credentials, as on AWS,
and the answers carry what users wrote and the tokens they sent. So that API also refuses every connection of another
user of the machine (`acta.local_aws.peers`). A process of the same user is not told from the function's own: it may
read that one's memory anyway.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Container, MutableMapping
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import urlsplit

from acta.local_aws.loopback import NAMES, WITHOUT_A_PORT, is_for_loopback, is_from_a_page
from acta.local_aws.ministack import module
from acta.local_aws.peers import Look, Peer, peer_of
from acta.local_aws.settings import Settings

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

# Exactly the paths that ministack takes for an API's; what only begins like them is one of its own.
HTTP_API = re.compile(r"/_aws/execute-api/[^/]+/")
_REFUSAL = (
    b'{"__type":"AccessDeniedException","message":"The local AWS answers programs of this machine only."}'
)


def guarded(application: Application, settings: Settings) -> Application:
    ports = ports_of(settings)

    async def answer(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await application(scope, receive, send)
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        if scope["type"] == "http" and HTTP_API.match(scope["path"]):
            if is_for_loopback(headers):  # the port is that of the front, which sends the client's header on
                return await application(scope, receive, send)
        elif is_for_loopback(headers, ports) and not is_from_a_page(headers):
            return await application(scope, receive, without_cors(send))
        await refuse(scope, send)

    return answer


def ports_of(settings: Settings) -> Container[int]:
    """Our own, and that of a proxy on this machine which the Lambdas use in our place: it keeps their `Host`."""
    proxy = urlsplit(settings.lambda_endpoint)
    local = proxy.hostname in {name.strip("[]") for name in NAMES}
    return {settings.port, proxy.port or WITHOUT_A_PORT} if local else {settings.port}


def without_cors(send: Send) -> Send:
    async def send_without(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [
                (name, value)
                for name, value in message.get("headers", ())
                if not name.lower().startswith(b"access-control-")
            ]
            message = {**message, "headers": kept}
        await send(message)

    return send_without


async def refuse(scope: Message, send: Send) -> None:
    if scope["type"] == "websocket":
        return await send({"type": "websocket.close", "code": 1008})  # before the handshake: 403
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(_REFUSAL)).encode()),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": _REFUSAL})


class OwnProgramsOnly(BaseHTTPRequestHandler):
    """A handler that refuses web pages and other users of the machine with 403 and does not read their bodies."""

    look: Look = staticmethod(peer_of)
    is_own = False
    """Looked up once for each connection, at its first request."""

    def parse_request(self) -> bool:
        if not super().parse_request():
            return False
        headers = self.headers.items()
        if is_for_loopback(headers, {self.connection.getsockname()[1]}) and not is_from_a_page(headers):
            self.is_own = self.is_own or self.look(self.connection) is Peer.OWN
            if self.is_own:
                return True
        self.close_connection = True
        self.send_response_only(403)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.flush()
        return False


def guard_custom_runtimes(settings: Settings) -> None:
    """Functions with a runtime of their own (`provided.*`) have a Runtime API of ministack's.

    Patches: `core.lambda_runtime.ProvidedWorker._build_handler_class`.
    """
    worker = module("core.lambda_runtime").ProvidedWorker
    build = worker._build_handler_class

    def build_guarded(self: Any, *arguments: Any) -> type:
        return type("GuardedHandler", (OwnProgramsOnly, build(self, *arguments)), {})

    worker._build_handler_class = build_guarded

"""A URL for one deployed HTTP API: a reverse proxy on 127.0.0.1, in the place of API Gateway's custom domain.

Method, raw path, query, headers and body go through as sent: `%2e%2e` reaches the Lambda undecoded. A body may have up
to 10 MB, as on API Gateway. Whoever starts the proxy may answer paths of the same origin: with fixed documents, such as
those of an OpenID issuer, and with pages.

Web pages may call the API: its authorizer asks for a token, its CORS configuration says who may read an answer. A
`Host` that is no loopback name is refused: with DNS rebinding a page would be of the same origin as the API. The
port does not matter, so that a forwarded one works (`ssh -L`).
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, InvalidURL
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Empty, LifoQueue
from typing import Protocol

from acta.local_aws.loopback import HOST, is_for_loopback, is_readable
from acta.local_aws.peers import Look, Peer, peer_of

MAX_BODY_BYTES = 10 * 1024 * 1024
IDLE_SECONDS = 75
CHUNK_LINE_BYTES = 1_024
# They belong to one connection and not to the message (RFC 9110, 7.6.1).
HOP_BY_HOP = frozenset(
    ("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te", "trailer",
     "transfer-encoding", "upgrade", "expect")
)  # fmt: skip
ANSWER_SECONDS = 35.0
"""Longer than the 30 s after which API Gateway ends an integration: the emulator answers that itself."""
POOL_SIZE = 64

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Headers
    body: bytes

    @property
    def content_length(self) -> str | None:
        """As announced. Only in the answer to HEAD it differs from the length of the body."""
        return next((value for name, value in self.headers if name.lower() == "content-length"), None)


class Pages(Protocol):
    """What whoever starts the proxy answers in the place of the API."""

    def answer(
        self, method: str, raw_path: str, headers: Mapping[str, str], body: bytes, who: Callable[[], Peer]
    ) -> Answer | None:
        """None: the request is for the API. `headers`: their names in lower case. `who`: asks who has connected."""


class Forwarded(Protocol):
    """What requests are forwarded to."""

    def request(self, method: str, raw_path: str, headers: Headers, body: bytes) -> Answer:
        """Raises OSError or HTTPException when no answer comes, NotHttp for what HTTP cannot carry."""

    def close(self) -> None: ...


class PortTaken(RuntimeError):
    """The port has a listener already or may not be used; the message is one line for a person."""


class BodyTooLarge(Exception):
    """More than MAX_BODY_BYTES."""


class MalformedRequest(Exception):
    """The framing of the request cannot be read."""


class NotHttp(Exception):
    """A path or a header that no HTTP message may carry."""


class Front(ThreadingHTTPServer):
    """Serves from construction on. `forward_to` says where requests go; until then the answer is 503."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, port: int = 0, look: Look = peer_of) -> None:
        """`look`: says who has connected, to `pages`."""
        self.look = look
        self.documents: Mapping[str, bytes] = {}
        self.pages: Pages | None = None
        self.api: Forwarded | None = None
        try:
            super().__init__((HOST, port), FrontHandler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise PortTaken(f"port {port} on {HOST} cannot be used: {reason}") from None
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        self.thread.start()

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    def publish(self, documents: Mapping[str, bytes], pages: Pages | None = None) -> None:
        """`documents`: path -> JSON body. The front answers them and what is one of `pages` itself."""
        self.documents = documents
        self.pages = pages

    def forward_to(self, api: Forwarded) -> None:
        self.api = api

    def stop(self) -> None:
        self.shutdown()
        self.server_close()
        self.thread.join()
        if self.api:
            self.api.close()

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away in the middle of its request is no error."""


class FrontHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "local-aws"
    sys_version = ""
    timeout = IDLE_SECONDS
    disable_nagle_algorithm = True
    server: Front

    def do(self) -> None:
        if not is_for_loopback(self.headers.items()):
            return self.refuse(HTTPStatus.FORBIDDEN, "Forbidden")
        try:
            body = self.read_body()
        except BodyTooLarge:
            return self.refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "Request Too Long")
        except MalformedRequest:
            return self.refuse(HTTPStatus.BAD_REQUEST, "Bad Request")
        raw_path = self.requestline.split()[1]
        document = self.server.documents.get(raw_path.partition("?")[0])
        if document is not None and self.command in ("GET", "HEAD"):
            return self.reply(Answer(200, [("Content-Type", "application/json")], document))
        if self.server.pages is not None:
            sent = {name.lower(): value for name, value in self.headers.items()}
            page = self.server.pages.answer(
                self.command, raw_path, sent, body, lambda: self.server.look(self.connection)
            )
            if page is not None:
                return self.reply(page)
        if self.server.api is None:
            return self.reply(gateway_answer(HTTPStatus.SERVICE_UNAVAILABLE, "Service Unavailable"))
        if not raw_path.startswith("/"):
            return self.refuse(HTTPStatus.BAD_REQUEST, "Bad Request")
        headers = [(name, value) for name, value in self.headers.items() if name.lower() not in HOP_BY_HOP]
        try:
            answer = self.server.api.request(self.command, raw_path, headers, body)
        except NotHttp:
            answer = gateway_answer(HTTPStatus.BAD_REQUEST, "Bad Request")
        except (OSError, HTTPException):  # no answer in time, or no connection
            answer = gateway_answer(HTTPStatus.SERVICE_UNAVAILABLE, "Service Unavailable")
        self.reply(answer)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do  # noqa: N815
    do_TRACE = do_QUERY = do  # noqa: N815

    def read_body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return b"".join(self.read_chunks())
        length = self.headers.get("Content-Length", "0")
        if not (length.isascii() and length.isdigit()):
            raise MalformedRequest
        if int(length) > MAX_BODY_BYTES:
            raise BodyTooLarge
        return self.read_exactly(int(length))

    def read_chunks(self) -> list[bytes]:
        chunks: list[bytes] = []
        total = 0
        while True:
            size_text = self.rfile.readline(CHUNK_LINE_BYTES).partition(b";")[0].strip()
            try:
                size = int(size_text, 16)
            except ValueError:
                raise MalformedRequest from None
            total += size
            if size < 0:
                raise MalformedRequest
            if total > MAX_BODY_BYTES:
                raise BodyTooLarge
            if size == 0:
                while self.rfile.readline(CHUNK_LINE_BYTES).strip():
                    pass  # trailers
                return chunks
            chunks.append(self.read_exactly(size))
            self.rfile.readline(CHUNK_LINE_BYTES)

    def read_exactly(self, length: int) -> bytes:
        body = self.rfile.read(length)
        if len(body) < length:
            raise MalformedRequest
        return body

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the base class refuses: unreadable request lines, too many headers, unknown methods."""
        self.refuse(HTTPStatus(code), message or HTTPStatus(code).phrase)

    def refuse(self, status: HTTPStatus, message: str) -> None:
        """Answer although the request is not read to its end, and close the connection, which is of no more use."""
        self.close_connection = True
        self.request_version = self.protocol_version  # an unreadable request line is answered like any other
        self.reply(gateway_answer(status, message))

    def reply(self, answer: Answer) -> None:
        self.log_request(answer.status)
        self.send_response_only(answer.status)
        bodiless = answer.status in (204, 304)
        for name, value in answer.headers:
            if name.lower() not in HOP_BY_HOP and name.lower() != "content-length":
                self.send_header(name, value)
        if not bodiless:
            self.send_header("Content-Length", answer.content_length or str(len(answer.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self._headers_buffer.append(b"\r\n")  # type: ignore[attr-defined]
        if not bodiless and self.command != "HEAD":
            self._headers_buffer.append(answer.body)  # type: ignore[attr-defined]
        self.flush_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged: request lines carry ids and file names."""


def gateway_answer(status: HTTPStatus, message: str) -> Answer:
    """The body that API Gateway has for what it refuses itself."""
    return Answer(status, [("Content-Type", "application/json")], json.dumps({"message": message}).encode())


TEXT_TYPES = ("application/json", "application/xml", "application/javascript", "application/graphql")


def passes_as_text(content_type: str | None) -> bool:
    """Whether the gateway hands a body of this type to the function as text, and not in base64: `text/…` and
    `TEXT_TYPES`, unless a charset other than UTF-8 is named.

    Source: AWS has no list; measured on real HTTP APIs in ministackorg/ministack#766 and floci-io/floci#2172.
    """
    kind, *parameters = (each.strip() for each in (content_type or "").lower().split(";"))
    charsets = [value for name, _, value in (each.partition("=") for each in parameters) if name == "charset"]
    is_utf8 = all(each.strip('"') in ("utf-8", "utf8") for each in charsets)
    return is_utf8 and (kind.startswith("text/") or kind in TEXT_TYPES)


class DeployedApi:
    """The `$default` stage of one HTTP API in the emulator at `host:port`, asked over connections that are kept."""

    def __init__(self, host: str, port: int, api_id: str) -> None:
        self.host = host
        self.port = port
        self.prefix = f"/_aws/execute-api/{api_id}/$default"
        self.idle: LifoQueue[HTTPConnection] = LifoQueue(POOL_SIZE)

    def request(self, method: str, raw_path: str, headers: Headers, body: bytes) -> Answer:
        """Raises OSError or HTTPException when no answer comes, NotHttp for what HTTP cannot carry."""
        connection = self.take()
        try:
            self.put_head(connection, method, raw_path, headers)
            if body or method in ("POST", "PUT", "PATCH"):
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            response = connection.getresponse()
            answer = Answer(response.status, response.getheaders(), response.read())
        except BaseException:
            connection.close()
            raise
        self.give_back(connection)
        return answer

    def put_head(self, connection: HTTPConnection, method: str, raw_path: str, headers: Headers) -> None:
        """Raises NotHttp; nothing is sent before `endheaders`."""
        try:
            connection.putrequest(method, self.prefix + raw_path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers:
                if name.lower() != "content-length":
                    connection.putheader(name, value)
        except (InvalidURL, ValueError):
            raise NotHttp from None

    def take(self) -> HTTPConnection:
        """An idle connection that the other side has not closed, or a new one."""
        while True:
            try:
                connection = self.idle.get_nowait()
            except Empty:
                return HTTPConnection(self.host, self.port, timeout=ANSWER_SECONDS)
            if connection.sock is not None and not is_readable(connection.sock):
                return connection
            connection.close()

    def give_back(self, connection: HTTPConnection) -> None:
        if connection.sock is None or self.idle.full():
            connection.close()
        else:
            self.idle.put_nowait(connection)

    def close(self) -> None:
        while not self.idle.empty():
            self.idle.get_nowait().close()

"""Makes one HTTP request to an IP address, limited in time and size.

It uses the standard library's client, because that can connect to a given address and still check the certificate for
the host's name.
"""

import http.client
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import NamedTuple

from acta.engine.egress.address import Target
from acta.engine.egress.keepalive import keep_alive
from acta.engine.untrusted.encodings import DecodedText, NotText, decoded, label_in

MAX_BYTES = 2_097_152
"""The most that an answer usually may have, also after its content encoding is undone."""
CHUNK_BYTES = 65_536
MAX_CODINGS = 4
MAX_MEMBERS = 1_000
"""The most parts, each with its own header, that one gzip body may have."""
GZIP = b"\x1f\x8b"
NOT_READ = frozenset(("br", "zstd", "compress", "x-compress", "dcb", "dcz"))
"""Content encodings that no pinned library undoes. Any other name that is unknown says nothing: some servers write
`utf-8` there.
"""

LOST_BEHIND = (408, 502, 503, 504, 520, 522, 524, 598)
"""What a gateway says if no answer, or none that it understands, came from the server behind it (RFC 9110, 15.6; the
others are Cloudflare's and those of some proxies). AWS's HTTP APIs, Envoy, Heroku and Varnish say 503 when a request
has taken too long, Varnish with a `Retry-After`, and Google's functions of the first generation say 408.
"""
EVENT_STREAM = "text/event-stream"

Watch = Callable[[bytes], bool]
"""Gets an event stream's bytes as they come. True: the rest is not wanted."""


class HttpAnswer(NamedTuple):
    """`location`: the header of that name. `body`: without its content encoding. `headers`: all of them, names in small
    letters. `unread`: what is wrong with a body whose content encoding could not be undone, as the end of a sentence;
    then `body` is empty.
    """

    status: int
    location: str | None
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})
    unread: str = ""

    @property
    def content_type(self) -> str:
        """In small letters, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def is_lost(self) -> bool:
        """Whether nobody knows what the server behind a gateway has done."""
        return self.status in LOST_BEHIND

    def text(self) -> DecodedText:
        """The body as text, by the encoding that it declares. Raises NotText, which says what the body is."""
        if self.unread:
            raise NotText(f"unreadable ({self.unread})")
        try:
            is_json = self.content_type.endswith(("/json", "+json"))
            return decoded(self.body, label_in(self.headers.get("content-type", "")), is_json=is_json)
        except NotText as other:
            raise NotText(f"{other} ({len(self.body):,} bytes)") from None


class NotSent(Exception):
    """There was no connection, so the request was not sent."""


class NoAnswer(Exception):
    """The request may have arrived. The answer did not arrive, or not completely, or not in time: the message says
    which, in words of Acta's without a subject. `status`: that of the answer, if its first line arrived.
    """

    def __init__(self, how: str, status: int | None) -> None:
        super().__init__(how)
        self.status = status


class AnswerTooLarge(Exception):
    """The answer has more bytes than it may have."""

    def __init__(self, status: int, most: int) -> None:
        super().__init__(f"answered with more than {most:,} bytes")
        self.status = status


def exchange(
    target: Target,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None,
    seconds: float,
    watch: Watch | None = None,
    *,
    status_only: bool = False,
    most: int = MAX_BYTES,
) -> HttpAnswer:
    """Sends a request and returns its answer. `seconds`: for everything together; what is left of
    `CallContext.deadline_seconds` for a tool, `SECONDS` of `acta/engine/notifications/webhooks.py` for a
    notification. `watch`: reads an answer that is an event stream; such an answer may break off. `status_only`: the
    answer's body is not read, so whatever is wrong with it, the status counts. `most`: bytes of the answer.

    Raises NotSent, NoAnswer, AnswerTooLarge.
    """
    deadline = time.monotonic() + seconds
    connection = http.client.HTTPConnection(target.host, target.port, timeout=seconds)
    connected = None
    try:
        connected = socket.create_connection((target.ip, target.port), seconds)
        keep_alive(connected)
        connection.sock = _secured(connected, target, max(0.1, deadline - time.monotonic()))
    except (OSError, ValueError):  # ssl.SSLError and timeouts are OSErrors
        if connected is not None:
            connected.close()
        raise NotSent from None
    # A socket's own timeout starts again with each byte, so a timer ends the whole request.
    timed_out = threading.Event()
    timer = threading.Timer(max(0.1, deadline - time.monotonic()), _end, [connection.sock, timed_out])
    timer.daemon = True
    timer.start()
    response = http.client.HTTPResponse(connection.sock, method=method)
    try:
        with suppress(BrokenPipeError):  # a server that refuses a request may answer before it has read it
            connection.request(method, target.path, body, {"Host": _host(target), **headers})
        response.begin()
        while 100 <= response.status < 200:  # it announces the answer, which comes next (RFC 9110, 15.2)
            response.headers = None  # type: ignore[assignment]
            response.begin()
        answer = _read(response, watch, most, status_only=status_only)
    except (OSError, ValueError, http.client.HTTPException) as error:
        # `status` is a text until the first line of the answer has come
        status = response.status if isinstance(response.status, int) else None
        if status_only and status is not None:
            return HttpAnswer(status, None, b"")
        raise NoAnswer(LATE if timed_out.is_set() else _what_went_wrong(error, status), status) from None
    finally:
        timer.cancel()
        response.close()
        connection.close()
    if timed_out.is_set() and not status_only:
        # an answer without a length ends where the connection ends, and the timer has ended that
        raise NoAnswer(LATE, answer.status)
    return answer


LATE = "did not answer in time"


def _what_went_wrong(error: Exception, status: int | None) -> str:
    match error:
        case TimeoutError():
            return LATE
        case _BrokenOff():
            return str(error)
        case http.client.IncompleteRead() | OSError():  # those of TLS, too
            return "closed the connection without an answer" if status is None else "broke off its answer"
        case http.client.LineTooLong():
            return "answered with a line of its headers that is too long (more than 65,536 bytes)"
        case http.client.HTTPException() if type(error) is http.client.HTTPException:
            return "answered with too many headers (more than 100)"
    return "answered with something that is not HTTP"


def _secured(connected: socket.socket, target: Target, seconds: float) -> socket.socket:
    """The connection with TLS where the URL begins with https. `seconds`: for the handshake."""
    connected.settimeout(seconds)
    if target.scheme != "https":
        return connected
    return ssl.create_default_context().wrap_socket(connected, server_hostname=target.host)


class _BrokenOff(http.client.HTTPException):
    """The connection ended before the announced length."""


def _read(
    response: http.client.HTTPResponse, watch: Watch | None, most: int, *, status_only: bool
) -> HttpAnswer:
    headers = {name.lower(): value for name, value in response.getheaders()}
    answer = HttpAnswer(response.status, response.getheader("Location"), b"", headers)
    if status_only:
        return answer
    named = (response.getheader("Content-Encoding") or "").lower().split(",")
    codings = [coding for coding in map(str.strip, named) if coding not in ("", "identity")]
    is_stream = watch is not None and answer.content_type == EVENT_STREAM
    if watch is not None and is_stream and not codings:
        return _watched(response, answer, watch, most)
    body = bytearray()
    while chunk := response.read(CHUNK_BYTES):
        body += chunk
        if len(body) > most:
            raise AnswerTooLarge(answer.status, most)
    if response.length:
        announced = len(body) + response.length
        raise _BrokenOff(
            f"broke off its answer after {len(body):,} of the {announced:,} bytes that it announced"
        )
    try:
        answer = answer._replace(body=_without(codings, bytes(body), answer.status, most))
    except _Unread as unread:
        return answer._replace(unread=str(unread))
    if watch is not None and is_stream:
        watch(answer.body)
    return answer


class _Unread(Exception):
    """The message is `HttpAnswer.unread`."""


def _without(codings: list[str], body: bytes, status: int, most: int) -> bytes:
    """The body without its content encodings, the last one first (RFC 9110, 8.4). Where a label is wrong, the body is
    taken as it is. Raises _Unread and AnswerTooLarge.
    """
    if len(codings) > MAX_CODINGS:
        raise _Unread(f"it has more than {MAX_CODINGS} content encodings")
    for coding in reversed(codings):
        if not body:
            break
        if coding in NOT_READ:
            raise _Unread(f"its content encoding is {coding}, which Acta does not read")
        if coding.removeprefix("x-") in ("gzip", "deflate"):
            body = _inflated(coding, body, status, most)
    return body


def _inflated(coding: str, body: bytes, status: int, most: int) -> bytes:
    """Takes each form that servers send under either label: gzip, zlib, and for `deflate` also what has no header."""
    forms = [31] if body.startswith(GZIP) else [15, -15] if coding == "deflate" else [15]
    for form in forms:
        with suppress(zlib.error):
            return _members(form, body, status, most)
    try:
        body.decode()
    except UnicodeDecodeError:
        raise _Unread(f"it is labelled {coding} and is not whole or not valid") from None
    return body


def _members(form: int, body: bytes, status: int, most: int) -> bytes:
    """Raises AnswerTooLarge, before more than that was inflated, and zlib.error."""
    whole, rest = bytearray(), body
    for _ in range(MAX_MEMBERS):
        member = zlib.decompressobj(form)
        whole += member.decompress(rest, most + 1 - len(whole))
        if len(whole) > most:
            raise AnswerTooLarge(status, most)
        if not member.eof:
            raise zlib.error("it ends too early")
        rest = member.unused_data
        if form != 31 or not rest.startswith(GZIP):
            return bytes(whole)
    raise zlib.error("it has too many members")


def _watched(response: http.client.HTTPResponse, answer: HttpAnswer, watch: Watch, most: int) -> HttpAnswer:
    """Reads an event stream until its reader has what it wants, or the stream ends, however it does."""
    size = 0
    while True:
        try:
            chunk = response.read1(CHUNK_BYTES)
        except http.client.IncompleteRead:
            return answer
        size += len(chunk)
        if size > most:
            raise AnswerTooLarge(answer.status, most)
        if not chunk or watch(chunk):
            return answer


def _end(connected: socket.socket, timed_out: threading.Event) -> None:
    """Closes the connection, so that a thread that reads from it goes on at once."""
    timed_out.set()
    try:
        connected.shutdown(socket.SHUT_RDWR)
    except OSError:
        connected.close()


def _host(target: Target) -> str:
    usual = 443 if target.scheme == "https" else 80
    host = f"[{target.host}]" if ":" in target.host else target.host
    return host if target.port == usual else f"{host}:{target.port}"

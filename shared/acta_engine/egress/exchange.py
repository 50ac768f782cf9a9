"""Makes one HTTP request to an IP address, limited in time and size.

It uses the standard library's client, because that can connect to a given address and still check the certificate for
the host's name.
"""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from acta_engine.egress.address import Target
from acta_engine.egress.keepalive import keep_alive

MAX_BYTES = 2_097_152
CHUNK_BYTES = 65_536


EVENT_STREAM = "text/event-stream"

Watch = Callable[[bytes], bool]
"""Gets an event stream's bytes as they come. True: the rest is not wanted."""


class HttpAnswer(NamedTuple):
    """`location`: the header of that name. `headers`: all of them, names in small letters. `is_whole` False: the reader
    wanted no more, or an event stream broke off.
    """

    status: int
    location: str | None
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})
    is_whole: bool = True

    @property
    def content_type(self) -> str:
        """In small letters, without parameters."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


class NotSent(Exception):
    """There was no connection, so the request was not sent."""


class NoAnswer(Exception):
    """The request may have arrived. The answer did not arrive, or not completely, or not in time."""


class AnswerTooLarge(Exception):
    """The answer has more than `MAX_BYTES`."""


def exchange(
    target: Target,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None,
    seconds: float,
    watch: Watch | None = None,
) -> HttpAnswer:
    """Sends a request and returns its answer. `seconds`: for everything together; what is left of
    `CallContext.deadline_seconds` for a tool, `SECONDS` of `shared/acta_engine/notifications/webhooks.py` for a
    notification. `watch`: reads an answer that is an event stream; such an answer may break off.

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
    try:
        connection.request(method, target.path, body, {"Host": _host(target), **headers})
        answer = _read(connection.getresponse(), watch)
    except (OSError, ValueError, http.client.HTTPException):
        raise NoAnswer from None
    finally:
        timer.cancel()
        connection.close()
    if (
        timed_out.is_set()
    ):  # an answer without a length ends where the connection ends, and the timer has ended that
        raise NoAnswer
    return answer


def _secured(connected: socket.socket, target: Target, seconds: float) -> socket.socket:
    """The connection with TLS where the URL begins with https. `seconds`: for the handshake."""
    connected.settimeout(seconds)
    if target.scheme != "https":
        return connected
    return ssl.create_default_context().wrap_socket(connected, server_hostname=target.host)


def _read(response: http.client.HTTPResponse, watch: Watch | None) -> HttpAnswer:
    headers = {name.lower(): value for name, value in response.getheaders()}
    answer = HttpAnswer(response.status, response.getheader("Location"), b"", headers)
    with response:
        if watch is not None and answer.content_type == EVENT_STREAM:
            return _watched(response, answer, watch)
        body = bytearray()
        while chunk := response.read(CHUNK_BYTES):
            body += chunk
            if len(body) > MAX_BYTES:
                raise AnswerTooLarge
        if response.length:  # the connection ended before the announced length
            raise NoAnswer
        return answer._replace(body=bytes(body))


def _watched(response: http.client.HTTPResponse, answer: HttpAnswer, watch: Watch) -> HttpAnswer:
    """Reads an event stream until its reader has what it wants, or the stream ends, however it does."""
    size = 0
    while True:
        try:
            chunk = response.read1(CHUNK_BYTES)
        except http.client.IncompleteRead:
            return answer._replace(is_whole=False)
        if not chunk:
            return answer
        size += len(chunk)
        if size > MAX_BYTES:
            raise AnswerTooLarge
        if watch(chunk):
            return answer._replace(is_whole=False)


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

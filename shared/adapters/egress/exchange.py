"""One HTTP exchange with an address that is known already, bounded in time and size. The standard library's client:
it dials the address given and has the certificate checked against the host's name.
"""

import http.client
import socket
import ssl
import threading
import time
from collections.abc import Mapping
from typing import NamedTuple

from shared.adapters.egress.address import Target

MAX_BYTES = 2_097_152
CHUNK_BYTES = 65_536


class Answer(NamedTuple):
    status: int
    location: str | None
    body: bytes


class NotSent(Exception):
    """No connection came about: nothing was asked of the other side."""


class NoAnswer(Exception):
    """The request may have arrived; its answer did not, or not whole and in time."""


class TooMuch(Exception):
    """The answer has more than `MAX_BYTES`."""


def exchange(
    target: Target, method: str, headers: Mapping[str, str], body: bytes | None, seconds: float
) -> Answer:
    """`seconds` for all of it. Raises NotSent, NoAnswer, TooMuch."""
    until = time.monotonic() + seconds
    connection = http.client.HTTPConnection(target.host, target.port, timeout=seconds)
    plain = None
    try:
        plain = socket.create_connection((target.ip, target.port), seconds)
        connection.sock = _secured(plain, target, max(0.1, until - time.monotonic()))
    except (OSError, ValueError):  # ssl.SSLError and timeouts are OSErrors
        if plain is not None:
            plain.close()
        raise NotSent from None
    # a socket's own timeout begins anew with every byte; this one ends it all
    rang = threading.Event()
    alarm = threading.Timer(max(0.1, until - time.monotonic()), _hang_up, [connection.sock, rang])
    alarm.daemon = True
    alarm.start()
    try:
        connection.request(method, target.path, body, {"Host": _host(target), **headers})
        answer = _read(connection.getresponse())
    except (OSError, ValueError, http.client.HTTPException):
        raise NoAnswer from None
    finally:
        alarm.cancel()
        connection.close()
    if rang.is_set():  # where only the end of the connection ends the answer, ours looks like theirs
        raise NoAnswer
    return answer


def _secured(plain: socket.socket, target: Target, seconds: float) -> socket.socket:
    plain.settimeout(seconds)
    if target.scheme != "https":
        return plain
    return ssl.create_default_context().wrap_socket(plain, server_hostname=target.host)


def _read(response: http.client.HTTPResponse) -> Answer:
    with response:
        body = bytearray()
        while chunk := response.read(CHUNK_BYTES):
            body += chunk
            if len(body) > MAX_BYTES:
                raise TooMuch
        if response.length:  # the connection ended ahead of the length that was promised
            raise NoAnswer
        return Answer(response.status, response.getheader("Location"), bytes(body))


def _hang_up(connected: socket.socket, rang: threading.Event) -> None:
    rang.set()
    try:
        connected.shutdown(socket.SHUT_RDWR)
    except OSError:
        connected.close()


def _host(target: Target) -> str:
    usual = 443 if target.scheme == "https" else 80
    host = f"[{target.host}]" if ":" in target.host else target.host
    return host if target.port == usual else f"{host}:{target.port}"

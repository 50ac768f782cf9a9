"""Ports on 127.0.0.1, where the local stack listens, and who may use them: programs of this machine, no web page.

A browser lets every page send requests to 127.0.0.1. Three headers show that, and no page can change them:

- `Host` is the host of the page's URL. A name that its owner pointed at 127.0.0.1 (DNS rebinding) is not a
  loopback name.
- `Origin` comes with every request of a page that is not a plain GET or HEAD, and with every CORS request.
- `Sec-Fetch-Site` comes with every request of a browser to a loopback address; `none` is one that a person
  typed into the address bar. Source: W3C, "Fetch Metadata Request Headers".

The AWS SDKs, the CDK and the Lambdas send neither `Origin` nor `Sec-Fetch-Site`.
"""

from __future__ import annotations

import select
import socket
from collections.abc import Container, Iterable

HOST = "127.0.0.1"
NAMES = (HOST, "localhost", "[::1]")
WITHOUT_A_PORT = 80

Headers = Iterable[tuple[str, str]]


def free_port() -> int:
    """A TCP port on which nobody listened a moment ago."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_for_loopback(headers: Headers, ports: Container[int] | None = None) -> bool:
    """Whether the one `Host` header names a loopback address, on one of `ports`. None: on any port."""
    hosts = _values(headers, "host")
    if len(hosts) != 1:
        return False
    name = next((name for name in NAMES if hosts[0].lower().startswith(name)), None)
    if name is None:
        return False
    rest = hosts[0][len(name) :]
    if rest == "":
        port = WITHOUT_A_PORT
    elif rest[0] == ":" and rest[1:].isascii() and rest[1:].isdigit() and len(rest) <= 6:
        port = int(rest[1:])
    else:
        return False
    return ports is None or port in ports


def is_from_a_page(headers: Headers) -> bool:
    """Whether a browser sent it for a page, of whatever origin."""
    kept = list(headers)
    return bool(_values(kept, "origin")) or any(site != "none" for site in _values(kept, "sec-fetch-site"))


def is_readable(connection: socket.socket) -> bool:
    """Whether a read returns at once: something has come, or the other side has closed the connection.

    With `poll`, because `select` refuses the descriptors from 1024 on, which a process with many connections has.
    """
    looked = select.poll()
    looked.register(connection, select.POLLIN)
    return bool(looked.poll(0))


def _values(headers: Headers, name: str) -> list[str]:
    return [value.strip() for header, value in headers if header.lower() == name]

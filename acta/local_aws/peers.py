"""Which user of this machine is at the other end of a connection on 127.0.0.1.

A port on the loopback address is open to every user of the machine. Where a request gives or takes a secret without
carrying one, the listener asks here who has connected.

- Linux: the table of TCP sockets, `/proc/net/tcp`, has the owner of each. Source: proc(5).
- macOS and others: `lsof`, which macOS ships, lists a user's own sockets without further rights.

Root counts as the listener's own user: it can read the listener's files, and on WSL it forwards the requests of a
browser that runs on Windows.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from pathlib import Path

from acta.local_aws.loopback import HOST

ROOT = 0
ATTEMPTS = 3
"""The table is read while it changes, so a socket can be missing from one reading."""
LSOF_SECONDS = 10
_ESTABLISHED = "01"
_TABLES = (Path("/proc/net/tcp"), Path("/proc/net/tcp6"))


class Peer(Enum):
    OWN = "own"
    """A process of this user, or of root."""
    OTHER = "other"
    """A process of another user, or one that has gone."""
    UNKNOWN = "unknown"
    """This machine does not tell. A listener refuses it as it does OTHER, unless the request carries a secret."""


class NobodyKnown(Exception):
    """This machine does not say who connects; the message is one line for a person."""


Look = Callable[[socket.socket], Peer]


def peer_of(connection: socket.socket) -> Peer:
    """`connection`: accepted on 127.0.0.1. Takes some milliseconds on Linux and a tenth of a second with lsof."""
    try:
        there, here = connection.getpeername()[1], connection.getsockname()[1]
    except OSError:  # it has gone
        return Peer.OTHER
    if _TABLES[0].exists():
        return by_table(there, here)
    return by_lsof(there, here)


def require_known() -> None:
    """Raises NobodyKnown where not even this process is known as its own peer."""
    with socket.create_server((HOST, 0)) as server, socket.create_connection(server.getsockname()[:2]):
        accepted, _ = server.accept()
        with accepted:
            if peer_of(accepted) is not Peer.OWN:
                raise NobodyKnown(
                    "the local AWS has to know who connects to it: by /proc/net/tcp, or by lsof"
                )


def by_table(there: int, here: int) -> Peer:
    """`there`: the port of whoever connected, `here`: that of the listener."""
    for _ in range(ATTEMPTS):
        for table in _TABLES:
            with suppress(OSError):  # no IPv6
                owner = _owner(table.read_text(encoding="ascii"), there, here)
                if owner is not None:
                    return owner
    return Peer.UNKNOWN


def _owner(table: str, there: int, here: int) -> Peer | None:
    """None: no such socket. In tcp6 an IPv4 address is the end of one that is longer."""
    address = f"{int.from_bytes(socket.inet_aton(HOST), sys.byteorder):08X}"
    loopback = rf"(?:[0-9A-F]{{24}})?{address}"
    ends = rf"{loopback}:{there:04X} {loopback}:{here:04X}"
    found = re.search(rf"^ *\d+: {ends} (\w\w) \S+ \S+ \S+ +(\d+) ", table, re.MULTILINE)
    if found is None:
        return None
    # A socket that nobody holds any more is in another state, and root's in this table.
    state, uid = found.groups()
    return Peer.OWN if state == _ESTABLISHED and int(uid) in (os.getuid(), ROOT) else Peer.OTHER


def by_lsof(there: int, here: int) -> Peer:
    program = shutil.which(
        "lsof", path=os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/bin"])
    )
    if program is None:
        return Peer.UNKNOWN
    command = [program, "-nPw", "-a", "-u", str(os.getuid()), f"-iTCP:{there}", "-sTCP:ESTABLISHED", "-Fn"]
    try:
        listed = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LSOF_SECONDS,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return Peer.UNKNOWN
    # The listener's own end is listed, too, with the ports the other way round.
    loopback = r"\[?[0-9a-f:]*127\.0\.0\.1\]?"
    own = re.search(rf"^n{loopback}:{there}->{loopback}:{here}$", listed, re.MULTILINE)
    return Peer.OWN if own else Peer.OTHER

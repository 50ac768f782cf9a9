"""Which Lambda process is at the other end of a connection of this machine, and its end. Linux: it reads /proc."""

import os
import select
import signal
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
LOOPBACK = "0100007F"
ENDING_MS = 10_000
LOOKS = 20
"""The kernel tells its connections in pieces: one that is there is left out now and then, when others come and go."""
PREFIX = "acta-local-"


class Worker(NamedTuple):
    """`function` without the environment's prefix: `step`."""

    pid: int
    function: str


def worker_behind(port: int, server: int, parent: int) -> Worker | None:
    """Who of `parent`'s children holds the TCP connection that goes from `port` to `server`; None: somebody else."""
    inode = next(filter(None, (_inode(port, server) for _ in range(LOOKS))), None)
    if inode is None:
        return None
    wanted = f"socket:[{inode}]"
    for pid in _children(parent):
        with suppress(OSError):  # it has ended meanwhile
            if any(_target(each) == wanted for each in (PROC / str(pid) / "fd").iterdir()):
                return Worker(pid, _function(pid))
    return None


def kill(worker: Worker, parent: int) -> None:
    """SIGKILL; returns when the process is gone, so that nothing it does afterwards is seen."""
    if _parent(worker.pid) != parent:
        return
    watched = os.pidfd_open(worker.pid)
    try:
        signal.pidfd_send_signal(watched, signal.SIGKILL)
        ended = select.poll()
        ended.register(watched, select.POLLIN)
        if not ended.poll(ENDING_MS):
            raise TimeoutError(f"process {worker.pid} outlives SIGKILL")
    finally:
        os.close(watched)


def kill_all(functions: Collection[str], parent: int) -> None:
    """Every process of these functions: the next invocation of each finds none that is warm."""
    for pid in list(_children(parent)):
        with suppress(OSError):  # it has ended meanwhile
            function = _function(pid)
            if function in functions:
                kill(Worker(pid, function), parent)


def _inode(port: int, server: int) -> str | None:
    """By both ends: connections to different servers may come from one port."""
    ends = [f"{LOOPBACK}:{port:04X}", f"{LOOPBACK}:{server:04X}"]
    for line in (PROC / "net" / "tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[1:3] == ends and fields[9] != "0":
            return fields[9]
    return None


def _children(parent: int) -> Iterator[int]:
    """Not from `task/*/children`, which leaves some out while others end (proc(5))."""
    for folder in PROC.iterdir():
        if folder.name.isdigit() and _parent(int(folder.name)) == parent:
            yield int(folder.name)


def _parent(pid: int) -> int | None:
    try:
        return int((PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:  # it has ended
        return None


def _target(link: Path) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _function(pid: int) -> str:
    variables = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    named = dict(each.decode(errors="replace").partition("=")[::2] for each in variables if b"=" in each)
    return named.get("AWS_LAMBDA_FUNCTION_NAME", "").removeprefix(PREFIX)

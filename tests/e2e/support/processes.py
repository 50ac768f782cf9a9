"""The operating system's view of a command: who its children are, what they listen on, whether they still live.

Reads /proc, hence Linux.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROC = Path("/proc")
LISTENS = {"tcp": "0A", "tcp6": "0A", "udp": "07", "udp6": "07"}
"""Socket table -> the state a socket has there when it waits for anybody."""
LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0000000000000000FFFF00000100007F")

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")


def family(pid: int) -> set[int]:
    """The process and all its descendants."""
    parents: dict[int, int] = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    found = {pid}
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def alive(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def open_to_others(pid: int) -> Iterator[str]:
    """Addresses outside loopback that the process waits on, as the kernel writes them."""
    held: set[str] = set()
    with contextlib.suppress(OSError):
        for entry in (PROC / str(pid) / "fd").iterdir():
            with contextlib.suppress(OSError):
                held.add(os.readlink(entry))
    for table, waiting in LISTENS.items():
        for line in (PROC / "net" / table).read_text().splitlines()[1:]:
            fields = line.split()
            is_its_own = fields[3] == waiting and f"socket:[{fields[9]}]" in held
            if is_its_own and fields[1].split(":")[0] not in LOOPBACK:
                yield f"{table} {fields[1]}"

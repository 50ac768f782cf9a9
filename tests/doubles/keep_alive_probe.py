"""When the kernel will probe a silent connection: what a server's peer has set, seen from outside (Linux only)."""

import os
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.doubles.http_sink import Heard, Reply, Sink

TCP = Path("/proc/net/tcp")
KEEP_ALIVE_TIMER = "02"
"""proc(5), `/proc/net/tcp`: the column `tr tm->when` begins with it while the keep-alive timer runs."""


class Row(NamedTuple):
    local_port: int
    remote_port: int
    timer: str
    due: int


def _rows() -> list[Row]:
    rows = []
    for line in TCP.read_text().splitlines()[1:]:
        fields = line.split()
        timer, _, due = fields[5].partition(":")
        ports = [int(address.rpartition(":")[2], 16) for address in fields[1:3]]
        rows.append(Row(ports[0], ports[1], timer, int(due, 16)))
    return rows


def seconds_to_probe(server_port: int) -> list[float]:
    """Of each connection to the port whose client has a keep-alive timer: seconds until its next probe."""
    ticks = os.sysconf("SC_CLK_TCK")
    return [
        row.due / ticks for row in _rows() if row.remote_port == server_port and row.timer == KEEP_ALIVE_TIMER
    ]


class ProbedSink(Sink):
    """`probes`: at each request, when the kernel would probe the connections to this server."""

    def __init__(self, reply: Reply) -> None:
        if sys.platform != "linux" or not TCP.exists():
            pytest.skip("only Linux shows its keep-alive timers")
        super().__init__()
        self.reply = reply
        self.probes: list[list[float]] = []

    def reply_to(self, heard: Heard) -> Reply:
        self.probes.append(seconds_to_probe(self.server_port))
        return self.reply

"""Keeps a connection alive while its server works and says nothing, and notices within two minutes that it is dead.

A NAT gateway forgets a connection that is silent for 350 seconds (Amazon VPC User Guide, "NAT gateways", idle timeout).
The kernel's own keep-alive begins after two hours only, so what may be silent for minutes names its own times.
"""

import socket

IDLE_SECONDS = 60
INTERVAL_SECONDS = 15
PROBES = 4

KEEP_ALIVE: tuple[tuple[int, int, int], ...] = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    # macOS calls the first one TCP_KEEPALIVE; Windows has none of them.
    *(
        (socket.IPPROTO_TCP, option, value)
        for option, value in (
            (getattr(socket, "TCP_KEEPIDLE", getattr(socket, "TCP_KEEPALIVE", None)), IDLE_SECONDS),
            (getattr(socket, "TCP_KEEPINTVL", None), INTERVAL_SECONDS),
            (getattr(socket, "TCP_KEEPCNT", None), PROBES),
        )
        if option is not None
    ),
)
"""Options for `setsockopt`: level, name, value."""


def keep_alive(connected: socket.socket) -> None:
    for option in KEEP_ALIVE:
        connected.setsockopt(*option)

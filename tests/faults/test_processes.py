"""A fault that meets the wrong process, or none, proves nothing."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from acta.local_aws.loopback import free_port
from tests.faults.processes import Worker, kill_all, worker_behind
from tests.faults.stand import is_supported

pytestmark = pytest.mark.skipif(not is_supported(), reason="/proc and pidfd_open are Linux's")

CONNECT = """
import socket, sys
connection = socket.socket()
connection.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
connection.bind(("127.0.0.1", int(sys.argv[1])))
connection.connect(("127.0.0.1", int(sys.argv[2])))
print("connected", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def held() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def listening(held: ExitStack) -> int:
    return int(held.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1])


def connected(held: ExitStack, function: str, port: int, server: int) -> int:
    """A process of that function with a connection from `port` to `server`; its number."""
    process = held.enter_context(
        subprocess.Popen(
            [sys.executable, "-c", CONNECT, str(port), str(server)],
            env={**os.environ, "AWS_LAMBDA_FUNCTION_NAME": f"acta-local-{function}"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"connected\n"
    return process.pid


def test_two_connections_from_one_port_are_distinguished(held: ExitStack) -> None:
    model, table, port = listening(held), listening(held), free_port()
    step = connected(held, "step", port, model)
    tool = connected(held, "tool", port, table)

    assert worker_behind(port, model, os.getpid()) == Worker(step, "step")
    assert worker_behind(port, table, os.getpid()) == Worker(tool, "tool")


def test_a_connection_of_somebody_else_is_nobodys(held: ExitStack) -> None:
    server, port = listening(held), free_port()
    step = connected(held, "step", port, server)

    assert worker_behind(port, server, step) is None
    assert worker_behind(port + 1, server, os.getpid()) is None


def test_the_processes_of_one_function_are_ended_and_no_others(held: ExitStack) -> None:
    server, ports = listening(held), (free_port(), free_port())
    tool, step = (
        connected(held, name, port, server) for name, port in zip(("tool", "step"), ports, strict=True)
    )

    kill_all(("tool",), os.getpid())

    assert os.waitpid(tool, os.WNOHANG)[0] == tool
    assert os.waitpid(step, os.WNOHANG) == (0, 0)

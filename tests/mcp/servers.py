"""Programs of others that are MCP servers, on the loopback address."""

import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

MOST_SECONDS = 60


@contextmanager
def begun(command: Callable[[int], list[str]], environ: Callable[[int], Mapping[str, str]]) -> Iterator[str]:
    """Its address, host and port. `command`, `environ`: for a port."""
    port = _free_port()
    process = subprocess.Popen(
        command(port), env=dict(environ(port)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _wait_for(port, process)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(MOST_SECONDS)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + MOST_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as one:
            if one.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the server did not begin")

"""The port of a local stack: asked for, that of last time, the preferred one, a free one."""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from acta.infra.local.state_directory import RunningStack, StateDir
from acta.local_aws.loopback import HOST, free_port


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server((HOST, 0)) as server:
        yield int(server.getsockname()[1])


def port_of(path: Path, preferred: int | None = None, port: int | None = None) -> int:
    front, _ = StateDir(path).open_front(port, preferred)
    try:
        return front.port
    finally:
        front.stop()


def test_a_new_stack_takes_the_preferred_port(tmp_path: Path) -> None:
    preferred = free_port()
    assert port_of(tmp_path, preferred) == preferred


def test_where_the_preferred_port_is_taken_a_free_one_does(tmp_path: Path, taken: int) -> None:
    assert port_of(tmp_path, taken) != taken


def test_the_port_of_last_time_and_the_one_asked_for_come_first(tmp_path: Path) -> None:
    last, asked = free_port(), free_port()
    StateDir(tmp_path).write(RunningStack(1, last, f"http://{HOST}:{last}", "http://127.0.0.1:6", "offline"))
    assert port_of(tmp_path, free_port()) == last
    assert port_of(tmp_path, free_port(), port=asked) == asked

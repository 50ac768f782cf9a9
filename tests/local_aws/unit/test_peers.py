"""Who has connected: a process of this user, of another one, or one that has gone."""

import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from acta.local_aws.access.web_page_guard import OwnProgramsOnly
from acta.local_aws.loopback import HOST
from acta.local_aws.peers import Look, Peer, by_lsof, by_table, peer_of, require_known
from acta.local_aws.testing import needs_another_user, sent_by_another_user

Ways = Callable[[int, int], Peer]
WAYS = pytest.mark.parametrize(
    "ask",
    [
        pytest.param(
            by_table, marks=pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="no /proc/net/tcp")
        ),
        pytest.param(by_lsof, marks=pytest.mark.skipif(shutil.which("lsof") is None, reason="no lsof")),
    ],
)


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server((HOST, 0)) as listening:
        yield listening


def ports(accepted: socket.socket) -> tuple[int, int]:
    return accepted.getpeername()[1], accepted.getsockname()[1]


@WAYS
def test_a_process_of_the_same_user_is_its_own(server: socket.socket, ask: Ways) -> None:
    with socket.create_connection(server.getsockname()), server.accept()[0] as accepted:
        assert ask(*ports(accepted)) is Peer.OWN
        assert ask(*reversed(ports(accepted))) is Peer.OWN, "and so is the listener, for whoever connected"


@WAYS
def test_a_program_that_speaks_ipv6_is_its_user_s_too(server: socket.socket, ask: Ways) -> None:
    with socket.socket(socket.AF_INET6) as connecting:
        connecting.connect((f"::ffff:{HOST}", server.getsockname()[1]))
        with server.accept()[0] as accepted:
            assert ask(*ports(accepted)) is Peer.OWN


@WAYS
def test_one_that_has_gone_is_nobody_s_own(server: socket.socket, ask: Ways) -> None:
    """In the kernel's table a socket that nobody holds any more is root's."""
    connecting = socket.create_connection(server.getsockname())
    with server.accept()[0] as accepted:
        connecting.sendall(b"a whole request")
        connecting.close()
        assert ask(*ports(accepted)) is Peer.OTHER


@needs_another_user
@WAYS
def test_a_process_of_another_user_is_told_from_ones_own(server: socket.socket, ask: Ways) -> None:
    found: list[Peer] = []

    def accept() -> None:
        with server.accept()[0] as accepted:
            accepted.recv(1)
            found.append(ask(*ports(accepted)))

    thread = threading.Thread(target=accept)
    thread.start()
    sent_by_another_user(server.getsockname()[1], b"x")
    thread.join()
    assert found == [Peer.OTHER]


def test_no_connection_at_all_is_not_known(server: socket.socket) -> None:
    assert by_table(1, server.getsockname()[1]) is Peer.UNKNOWN


def test_this_machine_says_who_connects() -> None:
    require_known()


@contextmanager
def serving(look: Look) -> Iterator[int]:
    class Handler(OwnProgramsOnly):
        def do_GET(self) -> None:  # noqa: N802
            self.send_response_only(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

    Handler.look = staticmethod(look)
    running = ThreadingHTTPServer((HOST, 0), Handler)
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running.server_port
    running.shutdown()
    thread.join()
    running.server_close()


def status(port: int) -> int:
    connection = HTTPConnection(HOST, port, timeout=10)
    connection.request("GET", "/")
    try:
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("peer", "answered"), [(Peer.OWN, 200), (Peer.OTHER, 403), (Peer.UNKNOWN, 403)], ids=str
)
def test_a_runtime_api_answers_its_own_user_alone(peer: Peer, answered: int) -> None:
    with serving(lambda _: peer) as port:
        assert status(port) == answered


@needs_another_user
def test_a_runtime_api_refuses_another_user() -> None:
    with serving(peer_of) as port:
        request = f"GET / HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode()
        assert sent_by_another_user(port, request).startswith(b"HTTP/1.0 403")
        assert status(port) == 200

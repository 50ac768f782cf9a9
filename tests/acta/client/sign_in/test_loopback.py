"""What the browser comes back to: on this machine alone, once, and with nothing of a request on its page."""

import socket
import threading
from collections.abc import Iterator

import httpx2
import pytest

from acta.client.errors import SignInError
from acta.client.sign_in.loopback import CALLBACK_PATH, HOST, Receiver
from acta.local_aws.loopback import free_port

STATE = "the-state-of-this-sign-in"


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver(STATE, (free_port(),)) as listening:
        yield listening


def visits(receiver: Receiver, *targets: str) -> tuple[dict[str, str], list[httpx2.Response]]:
    """What the receiver takes of these requests, the last of which is the answer, and what each is shown."""
    shown: list[httpx2.Response] = []
    base = receiver.redirect_uri.removesuffix(CALLBACK_PATH)

    def visit() -> None:
        with httpx2.Client(trust_env=False) as browser:
            shown.extend(browser.get(base + target) for target in targets)

    thread = threading.Thread(target=visit, daemon=True)
    thread.start()
    given = dict(receiver.wait(20))
    thread.join(10)
    return given, shown


def test_it_listens_on_this_machine_alone(receiver: Receiver) -> None:
    assert receiver.redirect_uri.startswith(f"http://{HOST}:")
    assert HOST == "127.0.0.1"


def test_the_answer_is_taken_and_its_page_has_nothing_of_it(receiver: Receiver) -> None:
    given, (page,) = visits(receiver, f"{CALLBACK_PATH}?code=the-code&state={STATE}&x=<script>")
    assert given == {"code": "the-code", "state": STATE, "x": "<script>"}
    assert page.status_code == 200
    for word in ("the-code", STATE, "script"):
        assert word not in page.text
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]


def test_what_is_not_the_answer_neither_ends_nor_disturbs_the_sign_in(receiver: Receiver) -> None:
    """Any page may send a browser here."""
    given, shown = visits(
        receiver,
        "/favicon.ico",
        f"{CALLBACK_PATH}?code=evil",
        f"{CALLBACK_PATH}?code=evil&state=guessed",
        f"{CALLBACK_PATH}?error=access_denied&state=",
        f"{CALLBACK_PATH}?code=good&code=evil&state={STATE}",
        f"{CALLBACK_PATH}?code={'x' * 9_000}&state={STATE}",
        f"{CALLBACK_PATH}?code=evil&state=%C3%A4",
        f"/other?code=evil&state={STATE}",
        f"{CALLBACK_PATH}?code=good&state={STATE}",
    )
    assert given["code"] == "good"
    assert [page.status_code for page in shown] == [404] * 8 + [200]


def test_the_first_free_port_is_taken() -> None:
    ports = (free_port(), free_port())
    with Receiver(STATE, (ports[0],)), Receiver(STATE, ports) as second:
        assert second.redirect_uri == f"http://{HOST}:{ports[1]}{CALLBACK_PATH}"


def test_a_port_is_free_again_after_a_sign_in() -> None:
    ports = (free_port(),)
    for _ in range(2):
        with Receiver(STATE, ports) as receiver:
            visits(receiver, f"{CALLBACK_PATH}?code=c&state={STATE}")


def test_where_no_port_is_free_it_says_so() -> None:
    with socket.create_server((HOST, 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SignInError, match=rf"none of the ports {port}"):
            Receiver(STATE, (port,))


def test_nobody_is_waited_for_without_end(receiver: Receiver) -> None:
    times = iter([0.0, 0.0, 601.0])
    with pytest.raises(SignInError, match="within 10 minutes"):
        receiver.wait(600, clock=lambda: next(times))


def test_a_connection_that_says_nothing_does_not_end_it(receiver: Receiver) -> None:
    """Browsers open some in advance."""
    port = int(receiver.redirect_uri.rpartition(":")[2].removesuffix(CALLBACK_PATH))
    with socket.create_connection((HOST, port)) as silent:
        silent.shutdown(socket.SHUT_WR)
        given, _ = visits(receiver, f"{CALLBACK_PATH}?code=good&state={STATE}")
    assert given["code"] == "good"

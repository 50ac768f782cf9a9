"""Answers of servers as they come over the wire: what is wrong with one is said, and its content encoding is undone."""

import gzip
import random
import socket
import threading
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acta.engine.egress.address import Target
from acta.engine.egress.exchange import MAX_BYTES, MAX_MEMBERS, AnswerTooLarge, HttpAnswer, NoAnswer, exchange
from tests.doubles.http_sink import Reply, Sink


@pytest.fixture(scope="module")
def sink() -> Iterator[Sink]:
    with Sink() as made:
        yield made


def ask(
    sink: Sink, reply: Reply, *, seconds: float = 10, body: bytes | None = None, **more: Any
) -> HttpAnswer:
    sink.replies["/"] = reply
    target = Target("http", "127.0.0.1", sink.server_port, "/", "127.0.0.1")
    return exchange(target, "POST" if body else "GET", {}, body, seconds, **more)


def wire(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "", ""]).encode("latin-1") + body


def gzipped(data: bytes) -> bytes:
    """Without the time, so that each process collects the same tests."""
    return gzip.compress(data, mtime=0)


def raw_deflate(data: bytes) -> bytes:
    return zlib.compress(data, wbits=-15)


TEXT = '{"name": "Größe", "note": "東京"}'.encode() * 40


@pytest.mark.parametrize(
    ("coding", "body"),
    [
        ("gzip", gzipped(TEXT)),
        ("GZip", gzipped(TEXT)),
        ("x-gzip", gzipped(TEXT)),
        ("gzip", gzipped(TEXT[:100]) + gzipped(TEXT[100:])),
        ("gzip", gzipped(TEXT) + b"\0" * 200),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
        ("deflate", gzipped(TEXT)),
        ("gzip", zlib.compress(TEXT)),
        ("gzip, deflate", zlib.compress(gzipped(TEXT))),
        ("deflate ,, identity, gzip", gzipped(raw_deflate(TEXT))),
        ("identity", TEXT),
        ("", TEXT),
        ("gzip", TEXT),
        ("deflate", TEXT),
        ("utf-8", TEXT),
        ("aws-chunked", TEXT),
    ],
)
def test_a_content_encoding_is_undone_though_none_was_asked_for_and_a_wrong_label_is_passed_over(
    sink: Sink, coding: str, body: bytes
) -> None:
    answer = ask(sink, Reply(body=body, headers={"Content-Encoding": coding}))
    assert (answer.body, answer.unread) == (TEXT, "")
    assert sink.heard[-1].headers["accept-encoding"] == "identity"


def test_encodings_in_several_headers_are_undone_too(sink: Sink) -> None:
    body = zlib.compress(gzipped(TEXT))
    headers = ("Content-Encoding: gzip", "Content-Encoding: deflate", f"Content-Length: {len(body)}")
    assert ask(sink, Reply(wire=wire(body, *headers))).body == TEXT


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=2_000), st.lists(st.sampled_from(["gzip", "deflate", "raw"]), max_size=4))
def test_whatever_was_encoded_comes_back(data: bytes, codings: list[str]) -> None:
    body = data
    for coding in codings:
        match coding:
            case "gzip":
                body = gzipped(body)
            case "deflate":
                body = zlib.compress(body)
            case "raw":
                body = raw_deflate(body)
    label = ", ".join("deflate" if coding == "raw" else coding for coding in codings)
    with Sink() as sink:
        answer = ask(sink, Reply(body=body, headers={"Content-Encoding": label}))
    assert (answer.body, answer.unread) == (data, "")


@pytest.mark.parametrize("status", [204, 200, 304])
def test_a_label_without_a_body_is_no_fault(sink: Sink, status: int) -> None:
    answer = ask(sink, Reply(status, b"", {"Content-Encoding": "gzip"}))
    assert (answer.status, answer.body, answer.unread) == (status, b"", "")


@pytest.mark.parametrize(
    ("coding", "body", "why"),
    [
        ("br", b"\x0b\x02\x80hello\x03", "its content encoding is br, which Acta does not read"),
        ("gzip, ZSTD", b"x", "its content encoding is zstd, which Acta does not read"),
        ("gzip", gzipped(TEXT)[:-9], "it is labelled gzip and is not whole or not valid"),
        (
            "gzip",
            gzipped(TEXT)[:40] + b"\xff" * 60,
            "it is labelled gzip and is not whole or not valid",
        ),
        ("deflate", b"\xff\xfe\xfd" * 9, "it is labelled deflate and is not whole or not valid"),
        ("gzip", gzipped(b"") * (MAX_MEMBERS + 1), "it is labelled gzip and is not whole or not valid"),
        (", ".join(["gzip"] * 5), TEXT, "it has more than 4 content encodings"),
    ],
)
def test_what_cannot_be_undone_keeps_its_status_and_says_why(
    sink: Sink, coding: str, body: bytes, why: str
) -> None:
    answer = ask(sink, Reply(201, body, {"Content-Encoding": coding}))
    assert (answer.status, answer.body, answer.unread) == (201, b"", why)


@pytest.mark.parametrize("layers", [1, 2, 4])
def test_a_bomb_is_given_up_at_the_bound(sink: Sink, layers: int) -> None:
    body = b"\0" * (MAX_BYTES * 20)
    for _ in range(layers):
        body = gzipped(body)
    with pytest.raises(AnswerTooLarge) as large:
        ask(sink, Reply(body=body, headers={"Content-Encoding": ", ".join(["gzip"] * layers)}))
    assert large.value.status == 200
    fits = gzipped(b"x" * MAX_BYTES)
    assert len(ask(sink, Reply(body=fits, headers={"Content-Encoding": "gzip"})).body) == MAX_BYTES


def test_a_compressed_event_stream_is_watched_once_it_is_whole(sink: Sink) -> None:
    headers = {"Content-Type": "text/event-stream", "Content-Encoding": "gzip"}
    seen: list[bytes] = []

    def watch(data: bytes) -> bool:
        seen.append(data)
        return False

    ask(sink, Reply(body=gzipped(b"data: 1\n\n"), headers=headers), watch=watch)
    assert seen == [b"data: 1\n\n"]


BROKEN = {
    "short": (
        wire(b"half", "Content-Length: 1000"),
        "broke off its answer after 4 of the 1,000 bytes that it announced",
    ),
    "no chunk": (wire(b"zz\r\nrubbish", "Transfer-Encoding: chunked"), "broke off its answer"),
    "cut chunk": (wire(b"ff\r\nshort", "Transfer-Encoding: chunked"), "broke off its answer"),
    "no last chunk": (wire(b"2\r\nok\r\n", "Transfer-Encoding: chunked"), "broke off its answer"),
    "long line": (wire(b"", "X-A: " + "a" * 100_000), "answered with a line of its headers that is too long"),
    "many headers": (wire(b"", *[f"X-{n}: a" for n in range(150)]), "answered with too many headers"),
    "not HTTP": (b"SSH-2.0-OpenSSH_9.9\r\n", "answered with something that is not HTTP"),
    "nothing": (b"", "closed the connection without an answer"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_an_answer_that_is_none_says_what_is_wrong_with_it(sink: Sink, name: str) -> None:
    sent, words = BROKEN[name]
    with pytest.raises(NoAnswer) as failed:
        ask(sink, Reply(wire=sent))
    assert str(failed.value).startswith(words)
    assert failed.value.status == (200 if sent.startswith(b"HTTP/1.1 200") else None)


def test_a_reset_is_not_called_late(sink: Sink) -> None:
    with pytest.raises(NoAnswer, match=r"broke off|closed the connection"):
        ask(sink, Reply(wire=wire(b"half", "Content-Length: 1000"), then="reset"))


def test_an_answer_that_does_not_end_is_late(sink: Sink) -> None:
    for sent in (wire(b"half", "Content-Length: 1000"), wire(b"half"), wire(b"")[:-2], b"HTTP/1.1 2", b""):
        with pytest.raises(NoAnswer, match="did not answer in time"):
            ask(sink, Reply(wire=sent, then="held"), seconds=0.3)


BODIES = {
    **{name: Reply(wire=sent) for name, (sent, _) in BROKEN.items() if sent.startswith(b"HTTP")},
    "3 MB": Reply(body=b"x" * 3_000_000),
    "endless": Reply(wire=wire(b"x" * 1_000), then="held"),
    "reset": Reply(wire=wire(b"half", "Content-Length: 1000"), then="reset"),
    "not gzip": Reply(body=random.Random(1).randbytes(999), headers={"Content-Encoding": "gzip"}),
    "a bomb": Reply(body=gzipped(b"\0" * MAX_BYTES * 9), headers={"Content-Encoding": "gzip"}),
    "two lengths": Reply(wire=wire(b"", "Content-Length: 5", "Content-Length: 70")),
    "no length": Reply(wire=wire(b"", "Content-Length: many")),
}
"""Answers with the status 200 whose bodies or headers are of no use."""


@pytest.mark.parametrize("name", BODIES)
def test_where_the_status_is_all_that_counts_nothing_else_does(sink: Sink, name: str) -> None:
    answer = ask(sink, BODIES[name], body=b"{}", status_only=True)
    assert (answer.status, answer.body) == (200, b"")


def test_a_server_that_answers_before_it_has_read_everything_is_heard() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, Sink() as sink:

        def refuse() -> None:
            connection, _ = listening.accept()
            connection.sendall(wire(b"too much", "Content-Length: 8", status="413 Too Large"))
            connection.shutdown(socket.SHUT_WR)
            sink.end.wait(10)
            connection.close()

        threading.Thread(target=refuse, daemon=True).start()
        target = Target("http", "127.0.0.1", listening.getsockname()[1], "/", "127.0.0.1")
        answer = exchange(target, "POST", {}, b"x" * 1_000, 10)
    assert (answer.status, answer.body) == (413, b"too much")


@pytest.mark.parametrize("interim", ["103 Early Hints", "102 Processing", "100 Continue", "199 Odd"])
@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("status_only", [True, False])
def test_the_answer_is_the_one_after_those_that_announce_it(
    sink: Sink, interim: str, times: int, status_only: bool
) -> None:
    announced = wire(b"", "Link: </a.css>; rel=preload", "Content-Length: 9", status=interim) * times
    final = wire(b"no", "Content-Length: 2", "X-Kind: last", status="409 Conflict")
    answer = ask(sink, Reply(wire=announced + final), status_only=status_only)
    assert (answer.status, answer.body) == (409, b"" if status_only else b"no")
    assert answer.headers == {"content-length": "2", "x-kind": "last"}

import json
import os
import resource
import socket
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from acta.local_aws.reverse_proxy import MAX_BODY_BYTES, Answer, DeployedApi, Front, Headers, PortTaken
from tests.local_aws.unit.echo import Echo

PREFIX = "/_aws/execute-api/abcd1234/$default"


@pytest.fixture
def echo() -> Iterator[Echo]:
    with Echo() as running:
        yield running


@pytest.fixture
def front(echo: Echo) -> Iterator[Front]:
    front = Front()
    front.forward_to(DeployedApi("127.0.0.1", echo.port, "abcd1234"))
    yield front
    front.stop()


@pytest.fixture
def http(front: Front) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=front.url, trust_env=False) as client:
        yield client


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """The first 1024 are taken."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard))
    taken = [os.dup(0)]
    while taken[-1] < 1024:
        taken.append(os.dup(0))
    yield
    for descriptor in taken:
        os.close(descriptor)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def exchange(front: Front, request: bytes) -> tuple[int, dict[str, str], bytes]:
    """Sends exactly these bytes and reads one answer."""
    with socket.create_connection(("127.0.0.1", front.port), timeout=5) as connection:
        connection.sendall(request)
        reader = connection.makefile("rb")
        status = int(reader.readline().split()[1])
        headers: dict[str, str] = {}
        while line := reader.readline().strip():
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return status, headers, reader.read(int(headers.get("content-length", 0)))


def test_it_listens_on_loopback_only(front: Front) -> None:
    assert front.server_address[0] == "127.0.0.1"


@pytest.mark.parametrize(
    "target",
    [
        "/v1/files/%2e%2e/secret",
        "/v1/files/a%2Fb%00c",
        "/v1/files/../x",
        "/a//b?q=%20+&q=2",
        "/v1/files/a%5cb",
    ],
)
def test_the_target_arrives_as_it_was_sent(front: Front, target: str) -> None:
    status, _, body = exchange(front, f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
    assert status == 200
    assert json.loads(body)["target"] == PREFIX + target


def test_method_headers_and_body_go_through(http: httpx.Client, echo: Echo) -> None:
    content = bytes(range(256)) * 100
    seen = http.put(
        "/v1/files/x", content=content, headers={"X-Mine": "1", "Authorization": "Bearer t"}
    ).json()
    assert (seen["method"], seen["body_bytes"]) == ("PUT", len(content))
    assert echo.seen == [content]
    headers = {name.lower(): value for name, value in seen["headers"]}
    assert (headers["x-mine"], headers["authorization"]) == ("1", "Bearer t")


def test_status_and_headers_come_back_repeated_ones_too(http: httpx.Client) -> None:
    answer = http.get("/v1/tea?status=418")
    assert (answer.status_code, answer.headers["x-upstream"]) == (418, "yes")
    assert answer.headers.get_list("set-cookie") == ["a=1", "b=2"]


def test_an_answer_without_content_has_none(http: httpx.Client) -> None:
    assert http.delete("/v1/files/x?status=204").content == b""
    assert http.get("/v1/after").status_code == 200


def test_head_gives_the_length_and_sends_no_body(http: httpx.Client) -> None:
    answer = http.head("/v1/x")
    assert answer.content == b""
    assert int(answer.headers["content-length"]) > 0
    assert http.get("/v1/after").status_code == 200


def test_a_chunked_body_arrives_whole(front: Front, echo: Echo) -> None:
    head = b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    status, _, _ = exchange(front, head + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n")
    assert (status, echo.seen) == (200, [b"abcde"])


def test_a_body_over_the_gateways_limit_is_413_and_goes_nowhere(front: Front, echo: Echo) -> None:
    request = f"PUT /v1/files/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {MAX_BODY_BYTES + 1}\r\n\r\n".encode()
    status, headers, body = exchange(front, request)
    assert (status, json.loads(body)) == (413, {"message": "Request Too Long"})
    assert headers["connection"] == "close"
    assert echo.seen == []


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
        b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: abc\r\n\r\n",
        b"POST /v1/x HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        b"GET nowhere HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"GET /v1/\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"nonsense\r\n\r\n",
    ],
)
def test_an_unreadable_request_is_400_and_goes_nowhere(
    front: Front, echo: Echo, request_bytes: bytes
) -> None:
    status, headers, _ = exchange(front, request_bytes)
    assert (status, headers["content-type"]) == (400, "application/json")
    assert echo.seen == []


class Mistaken(DeployedApi):
    def request(self, method: str, raw_path: str, headers: Headers, body: bytes) -> Answer:
        raise ValueError("a mistake of the front's own")


def test_a_mistake_of_its_own_is_not_called_one_of_the_request(front: Front, http: httpx.Client) -> None:
    front.forward_to(Mistaken("127.0.0.1", 1, "abcd1234"))
    with pytest.raises(httpx.RemoteProtocolError):
        http.get("/v1/x")


def test_connections_on_both_sides_are_kept(http: httpx.Client) -> None:
    used = {http.get("/v1/x").json()["connection"] for _ in range(5)}
    assert len(used) == 1


def test_a_connection_the_upstream_closed_is_replaced(http: httpx.Client, echo: Echo) -> None:
    assert http.get("/v1/x").status_code == 200
    echo.drop_clients()
    assert http.post("/v1/x", content=b"once").status_code == 200
    assert echo.seen.count(b"once") == 1


def test_connections_are_kept_by_a_process_that_has_more_than_a_thousand_of_them(
    many_descriptors: None, http: httpx.Client
) -> None:
    """`select` refuses a descriptor from 1024 on."""
    answers = [http.get("/v1/x") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    assert len({answer.json()["connection"] for answer in answers}) == 1


def test_before_the_deployment_the_gateway_is_unavailable(http: httpx.Client, front: Front) -> None:
    front.api = None
    answer = http.get("/v1/x")
    assert (answer.status_code, answer.json()) == (503, {"message": "Service Unavailable"})


def test_an_upstream_that_is_gone_is_unavailable(front: Front) -> None:
    with Echo() as gone:
        port = gone.port
    front.forward_to(DeployedApi("127.0.0.1", port, "abcd1234"))
    assert httpx.get(f"{front.url}/v1/x", trust_env=False).status_code == 503


def test_the_issuers_documents_are_served_to_anybody(http: httpx.Client, front: Front, echo: Echo) -> None:
    front.publish({"/.well-known/jwks.json": b'{"keys": []}'})
    answer = http.get("/.well-known/jwks.json?x=1")
    assert (answer.json(), answer.headers["content-type"]) == ({"keys": []}, "application/json")
    assert echo.seen == []


def test_a_taken_port_is_one_clear_line(front: Front) -> None:
    with pytest.raises(PortTaken, match=f"port {front.port} on 127.0.0.1") as refused:
        Front(front.port)
    assert "\n" not in str(refused.value)


def test_a_stopped_front_frees_its_port(echo: Echo) -> None:
    first = Front()
    port = first.port
    httpx.get(first.url, trust_env=False)
    first.stop()
    again = Front(port)
    again.stop()
    assert again.port == port


def test_many_clients_are_served_at_once(front: Front) -> None:
    """One that sends nothing does not hold up the others."""
    silent = [socket.create_connection(("127.0.0.1", front.port)) for _ in range(20)]
    seen: Any = httpx.get(f"{front.url}/v1/x", trust_env=False).json()
    assert seen["target"] == PREFIX + "/v1/x"
    for connection in silent:
        connection.close()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", ""])
def test_a_foreign_host_is_403_and_goes_nowhere(front: Front, echo: Echo, host: str) -> None:
    """A page of a name that its owner pointed at 127.0.0.1 would have the same origin as the API."""
    front.publish({"/document": b"{}"})
    for target in ("/v1/x", "/document"):
        request = f"GET {target} HTTP/1.1\r\nHost: {host.format(port=front.port)}\r\n\r\n".encode()
        status, headers, _ = exchange(front, request)
        assert (status, headers["connection"]) == (403, "close")
    assert echo.seen == []


def test_a_page_of_another_origin_reaches_the_api_whose_configuration_decides(http: httpx.Client) -> None:
    headers = {"Origin": "https://app.example", "Sec-Fetch-Site": "cross-site"}
    seen = {name.lower(): value for name, value in http.get("/v1/x", headers=headers).json()["headers"]}
    assert (seen["origin"], seen["sec-fetch-site"]) == ("https://app.example", "cross-site")

import base64
import hashlib

import pytest

from acta.client.api import Client
from acta.client.deployment import Deployment
from acta.client.errors import ApiConnectionError, ApiError, InvalidPathError, UnexpectedAnswerError
from acta.client.flows import MAX_ATTEMPTS, file_path, path_of, session_path
from acta.local_aws.loopback import free_port
from tests.acta.fake_deployment import FakeDeployment, Reply, failure, success


def test_the_data_of_the_envelope_is_returned(client: Client, deployment: FakeDeployment) -> None:
    deployment.on("GET", "/v1/tools", success({"items": []}))
    assert client.get("/v1/tools") == {"items": []}
    assert deployment.requests[0].headers["Authorization"] == "Bearer a.b.c"


def test_a_passing_failure_is_tried_again(
    client: Client, deployment: FakeDeployment, pauses: list[float]
) -> None:
    busy = failure(429, "RATE_LIMITED", "Too many.", ("Retry-After", "3"))
    deployment.on("GET", "/v1/tools", busy, Reply(503, b"oops"), success("fine"))
    assert client.get("/v1/tools") == "fine"
    assert pauses == [3.0, 0.5]


def test_a_limit_is_waited_for_as_told_and_an_outage_no_longer_than_usual(
    client: Client, deployment: FakeDeployment, pauses: list[float]
) -> None:
    limit = failure(429, "RATE_LIMITED", "As many as it may.", ("Retry-After", "59"))
    outage = failure(503, "UNAVAILABLE", "Later.", ("Retry-After", "59"))
    deployment.on("GET", "/v1/tools", limit, outage, success("fine"))
    assert client.get("/v1/tools") == "fine"
    assert pauses == [59.0, 10.0]


def test_every_body_has_its_digest_and_json_is_ascii(client: Client, deployment: FakeDeployment) -> None:
    deployment.on("POST", "/v1/sessions", success({}, 202))
    deployment.on("PUT", "/v1/files/a", success({}, 201))
    client.post("/v1/sessions", {"content": "Größe \ufffd"})
    client.files.write("a", b"\xff\xfe")
    for request in deployment.requests:
        digest = base64.b64encode(hashlib.sha256(request.body).digest()).decode()
        assert request.headers["Content-Digest"] == f"sha-256=:{digest}:"
    assert deployment.requests[0].body.isascii()
    assert deployment.requests[1].headers["Content-Type"] == "application/octet-stream"


def test_a_repeated_post_carries_the_same_key(client: Client, deployment: FakeDeployment) -> None:
    deployment.on("POST", "/v1/sessions", Reply(502, b""), success({"session_id": "s"}, 202))
    client.post("/v1/sessions", {"content": "hello"})
    keys = [request.headers["Idempotency-Key"] for request in deployment.requests]
    assert len(keys) == 2
    assert len(set(keys)) == 1


def test_two_posts_carry_different_keys(client: Client, deployment: FakeDeployment) -> None:
    deployment.on("POST", "/v1/sessions", success({}, 202))
    client.post("/v1/sessions")
    client.post("/v1/sessions")
    assert len({request.headers["Idempotency-Key"] for request in deployment.requests}) == 2


def test_a_lasting_failure_ends_in_one_line(client: Client, deployment: FakeDeployment) -> None:
    deployment.on("GET", "/v1/tools", failure(503, "UNAVAILABLE", "Later."))
    with pytest.raises(ApiError, match=r"^Later\. \(UNAVAILABLE\)$"):
        client.get("/v1/tools")
    assert len(deployment.requests) == MAX_ATTEMPTS


def test_an_error_names_the_fields(client: Client, deployment: FakeDeployment) -> None:
    reply = failure(400, "VALIDATION_ERROR", "Not valid.", details={"max_steps": ["must be at least 1"]})
    deployment.on("POST", "/v1/sessions", reply)
    with pytest.raises(ApiError, match=r"Not valid\. \(VALIDATION_ERROR\): max_steps: must be at least 1"):
        client.post("/v1/sessions", {"max_steps": 0})


def test_the_gateways_own_refusal_of_a_token_says_what_to_do(
    client: Client, deployment: FakeDeployment
) -> None:
    deployment.on("GET", "/v1/tools", Reply(401, {"content": "Unauthorized"}))
    with pytest.raises(ApiError, match="may have expired") as refused:
        client.get("/v1/tools")
    assert refused.value.status == 401


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"no": "data"}', b""])
def test_an_answer_of_something_else_is_named_as_such(
    client: Client, deployment: FakeDeployment, body: bytes
) -> None:
    deployment.on("GET", "/v1/tools", Reply(200, body))
    with pytest.raises(UnexpectedAnswerError, match="not Acta's"):
        client.get("/v1/tools")


def test_a_deployment_that_is_not_there_is_unreachable(pauses: list[float]) -> None:
    client = Client(Deployment(f"http://127.0.0.1:{free_port()}", "t"), pause=pauses.append)
    with pytest.raises(ApiConnectionError, match="connection was refused"):
        client.get("/v1/tools")
    assert len(pauses) == MAX_ATTEMPTS - 1


def test_ids_and_paths_cannot_leave_their_place_in_the_url() -> None:
    assert session_path("../x?y", "plan") == "/v1/sessions/..%2Fx%3Fy/plan"
    assert file_path("a b/ü#?.md") == "/v1/files/a%20b/%C3%BC%23%3F.md"


@pytest.mark.parametrize(
    "path",
    [
        file_path("../sessions/ses_1"),
        file_path("~/../b"),
        file_path("./b"),
        file_path("a/.."),
        session_path(".."),
        path_of("tool-secrets", "."),
    ],
)
def test_a_name_with_dots_asks_for_nothing_else(
    client: Client, deployment: FakeDeployment, path: str
) -> None:
    with pytest.raises(InvalidPathError, match="from the top"):
        client.get(path)
    assert deployment.requests == []


def test_a_name_may_have_dots_in_a_part(client: Client, deployment: FakeDeployment) -> None:
    deployment.on("DELETE", "/v1/files/..a/b..c/...", success({}))
    client.files.delete("..a/b..c/...")
    assert len(deployment.requests) == 1

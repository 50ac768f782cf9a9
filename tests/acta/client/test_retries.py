"""What is sent again, after what pause, and what is not."""

import asyncio
from collections.abc import Callable

import pytest

from acta.client.api import AsyncClient, Client
from acta.client.deployment import Deployment
from acta.client.errors import (
    ApiConnectionError,
    AuthenticationError,
    ClientError,
    ConflictError,
    NotFoundError,
    PreconditionFailedError,
    RateLimitError,
    ServerError,
    TooManyOpenSessionsError,
    UnavailableError,
)
from acta.client.flows import MAX_ATTEMPTS, MAX_RETRY_AFTER_SECONDS
from tests.acta.fake_deployment import SESSION_ID, FakeDeployment, Reply, failure, session, success

Start = Callable[[], str]


@pytest.fixture(params=["waiting", "awaiting"])
def start(request: pytest.FixtureRequest, deployment: FakeDeployment, pauses: list[float]) -> Start:
    """The state of a session that is started with one of the clients."""
    where = Deployment(deployment.url, "a.b.c")

    async def no_wait(seconds: float) -> None:
        pauses.append(seconds)

    async def started() -> str:
        async with AsyncClient(where, pause=no_wait) as client:
            return (await client.start("hello"))["state"]

    def waiting() -> str:
        with Client(where, pause=pauses.append) as client:
            return client.start("hello")["state"]

    return waiting if request.param == "waiting" else lambda: asyncio.run(started())


STARTED = success(session("planning"), 202)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_what_may_pass_is_sent_again_under_the_same_key(
    start: Start, deployment: FakeDeployment, pauses: list[float], status: int
) -> None:
    deployment.on("POST", "/v1/sessions", Reply(status, b""), Reply(status, b""), STARTED)
    assert start() == "planning"
    assert pauses == [0.25, 0.5]
    assert len({request.headers["Idempotency-Key"] for request in deployment.requests}) == 1


def test_what_the_server_asks_for_is_waited_in_full(
    start: Start, deployment: FakeDeployment, pauses: list[float]
) -> None:
    busy = failure(429, "RATE_LIMITED", "Too many.", ("Retry-After", "37"))
    deployment.on("POST", "/v1/sessions", busy, STARTED)
    assert start() == "planning"
    assert pauses == [37.0]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (failure(409, "CONFLICT", "Changed."), ConflictError),
        (failure(429, "TOO_MANY_OPEN_SESSIONS", "Wait.", ("Retry-After", "1")), TooManyOpenSessionsError),
        (
            failure(429, "RATE_LIMITED", "Wait.", ("Retry-After", str(int(MAX_RETRY_AFTER_SECONDS) + 1))),
            RateLimitError,
        ),
        (Reply(401, b'{"message": "Unauthorized"}'), AuthenticationError),
    ],
)
def test_what_does_not_pass_soon_is_told_at_once(
    start: Start, deployment: FakeDeployment, pauses: list[float], reply: Reply, error: type[ClientError]
) -> None:
    deployment.on("POST", "/v1/sessions", reply)
    with pytest.raises(error):
        start()
    assert (pauses, len(deployment.requests)) == ([], 1)


def test_what_does_not_pass_at_all_is_told_after_the_last_attempt(
    start: Start, deployment: FakeDeployment
) -> None:
    deployment.on("POST", "/v1/sessions", failure(503, "UNAVAILABLE", "Later.", ("Retry-After", "2")))
    with pytest.raises(UnavailableError) as told:
        start()
    assert (told.value.code, told.value.retry_after) == ("UNAVAILABLE", 2.0)
    assert isinstance(told.value, ServerError)
    assert len(deployment.requests) == MAX_ATTEMPTS


def test_an_error_has_what_is_wrong_by_field(client: Client, deployment: FakeDeployment) -> None:
    refusal = failure(400, "VALIDATION_ERROR", "Not valid.", details={"max_steps": ["must be at least 1"]})
    deployment.on("POST", "/v1/sessions", refusal)
    with pytest.raises(ClientError) as told:
        client.start("x", max_steps=0)
    assert getattr(told.value, "details", None) == {"max_steps": ["must be at least 1"]}


def test_a_key_of_the_callers_own_is_sent(client: Client, deployment: FakeDeployment) -> None:
    deployment.on("POST", "/v1/sessions", STARTED)
    deployment.on("POST", f"/v1/sessions/{SESSION_ID}/messages", STARTED)
    client.start("hello", idempotency_key="job-7")
    client.say(SESSION_ID, "more", idempotency_key="job-7-more")
    assert [request.headers["Idempotency-Key"] for request in deployment.requests] == ["job-7", "job-7-more"]


GONE = failure(404, "SESSION_NOT_FOUND", "There is none.")


def test_a_deletion_whose_answer_was_lost_is_done_where_the_next_attempt_finds_nothing(
    client: Client, deployment: FakeDeployment
) -> None:
    deployment.on("DELETE", f"/v1/sessions/{SESSION_ID}", Reply(502, b""), GONE)
    client.delete(SESSION_ID)
    assert len(deployment.requests) == 2


@pytest.mark.parametrize(
    "replies",
    [
        (GONE,),
        (failure(429, "RATE_LIMITED", "Wait."), GONE),
        (Reply(502, b""), Reply(404, b"<html>No such host.</html>")),
    ],
)
def test_a_deletion_that_cannot_have_been_done_finds_nothing(
    client: Client, deployment: FakeDeployment, replies: tuple[Reply, ...]
) -> None:
    deployment.on("DELETE", f"/v1/sessions/{SESSION_ID}", *replies)
    with pytest.raises(NotFoundError):
        client.delete(SESSION_ID)


CHANGED = failure(412, "PRECONDITION_FAILED", "It is another one.")
FILE = "/v1/files/a%20b.txt"


def test_a_file_whose_answer_was_lost_is_written_where_the_next_attempt_meets_the_same_bytes(
    client: Client, deployment: FakeDeployment
) -> None:
    deployment.on("PUT", FILE, Reply(502, b""), CHANGED)
    deployment.on("GET", FILE, Reply(503, b""), Reply(200, b"one"))
    assert client.files.write("a b.txt", b"one", new=True) == {"path": "a b.txt", "bytes": 3}


def test_a_definition_whose_answer_was_lost_is_written_where_the_next_attempt_meets_it(
    client: Client, deployment: FakeDeployment
) -> None:
    stored = {"name": "Desk", "version": 5, "max_steps": 3}
    deployment.on("PUT", "/v1/agents/desk", Reply(502, b""), failure(409, "CONFLICT", "Another version."))
    deployment.on("GET", "/v1/agents/desk", success(stored))
    assert client.agents.replace("desk", {"name": "Desk", "version": 4}) == stored


@pytest.mark.parametrize(
    ("first", "stored"),
    [
        ((), Reply(200, b"one")),
        ((failure(429, "RATE_LIMITED", "Wait."),), Reply(200, b"one")),
        ((Reply(502, b""),), Reply(200, b"two")),
        ((Reply(502, b""),), failure(404, "NOT_FOUND", "There is none.")),
    ],
)
def test_a_file_that_somebody_else_wrote_is_a_conflict(
    client: Client, deployment: FakeDeployment, first: tuple[Reply, ...], stored: Reply
) -> None:
    deployment.on("PUT", FILE, *first, CHANGED)
    deployment.on("GET", FILE, stored)
    with pytest.raises(PreconditionFailedError):
        client.files.write("a b.txt", b"one", etag='"1"')


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ({"name": "Desk", "version": 4}, success({"name": "Desk", "version": 6})),
        ({"name": "Desk", "version": 4}, success({"name": "Table", "version": 5})),
        ({"name": "Desk", "version": 4}, success([])),
        ({"name": "Desk", "version": "4"}, success({"name": "Desk", "version": 5})),
        ({"name": "Desk", "version": 4}, Reply(200, b"no JSON")),
    ],
)
def test_a_definition_that_somebody_else_wrote_is_a_conflict(
    client: Client, deployment: FakeDeployment, sent: dict[str, object], stored: Reply
) -> None:
    deployment.on("PUT", "/v1/agents/desk", Reply(502, b""), failure(409, "CONFLICT", "Another version."))
    deployment.on("GET", "/v1/agents/desk", stored)
    with pytest.raises(ConflictError):
        client.agents.replace("desk", sent)


BROKEN = Reply(202, b"no gzip", (("Content-Encoding", "gzip"),))


def test_an_answer_that_comes_broken_is_asked_for_again(start: Start, deployment: FakeDeployment) -> None:
    deployment.on("POST", "/v1/sessions", BROKEN, STARTED)
    assert start() == "planning"
    deployment.on("POST", "/v1/sessions", BROKEN)
    with pytest.raises(ApiConnectionError, match="broken"):
        start()

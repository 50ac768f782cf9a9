import json
from collections.abc import Iterator
from typing import Any

import pytest

from acta.client.api import Client
from acta.client.callers import SyncCaller
from acta.client.deployment import Deployment
from acta.client.errors import ApiConnectionError, ApiError, UnavailableError, UnexpectedAnswerError
from acta.client.flows import MAX_ATTEMPTS, HttpRequest, HttpResponse, NoResponse, Pause
from acta.client.following import Feed, Update
from tests.acta.fake_deployment import SESSION_ID, FakeDeployment, poll, session, success


class FlakyCaller(SyncCaller):
    """After its first answer, so many requests get no answer, or this one."""

    def __init__(self, url: str, fails: int, instead: HttpResponse | None = None) -> None:
        super().__init__(Deployment(url, "a.b.c"), pause=lambda _: None)
        self.fails = fails
        self.instead = instead or NoResponse("away")
        self.answered = False

    def exchange(self, step: HttpRequest | Pause) -> HttpResponse | NoResponse | None:
        if isinstance(step, HttpRequest) and self.answered and self.fails:
            self.fails -= 1
            return self.instead
        self.answered = True
        return super().exchange(step)


def flaky(url: str, fails: int, instead: HttpResponse | None = None) -> Client:
    client = Client(Deployment(url, "a.b.c"))
    client.caller = FlakyCaller(url, fails, instead)
    return client


def event(seq: int, type: str = "thought", **data: object) -> dict[str, object]:
    return {"seq": seq, "type": type, "data": data}


def test_following_ends_with_the_last_event_of_an_ended_session(
    client: Client, deployment: FakeDeployment
) -> None:
    deployment.polls(
        poll(session("planning"), event(1), cursor="a"),
        poll(session("completed"), event(2), cursor="b", has_more=True),
        poll(session("completed"), event(3), cursor="c"),
    )
    updates = list(client.updates(SESSION_ID))
    assert [one["seq"] for update in updates for one in update.events] == [1, 2, 3]
    assert updates[-1].has_ended


def test_each_poll_goes_on_from_the_cursor_of_the_last(client: Client, deployment: FakeDeployment) -> None:
    deployment.polls(poll(session("planning"), cursor="a"), poll(session("failed"), cursor="b"))
    list(client.updates(SESSION_ID))
    assert [request.path.partition("?")[2] for request in deployment.requests] == [
        "after=0&wait=10",
        "after=a&wait=10",
    ]


def test_who_goes_on_from_a_cursor_is_told_first_how_the_session_is(
    client: Client, deployment: FakeDeployment
) -> None:
    """There may be nothing new for a long time, and the first poll would be held."""
    deployment.polls(poll(session("planning"), cursor="b"), poll(session("failed"), cursor="c"))
    list(client.updates(SESSION_ID, after="a"))
    asked = [request.path.partition("?")[2] for request in deployment.requests]
    assert asked == ["after=a&wait=0", "after=b&wait=10"]


def test_the_server_says_when_to_come_again(
    client: Client, deployment: FakeDeployment, pauses: list[float]
) -> None:
    deployment.polls(
        poll(session("executing"), poll_after_ms=1_500),
        poll(session("executing"), has_more=True, poll_after_ms=1_500),
        poll(session("cancelled")),
    )
    list(client.updates(SESSION_ID))
    assert pauses == [1.5]


def test_an_idle_session_is_not_waited_for(client: Client, deployment: FakeDeployment) -> None:
    deployment.polls(poll(session("idle")))
    assert len(list(client.updates(SESSION_ID))) == 1


def test_an_outage_in_the_middle_is_waited_out(deployment: FakeDeployment) -> None:
    deployment.polls(poll(session("planning")), poll(session("completed")))
    updates = list(flaky(deployment.url, fails=2 * MAX_ATTEMPTS).updates(SESSION_ID))
    assert updates[-1].has_ended


def refusal(status: int, code: str) -> HttpResponse:
    return HttpResponse(status, {}, json.dumps({"error": {"code": code, "message": "No."}}).encode())


def test_a_limit_that_lasts_is_waited_out_like_an_outage_and_another_refusal_is_not(
    deployment: FakeDeployment,
) -> None:
    deployment.polls(poll(session("planning"), cursor="a"), poll(session("completed"), cursor="b"))
    limited = flaky(deployment.url, 2 * MAX_ATTEMPTS, refusal(429, "RATE_LIMITED"))
    assert [*limited.updates(SESSION_ID)][-1].has_ended
    refused = flaky(deployment.url, 1, refusal(403, "FORBIDDEN"))
    deployment.polls(poll(session("planning"), cursor="a"), poll(session("completed"), cursor="b"))
    with pytest.raises(ApiError, match="No"):
        list(refused.updates(SESSION_ID))


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_stack_that_is_stopped_and_started_again_is_waited_for(
    deployment: FakeDeployment, status: int
) -> None:
    deployment.polls(poll(session("planning"), cursor="a"), poll(session("completed"), cursor="b"))
    client = flaky(deployment.url, 5 * MAX_ATTEMPTS, HttpResponse(status, {}, b""))
    assert [*client.updates(SESSION_ID)][-1].has_ended


def test_a_limit_is_waited_for_even_before_the_first_answer_and_nothing_else_is(
    deployment: FakeDeployment,
) -> None:
    deployment.polls(poll(session("completed"), cursor="b"))
    for instead, ends in ((refusal(429, "RATE_LIMITED"), True), (HttpResponse(503, {}, b""), False)):
        client = flaky(deployment.url, 2 * MAX_ATTEMPTS, instead)
        assert isinstance(client.caller, FlakyCaller)
        client.caller.answered = True
        if ends:
            assert [*client.updates(SESSION_ID)][-1].has_ended
        else:
            with pytest.raises(UnavailableError):
                list(client.updates(SESSION_ID))


def test_an_outage_without_end_is_an_error(deployment: FakeDeployment) -> None:
    deployment.polls(poll(session("planning")), poll(session("completed")))
    with pytest.raises(ApiConnectionError):
        list(flaky(deployment.url, fails=10_000).updates(SESSION_ID))


@pytest.mark.parametrize("asked", ["86400", "9" * 400])
def test_no_server_makes_following_pause_longer_than_its_patience(
    deployment: FakeDeployment, pauses: list[float], asked: str
) -> None:
    deployment.polls(poll(session("planning"), cursor="a"), poll(session("completed"), cursor="b"))
    client = flaky(deployment.url, 2 * MAX_ATTEMPTS, HttpResponse(503, {"retry-after": asked}, b""))
    client.caller.pause = pauses.append
    with pytest.raises(UnavailableError):
        list(client.updates(SESSION_ID, patience_seconds=100.0))
    assert max(pauses) == 100.0


@pytest.mark.parametrize(
    "content", [b"<html>Back soon.</html>", b'{"data": null}', b'{"data": {}}', b'{"data": []}']
)
def test_an_answer_that_is_not_acta_s_is_waited_out_after_the_first_good_one_and_not_before(
    deployment: FakeDeployment, content: bytes
) -> None:
    deployment.polls(poll(session("planning"), cursor="a"), poll(session("completed"), cursor="b"))
    client = flaky(deployment.url, 2, HttpResponse(200, {}, content))
    assert [update.cursor for update in client.updates(SESSION_ID)] == ["a", "b"]
    first = flaky(deployment.url, 1, HttpResponse(200, {}, content))
    assert isinstance(first.caller, FlakyCaller)
    first.caller.answered = True
    with pytest.raises(UnexpectedAnswerError):
        list(first.updates(SESSION_ID))


OPEN = {"intervention_id": "int_1", "type": "approval_required"}
CHILDREN = session("waiting_for_tool", state_reason="waiting_for_agents", children={"at_work": 1})


def test_who_waits_for_a_session_is_back_when_one_below_it_asks_somebody(
    client: Client, deployment: FakeDeployment
) -> None:
    of_others = {**OPEN, "session_id": "ses_3", "chain": [{"session_id": "ses_0"}]}
    of_child = {**OPEN, "session_id": "ses_2", "chain": [{"session_id": SESSION_ID}]}
    deployment.polls(poll(CHILDREN, cursor="a"), poll(CHILDREN, cursor="b"), poll(session("completed")))
    pages = [{"items": items, "next_cursor": None} for items in ([of_others], [of_others, of_child])]
    deployment.on("GET", "/v1/interventions", *map(success, pages))
    assert client.wait(SESSION_ID) == CHILDREN
    assert len(deployment.requests_to("GET", "/v1/interventions")) == 2


@pytest.mark.parametrize(
    ("snapshot", "waits"),
    [
        (session("waiting_for_user", state_reason="paused"), True),
        (session("waiting_for_user", interventions=[OPEN]), True),
        (session("executing", interventions=[{**OPEN, "state": "resolved"}]), False),
        (session("executing"), False),
        (session("cancelled", interventions=[OPEN]), False),
    ],
)
def test_a_session_waits_for_a_person_while_it_is_paused_or_something_is_open(
    snapshot: Any, waits: bool
) -> None:
    assert Update(snapshot, []).waits_for_a_person is waits


@pytest.mark.parametrize(
    "snapshot",
    [
        session("executing", state_reason="paused"),
        session("waiting_for_user", state_reason="approval_required"),
        session("paused"),
    ],
)
def test_paused_is_a_reason_to_wait_for_a_user_and_no_state(snapshot: Any) -> None:
    assert Update(session("waiting_for_user", state_reason="paused"), []).is_paused
    assert not Update(snapshot, []).is_paused


def test_a_feed_gives_every_update_and_then_what_ended_it() -> None:
    first, second = Update(session("planning"), []), Update(session("executing"), [])

    def updates() -> Iterator[Update]:
        yield first
        yield second
        raise ApiConnectionError("away")

    feed = iter(Feed(updates()))
    assert [next(feed), next(feed)] == [first, second]
    with pytest.raises(ApiConnectionError):
        next(feed)

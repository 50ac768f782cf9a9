from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from acta.client.api import Client
from acta.client.deployment import Deployment
from acta.client.errors import ApiError, ClientError, Unreachable
from acta.client.following import MAX_OUTAGES, Feed, Update, follow
from tests.unit.acta.fake_deployment import SESSION_ID, FakeDeployment, poll, session


class FlakyClient(Client):
    """Out of reach, or refused with `error`, `fails` times after its first answer."""

    def __init__(self, url: str, fails: int, error: ClientError | None = None) -> None:
        super().__init__(Deployment(url, "a.b.c"), pause=lambda _: None)
        self.fails = fails
        self.error = error or Unreachable("away")
        self.answered = False

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        if self.answered and self.fails:
            self.fails -= 1
            raise self.error
        self.answered = True
        return super().send(method, path, **options)


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
    updates = list(follow(client, SESSION_ID, pause=lambda _: None))
    assert [one["seq"] for update in updates for one in update.events] == [1, 2, 3]
    assert updates[-1].has_ended


def test_each_poll_goes_on_from_the_cursor_of_the_last(client: Client, deployment: FakeDeployment) -> None:
    deployment.polls(poll(session("planning"), cursor="a"), poll(session("failed"), cursor="b"))
    list(follow(client, SESSION_ID, pause=lambda _: None))
    assert [request.path.partition("?")[2] for request in deployment.requests] == [
        "after=0&wait=0",
        "after=a&wait=10",
    ]


def test_the_server_says_when_to_come_again(client: Client, deployment: FakeDeployment) -> None:
    pauses: list[float] = []
    deployment.polls(
        poll(session("executing"), poll_after_ms=1_500),
        poll(session("executing"), has_more=True, poll_after_ms=1_500),
        poll(session("cancelled")),
    )
    list(follow(client, SESSION_ID, pause=pauses.append))
    assert pauses == [1.5]


def test_an_idle_session_is_not_waited_for(client: Client, deployment: FakeDeployment) -> None:
    deployment.polls(poll(session("idle")))
    assert len(list(follow(client, SESSION_ID, pause=lambda _: None))) == 1


def test_an_outage_in_the_middle_is_waited_out(deployment: FakeDeployment) -> None:
    deployment.polls(poll(session("planning")), poll(session("completed")))
    updates = list(follow(FlakyClient(deployment.url, fails=2), SESSION_ID, pause=lambda _: None))
    assert updates[-1].has_ended


def test_a_limit_that_lasts_is_waited_out_like_an_outage_and_another_refusal_is_not(
    deployment: FakeDeployment,
) -> None:
    deployment.polls(poll(session("planning"), cursor="a"), poll(session("completed"), cursor="b"))
    limited = FlakyClient(deployment.url, 2, ApiError("As many as it may.", 429, "RATE_LIMITED"))
    assert [*follow(limited, SESSION_ID, pause=lambda _: None)][-1].has_ended
    refused = FlakyClient(deployment.url, 1, ApiError("No.", 403, "FORBIDDEN"))
    refused.answered = True
    with pytest.raises(ApiError, match="No"):
        list(follow(refused, SESSION_ID, pause=lambda _: None))


def test_an_outage_without_end_is_an_error(deployment: FakeDeployment) -> None:
    deployment.polls(poll(session("planning")), poll(session("completed")))
    with pytest.raises(Unreachable):
        list(follow(FlakyClient(deployment.url, MAX_OUTAGES + 1), SESSION_ID, pause=lambda _: None))


OPEN = {"intervention_id": "int_1", "type": "approval_required"}


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
    snapshot: dict[str, Any], waits: bool
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
def test_paused_is_a_reason_to_wait_for_a_user_and_no_state(snapshot: dict[str, Any]) -> None:
    assert Update(session("waiting_for_user", state_reason="paused"), []).is_paused
    assert not Update(snapshot, []).is_paused


def test_a_feed_gives_every_update_and_then_what_ended_it() -> None:
    first, second = Update(session("planning"), []), Update(session("executing"), [])

    def updates() -> Iterator[Update]:
        yield first
        yield second
        raise Unreachable("away")

    feed = iter(Feed(updates()))
    assert [next(feed), next(feed)] == [first, second]
    with pytest.raises(Unreachable):
        next(feed)

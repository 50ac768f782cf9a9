"""Polls over the API while concurrency runs short: they wait less, and say when to come again
(docs/design/api.md 41)."""

import pytest

from acta.engine.errors import AwsDenied, StoreThrottled, StoreUnavailable
from acta.engine.limits.long_polls import KEPT, LongPollLimit, limit_long_polls
from acta.engine.limits.store import LIMIT_LIFE, LongPolls
from tests.api.gateway import Answer, Gateway, api_of, claims
from tests.doubles.audit import memory_audit
from tests.doubles.long_polls import MemoryLongPolls, SetLoad
from tests.in_process.house import TENANT, USER, House
from tests.in_process.scripted import ScriptedModel


class Watched:
    """A session that stands still, and somebody who watches it through one process of `status`."""

    def __init__(self) -> None:
        self.house = House(ScriptedModel([]))
        self.session = self.house.start("Do it").session_id
        self.limits = MemoryLongPolls()
        self.clock = self.house.clock
        limit = LongPollLimit(self.limits, self.clock)
        deps = self.house.app(long_poll_limit=limit, clock=self.clock, audit=memory_audit(), limiter=None)
        self.gateway = Gateway(api_of("status", deps).handler, claims(tenant=TENANT, user=USER))
        self.cursor = self.poll(after="0").data["cursor"]

    def poll(self, **query: str) -> Answer:
        return self.gateway.request("GET", f"/v1/sessions/{self.session}", query=query)

    def waited(self, wait: int) -> tuple[float, int]:
        """A poll with that `wait`: the seconds it took, and when to come again in milliseconds."""
        began = self.clock.now()
        answer = self.poll(after=self.cursor, wait=str(wait))
        pause = answer.data["poll_after_ms"]
        assert int(answer.headers["Retry-After"]) == -(-pause // 1_000)
        return round((self.clock.now() - began).total_seconds(), 3), pause

    def measure(self, load: float | None) -> LongPolls | None:
        return limit_long_polls(self.limits, SetLoad(load), self.clock.now())


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_without_load_a_poll_waits_as_it_asks_and_nothing_is_written(watched: Watched) -> None:
    assert watched.measure(0.3) is None
    assert watched.waited(20) == (20, 0)
    assert watched.limits.puts == 0


def test_a_wait_is_a_part_of_the_pause_and_a_short_one_a_short_part(watched: Watched) -> None:
    assert [watched.waited(wait) for wait in (0, 1, 20)] == [(0, 1_000), (1, 0), (20, 0)]
    assert watched.poll(after=watched.cursor, wait="0.4").data["poll_after_ms"] == 600


def test_nobody_waits_after_the_answer_that_tells_the_end_and_who_asks_again_does(watched: Watched) -> None:
    watched.house.cancel(watched.session)
    told = watched.poll(after=watched.cursor, wait="20").data
    assert (told["session"]["state"], told["poll_after_ms"]) == ("cancelled", 0)
    again = watched.poll(after=told["cursor"], wait="20").data
    assert (again["events"], again["poll_after_ms"]) == ([], 1_000)


def test_under_high_load_it_waits_half_and_comes_again_later(watched: Watched) -> None:
    watched.measure(0.7)
    assert watched.waited(20) == (10, 4_500)


def test_at_full_load_it_is_answered_at_once(watched: Watched) -> None:
    watched.measure(0.9)
    assert watched.waited(20) == (0, 10_000)


def test_so_is_the_event_stream(watched: Watched) -> None:
    watched.measure(0.9)
    began = watched.clock.now()
    path = f"/v1/sessions/{watched.session}/events"
    answer = watched.gateway.request("GET", path, query={"after": watched.cursor})
    assert watched.clock.now() == began
    assert answer.body.decode().startswith("retry: 9500\n")


def test_a_process_learns_of_the_limit_within_seconds_and_asks_for_it_no_oftener(watched: Watched) -> None:
    watched.waited(1)
    watched.measure(0.9)
    before = watched.limits.gets
    watched.waited(1)
    assert watched.limits.gets == before
    watched.clock.advance(KEPT.total_seconds())
    assert [watched.waited(5) for _ in range(5)] == [(0, 10_000)] * 5
    assert watched.limits.gets == before + 1


def test_a_poll_that_does_not_wait_never_asks_for_it(watched: Watched) -> None:
    watched.measure(0.9)
    before = watched.limits.gets
    assert watched.waited(0) == (0, 1_000)
    assert watched.limits.gets == before


def test_where_nobody_measures_any_more_the_limit_ends(watched: Watched) -> None:
    watched.measure(0.9)
    assert watched.waited(5) == (0, 10_000)
    watched.clock.advance(LIMIT_LIFE.total_seconds())
    assert watched.measure(None) is None
    assert watched.waited(0) == (0, 1_000)
    assert watched.waited(5) == (5, 0)


UNREADABLE = [StoreThrottled("get_item"), StoreUnavailable("get_item"), AwsDenied("get_item")]


@pytest.mark.parametrize("failure", UNREADABLE)
def test_a_limit_that_cannot_be_read_fails_no_poll_and_the_last_one_goes_on_as_long_as_a_limit_lives(
    watched: Watched, failure: Exception
) -> None:
    watched.measure(0.9)
    assert watched.waited(5) == (0, 10_000)
    watched.limits.failure = failure
    watched.clock.advance(2 * KEPT.total_seconds())
    assert watched.waited(5) == (0, 10_000)
    watched.clock.advance(LIMIT_LIFE.total_seconds())
    assert watched.waited(5) == (5, 0)


@pytest.mark.parametrize("failure", UNREADABLE)
def test_where_no_limit_was_ever_read_a_poll_waits_as_it_asks(watched: Watched, failure: Exception) -> None:
    watched.limits.failure = failure
    assert watched.waited(5) == (5, 0)


def test_when_the_load_is_gone_the_limit_is_lifted_step_by_step_and_then_written_no_more(
    watched: Watched,
) -> None:
    watched.measure(0.9)
    shares = []
    while (limit := watched.measure(0.05)) is not None:
        shares.append(limit.share)
        watched.clock.advance(60)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert watched.measure(0.05) is None

"""What a tenant's workers let through together: a simulation with many workers whose clocks differ, and the rules of
one alone (ADR 65).
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from random import Random

import pytest

from acta.engine.api.operation import Operation
from acta.engine.api.operations import OPERATIONS
from acta.engine.errors import LimitReached, Quota, StoreUnavailable, TooManyOpenSessions
from acta.engine.limits.limiter import FULL_SECONDS, GIVE_WAY_MS, REFUSED_SECONDS, Limiter, limiter_of
from acta.engine.limits.tenant_limits import POLL_WINDOW, WINDOW, LimitsByTenant, TenantLimits
from acta.testing.clock import FakeClock
from tests.doubles.rate_leases import MemoryRateLeases

LIMIT = 20
PLACES = 7
SKEW = 2.0
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
POLL_SECONDS = 20.0


def route(method: str, path: str) -> Operation:
    return next(one for one in OPERATIONS if (one.method, one.path) == (method, path))


LIST = route("GET", "/v1/sessions")
POLL = route("GET", "/v1/sessions/{session_id}")
START = route("POST", "/v1/sessions")
STOPPING = [one for one in OPERATIONS if one.rated == "never"]


class Worker:
    """One of the tenant's, whose clock is off by `skew` seconds."""

    def __init__(self, leases: MemoryRateLeases, skew: float, **limits: int) -> None:
        self.clock = FakeClock()
        self.skew = skew
        self.limiter = Limiter(LimitsByTenant({"*": TenantLimits(**limits)}), leases, self.clock)
        self.busy_until = 0.0

    def at(self, seconds: float) -> "Worker":
        """`seconds`: of true time since the beginning."""
        self.clock.set(BEGIN + timedelta(seconds=seconds + self.skew))
        return self

    def lets_in(self) -> bool:
        try:
            self.limiter.admit("acme", LIST)
        except LimitReached:
            return False
        return True


def arrivals(random: Random, per_second: float, seconds: float) -> Iterator[float]:
    at = 0.0
    while (at := at + random.expovariate(per_second)) < seconds:
        yield at


def most_within(times: list[float], length: float) -> int:
    """The most that fall into any span of this length."""
    most, first = 0, 0
    for last, at in enumerate(times):
        while times[first] <= at - length:
            first += 1
        most = max(most, last - first + 1)
    return most


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("workers", "demand"), [(1, 60.0), (12, 45.0), (150, 80.0)])
def test_however_many_workers_there_are_the_total_stays_within_the_stated_bound(
    workers: int, demand: float, seed: int
) -> None:
    random, leases = Random(seed), MemoryRateLeases()
    house = [Worker(leases, random.uniform(-SKEW, SKEW), requests_per_second=LIMIT) for _ in range(workers)]
    let_in = [at for at in arrivals(random, demand, 300) if random.choice(house).at(at).lets_in()]
    for length in (1, WINDOW, 3 * WINDOW, 120):
        assert most_within(let_in, length) <= LIMIT * (length + 2 * WINDOW + 2 * SKEW)
    assert len(let_in) <= LIMIT * (300 + 2 * WINDOW + 2 * SKEW)
    if workers < LIMIT * WINDOW / 10:
        assert len(let_in) >= 0.9 * LIMIT * 300, "what is allowed can be used"


@pytest.mark.parametrize("seed", range(4))
def test_a_tenant_that_stays_well_below_its_limit_is_never_refused(seed: int) -> None:
    random, leases = Random(seed), MemoryRateLeases()
    house = [Worker(leases, 0, requests_per_second=LIMIT) for _ in range(30)]
    assert all(random.choice(house).at(at).lets_in() for at in arrivals(random, LIMIT / 4, 300))


def test_a_worker_writes_once_in_a_window_as_long_as_it_is_asked_as_before() -> None:
    leases = MemoryRateLeases()
    worker = Worker(leases, 0, requests_per_second=LIMIT)
    writes = []
    for window in range(30):
        before = leases.writes
        for number in range(40):
            assert worker.at(window * WINDOW + number / 5).lets_in()
        writes.append(leases.writes - before)
    assert writes[0] <= 7
    assert writes[1:] == [1] * 29


@pytest.mark.parametrize("seed", range(4))
def test_never_do_more_polls_wait_at_once_than_may(seed: int) -> None:
    """Their workers renew, go away, and come anew; clocks differ."""
    random, leases = Random(seed), MemoryRateLeases()
    house = [Worker(leases, random.uniform(-SKEW, SKEW), long_polls=PLACES) for _ in range(25)]
    waiting: list[tuple[float, float]] = []
    for at in arrivals(random, 2.0, 900):
        free = [worker for worker in house if worker.busy_until <= at]
        if not free:
            continue
        worker = min(free, key=lambda each: each.skew) if random.random() < 0.5 else random.choice(free)
        if worker.at(at).limiter.may_wait("acme"):
            worker.busy_until = at + random.uniform(0.1, POLL_SECONDS)
            waiting.append((at, worker.busy_until))
    changes = sorted([(begin, 1) for begin, _ in waiting] + [(end, -1) for _, end in waiting])
    held, most = 0, 0
    for _, change in changes:
        held += change
        most = max(most, held)
    assert 2 <= most <= PLACES
    assert len(waiting) > 60, "places come free again"


def test_who_polls_again_and_again_writes_once_a_minute_and_pays_for_no_request() -> None:
    leases = MemoryRateLeases()
    worker = Worker(leases, 0, requests_per_second=1, long_polls=PLACES)
    for number in range(90):
        limiter = worker.at(number * POLL_SECONDS).limiter
        limiter.admit("acme", POLL)
        limiter.check("acme")
        assert limiter.may_wait("acme")
        limiter.polled("acme", POLL_SECONDS)
    assert leases.writes == 90 * POLL_SECONDS / POLL_WINDOW


def test_polls_that_are_answered_at_once_are_requests_like_any_other() -> None:
    worker = Worker(MemoryRateLeases(), 0, requests_per_second=1, long_polls=PLACES)
    answered = 0
    for number in range(100):
        limiter = worker.at(number / 100).limiter
        try:
            limiter.check("acme")
        except LimitReached:
            continue
        assert limiter.may_wait("acme")
        limiter.polled("acme", 0.01)
        answered += 1
    assert WINDOW <= answered <= WINDOW + 1


def test_a_poll_without_a_place_is_not_tried_again_for_a_while_and_comes_later() -> None:
    leases = MemoryRateLeases()
    first, second = (Worker(leases, 0, long_polls=1) for _ in range(2))
    assert first.at(0).limiter.may_wait("acme")
    assert not second.at(1).limiter.may_wait("acme")
    writes = leases.writes
    assert not second.at(1 + REFUSED_SECONDS / 2).limiter.may_wait("acme")
    assert leases.writes == writes
    assert second.limiter.pause_ms("acme", 1_000, waited=False) == GIVE_WAY_MS
    assert second.limiter.pause_ms("acme", 1_000, waited=True) == 1_000
    assert not second.at(70).limiter.may_wait("acme"), "the first may still wait"
    assert second.at(130).limiter.may_wait("acme"), "nobody renewed the place"


def test_while_nothing_is_left_clients_are_told_when_there_is() -> None:
    worker = Worker(MemoryRateLeases(), 0, requests_per_second=1)
    for number in range(WINDOW):
        assert worker.at(number / 10).lets_in()
    with pytest.raises(LimitReached) as refused:
        worker.at(3).limiter.admit("acme", LIST)
    assert refused.value.retry_after == WINDOW - 3
    assert refused.value.quota == Quota("requests", WINDOW, WINDOW)
    assert worker.limiter.pause_ms("acme", 1_000, waited=True) == (WINDOW - 3) * 1_000
    assert worker.at(WINDOW).lets_in()


@pytest.mark.parametrize("stopping", STOPPING, ids=str)
def test_what_stops_things_is_never_refused_for_a_rate_and_asks_nobody(stopping: Operation) -> None:
    leases = MemoryRateLeases()
    worker = Worker(leases, 0, requests_per_second=1)
    while worker.at(1).lets_in():
        pass
    writes = leases.writes
    worker.limiter.admit("acme", stopping)
    assert leases.writes == writes
    assert worker.limiter.headers("acme", stopping) == {}


def test_pause_cancel_delete_and_decisions_are_what_stops_things() -> None:
    assert {one.action for one in STOPPING} == {
        "session.pause",
        "session.cancel",
        "session.delete",
        "intervention.resolve",
        "trigger.pause",
    }


def test_a_store_that_is_away_refuses_nobody_and_is_told_of() -> None:
    leases = MemoryRateLeases()
    told: list[Exception] = []
    worker = Worker(leases, 0, requests_per_second=1, long_polls=1)
    worker.limiter.on_error = told.append
    leases.failure = StoreUnavailable("update_item")
    for number in range(50):
        assert worker.at(number / 100).lets_in()
    assert worker.limiter.may_wait("acme")
    assert set(map(type, told)) == {StoreUnavailable}


def test_tenants_have_their_own_limits_and_shares() -> None:
    leases = MemoryRateLeases()
    limits = LimitsByTenant({"*": TenantLimits(requests_per_second=1), "free": TenantLimits()})
    limiter = Limiter(limits, leases, FakeClock())
    for _ in range(WINDOW):
        limiter.spend("one")
    with pytest.raises(LimitReached):
        limiter.spend("one")
    limiter.spend("two")
    for _ in range(50):
        limiter.spend("free")


def test_a_start_that_was_refused_is_not_tried_again_until_it_may_succeed() -> None:
    worker = Worker(MemoryRateLeases(), 0, starts_per_minute=1)
    worker.at(20).limiter.reached("acme", LimitReached("As many as it may.", Quota("starts", 1, 60), 40))
    for seconds, left in ((20, 40), (59, 1)):
        with pytest.raises(LimitReached) as refused:
            worker.at(seconds).limiter.admit_start("acme", START)
        assert (refused.value.retry_after, refused.value.quota.name) == (left, "starts")
    worker.at(60).limiter.admit_start("acme", START)
    worker.limiter.reached("acme", TooManyOpenSessions("Too many.", Quota("open-sessions", 1), 15))
    with pytest.raises(TooManyOpenSessions) as full:
        worker.limiter.admit_start("acme", START)
    assert full.value.retry_after == 15
    worker.at(60 + FULL_SECONDS).limiter.admit_start("acme", START)
    worker.limiter.admit_start("another", START)


def test_answers_say_what_is_left_where_that_is_known() -> None:
    worker = Worker(
        MemoryRateLeases(), 0, requests_per_second=20, starts_per_minute=9, open_sessions=8, long_polls=7
    )
    limiter = worker.at(4).limiter
    assert limiter.headers("acme", LIST) == {"RateLimit-Policy": '"requests";q=200;w=10'}
    limiter.admit("acme", LIST)
    assert limiter.headers("acme", LIST)["RateLimit"] == '"requests";r=199;t=6'
    assert limiter.headers("acme", START)["RateLimit-Policy"] == (
        '"requests";q=200;w=10, "starts";q=9;w=60, "open-sessions";q=8'
    )
    assert limiter.headers("acme", POLL)["RateLimit-Policy"] == '"requests";q=200;w=10, "long-polls";q=7'


def test_without_limits_there_is_no_limiter() -> None:
    assert limiter_of(LimitsByTenant(), MemoryRateLeases(), FakeClock()) is None
    assert limiter_of(LimitsByTenant({"*": TenantLimits()}), MemoryRateLeases(), FakeClock()) is None


def test_a_clock_that_is_behind_spends_from_the_newest_window() -> None:
    leases = MemoryRateLeases()
    ahead, behind = Worker(leases, SKEW, requests_per_second=1), Worker(leases, -SKEW, requests_per_second=1)
    before = [ahead.at(9).lets_in() for _ in range(WINDOW)]
    after = [behind.at(at).lets_in() for at in (9, 10, 11)]
    assert (before, after) == ([True] * WINDOW, [False] * 3)


def test_a_fork_is_a_start_like_any_other() -> None:
    worker = Worker(MemoryRateLeases(), 0.0, starts_per_minute=5).at(0)
    fork = route("POST", "/v1/sessions/{session_id}/fork")
    headers = worker.limiter.headers("acme", fork)
    assert headers
    assert headers == worker.limiter.headers("acme", START)
    worker.limiter.reached("acme", LimitReached("full", Quota("starts", 5, 60), 30))
    for each in (START, fork):
        with pytest.raises(LimitReached):
            worker.limiter.admit_start("acme", each)

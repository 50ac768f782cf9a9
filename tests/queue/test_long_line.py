"""A long line is paid for at once and admitted by others: as fairly as a short one, once, by few requests (ADR 106)."""

from collections import Counter
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.embedded.table import SqliteTable
from acta.engine.errors import StoreThrottled
from acta.engine.log.repository import SessionRepository
from acta.engine.queue.admission import Admission
from acta.engine.queue.dispatcher import SETTLED, WORK, RoundRobin, SharedPlaces, Sharing
from acta.engine.queue.dynamodb import DynamoAdmission
from acta.engine.queue.places import GrantPrice, QueuePlace, in_milliseconds
from acta.engine.recovery.store import PaidPlaces
from acta.engine.recovery.sweep import SweepDeps, Unreadable, sweep
from tests.in_process.deaths import Deaths, Died, Port, driven, new_worker, points
from tests.in_process.queues import PROVIDER, Handed, QueueHouse
from tests.queue.test_admission import MINNOW, WHALE, house, start
from tests.stores.documents import NOW

REQUESTS_OF_A_LOOK, REQUESTS_OF_ONE = 18, 4
"""Of a look at a long line with six workers, and of each admission that they make then."""
CLOSED = 30
"""Seconds for which the bucket is full, so that everybody joins the line."""
SMALL = Sharing(min_places=3, min_affordable=2, batch_size=2)
LEASE = (WORK + SETTLED).total_seconds()


def line_of(*tenants: tuple[str, int], requests: int = 10_000, most: int = 6) -> tuple[QueueHouse, list[Any]]:
    """So many sessions of each tenant wait, and the bucket is full of what it carries. And their names."""
    one = house(requests=requests, tenant_tokens_per_hour=0)
    one.workers = Handed(most)
    fill(one, CLOSED)
    sessions = []
    for tenant, count in tenants:
        for first in range(0, count, 200):
            sessions += [(tenant, each) for each in start(one, tenant, min(200, count - first))]
            one.run()
    one.clock.advance(CLOSED)
    one.began = in_milliseconds(one.clock.now())
    return one, sessions


def fill(one: QueueHouse, seconds: float) -> None:
    """The bucket carries nothing more for so long."""
    now = one.clock.now()
    paid = max(one.line.bucket(PROVIDER).requests - in_milliseconds(now), 0)
    if paid:
        one.clock.advance(paid / 1_000)
    one.line.take_for("", PROVIDER, GrantPrice(requests=round(seconds * 1_000)), one.clock.now())


def admitted(one: QueueHouse, sessions: list[Any]) -> list[str]:
    """The tenants of those that have come out of the line."""
    return [tenant for tenant, each in sessions if one.of(tenant, each).state_reason != "queued"]


def waiting(one: QueueHouse) -> int:
    return len(one.line.page_after(PROVIDER, "", 10_000))


def charged(one: QueueHouse) -> int:
    """Requests that were taken of the bucket, which was idle when the clock stood at `CLOSED`."""
    price = 60_000 // 10_000
    return (one.line.bucket(PROVIDER).requests - one.began) // price


def settle(one: QueueHouse) -> None:
    """Whoever has shared the line out is gone, and so are those that were asked."""
    one.clock.advance(LEASE)


def counting(one: QueueHouse) -> Deaths:
    """Every call of the stores and the engine from now on."""
    calls = Deaths()
    for name in ("log", "workflow", "line"):
        setattr(one, name, Port(getattr(one, name), name, calls))
    return calls


def made(calls: Deaths) -> Counter[str]:
    return Counter(f"{point.port}.{point.method}" for point in calls.met if point.when == "before")


@pytest.mark.thorough
def test_of_two_thousand_in_line_a_dispatcher_hands_over_what_the_bucket_carries_in_few_requests() -> None:
    one, sessions = line_of((WHALE, 1_990), *((f"{MINNOW}-{n}", 1) for n in range(10)))
    calls = counting(one)

    one.dispatch(most=1)

    assert one.workers is not None
    assert one.workers.sizes == [100] * 6
    asked = sum(made(calls).values())
    assert asked + len(one.workers.sizes) == REQUESTS_OF_A_LOOK
    assert charged(one) == 600
    assert not made(calls).keys() & {"log.append", "workflow.start", "line.leave", "line.take_for"}

    calls.met.clear()
    tally = one.work()

    assert tally.admitted == 600
    assert sum(made(calls).values()) == REQUESTS_OF_ONE * 600
    assert charged(one) == 600
    tenants = admitted(one, sessions)
    assert len(tenants) == 600
    assert {f"{MINNOW}-{n}" for n in range(10)} < set(tenants)


@pytest.mark.thorough
def test_looks_go_on_until_a_long_line_is_empty_and_nobody_is_paid_for_twice() -> None:
    one, sessions = line_of((WHALE, 700), ("acme", 700))
    for _ in range(10):
        one.dispatch(most=1)
        one.work()
        if not waiting(one):
            break
        settle(one)

    assert one.workers is not None
    assert sum(one.workers.sizes) == 1_400
    assert len(admitted(one, sessions)) == 1_400


def test_places_that_are_still_in_line_are_not_handed_over_again() -> None:
    """No worker has come to anything before the second look."""
    one, _ = line_of((WHALE, 900))

    one.dispatch(most=5)

    assert one.workers is not None
    assert sum(one.workers.sizes) == 900
    assert one.work().admitted == 900


def test_no_more_is_handed_over_in_a_minute_than_the_workers_start() -> None:
    one, _ = line_of((WHALE, 900), requests=1_000_000, most=1)
    assert one.workers is not None
    began, handed = one.clock.now(), one.workers.sizes
    one.dispatch(most=20)
    seconds = (one.clock.now() - began).total_seconds()
    assert handed[:3] == [100] * 3
    assert sum(handed) <= 100 + seconds * 1_000 / 60


def test_a_bucket_that_gives_little_at_a_time_is_served_by_the_dispatcher_alone() -> None:
    one, sessions = line_of((WHALE, 150), requests=60)
    one.dispatch(most=100)
    assert one.workers is not None
    assert not one.workers.sizes
    assert 15 <= len(admitted(one, sessions)) <= 100


def test_no_more_than_a_burst_is_paid_for_at_once() -> None:
    one, _ = line_of((WHALE, 500), requests=1_000)
    one.dispatch(most=1)
    assert one.workers is not None
    assert sum(one.workers.sizes) == 250


def test_a_short_line_costs_the_same_requests_with_workers_and_without() -> None:
    asked = []
    for workers in (Handed(), None):
        one, _ = line_of((WHALE, 97), (MINNOW, 2))
        one.workers = workers
        calls = counting(one)
        one.dispatch()
        asked.append(calls.met)
        assert not waiting(one)
    assert asked[0] == asked[1]


def test_while_one_dispatcher_shares_the_line_out_another_one_leaves_it_alone() -> None:
    one, sessions = line_of((WHALE, 900))
    one.dispatch(most=1)
    before = one.line.bucket(PROVIDER).requests

    other = one.dispatch(most=1)

    assert not any(other)
    assert one.workers is not None
    assert len(one.workers.sizes) == 6
    assert one.line.bucket(PROVIDER).requests == before
    assert one.work().admitted == len(admitted(one, sessions)) == 600


def test_a_batch_whose_worker_dies_is_paid_for_once_more_and_admitted() -> None:
    one, sessions = line_of((WHALE, 300))
    one.dispatch(most=1)
    assert one.workers is not None
    one.workers.events.pop(1)
    assert one.work().admitted == 200
    settle(one)
    one.sharing = Sharing(min_places=50)

    one.dispatch(most=1)

    assert one.work().admitted == 100
    assert one.workers.sizes == [100] * 4
    assert len(admitted(one, sessions)) == 300


def test_a_worker_that_dies_amid_its_batch_leaves_the_rest_in_line() -> None:
    one, sessions = line_of((WHALE, 300))
    one.dispatch(most=1)
    assert one.work(most=40).admitted == 120
    settle(one)
    while waiting(one):
        one.dispatch(most=100)
        one.work()
        settle(one)
    assert len(admitted(one, sessions)) == 300


def test_an_event_that_comes_late_does_nothing_and_one_that_comes_twice_admits_once() -> None:
    one, sessions = line_of((WHALE, 300))
    one.dispatch(most=1)
    assert one.workers is not None
    events = list(one.workers.events)
    one.workers.events[1:] = [events[0]]
    tally = one.work()
    assert tally.admitted == 100
    assert one.line.bucket(PROVIDER).last == WHALE
    one.clock.advance(WORK.total_seconds())
    one.workers.events = events[1:]
    assert not any(one.work())
    assert len(admitted(one, sessions)) == 100


def test_what_was_paid_for_one_wait_admits_no_later_one() -> None:
    """The session has made its call, and waits for the next one when the same event comes once more."""
    one, sessions = line_of((WHALE, 100))
    one.dispatch(most=1)
    assert one.workers is not None
    event = one.workers.events[0]
    one.work()
    fill(one, WORK.total_seconds())
    one.clock.advance(1)
    one.run()
    again = [head for name in sessions if (head := one.of(*name)).state_reason == "queued"]
    assert again

    one.workers.events = [event]
    tally = one.work()

    assert not tally.admitted
    assert [one.of(head.tenant, head.session_id).state_reason for head in again] == ["queued"] * len(again)
    while waiting(one):
        settle(one)
        one.dispatch(most=100)
        one.work()
        one.run()
    assert {one.of(*name).state_reason for name in sessions} == {"plan_completed"}


def test_who_leaves_the_line_meanwhile_is_not_admitted() -> None:
    one, sessions = line_of((WHALE, 100))
    one.tenant = WHALE
    one.dispatch(most=1)
    one.cancel(sessions[0][1])
    one.delete(sessions[1][1])
    one.pause(sessions[2][1])
    tally = one.work()
    assert (tally.admitted, tally.dropped) == (97, 3)
    assert one.of(*sessions[2]).state == "waiting_for_user"


def test_where_nobody_can_be_asked_the_dispatcher_admits_what_it_has_paid_for() -> None:
    class Away(Handed):
        def admit(self, paid: PaidPlaces) -> None:
            raise StoreThrottled("invoke")

    one, sessions = line_of((WHALE, 100))
    one.workers = Away()
    tally = one.dispatch(most=103)
    assert (tally.admitted, tally.shared) == (100, 0)
    assert charged(one) == 100
    assert len(admitted(one, sessions)) == 100


def test_one_that_joins_behind_a_thousand_is_handed_over_with_the_next_ones() -> None:
    one, _ = line_of((WHALE, 1_000))
    one.dispatch(most=1)
    few = (MINNOW, start(one, MINNOW)[0])
    one.run()
    one.work()
    settle(one)
    one.dispatch(most=1)
    one.work()
    assert one.of(*few).state_reason != "queued"


def long_line_with_deaths(deaths: Deaths) -> None:
    """Five sessions of two tenants, shared out by two. Whoever dies is followed by another one."""
    one = house(requests=600)
    one.workers, one.sharing = Handed(2), SMALL
    fill(one, CLOSED)
    sessions = [("acme", each) for each in start(one, "acme", 3)]
    sessions += [("umbrella", each) for each in start(one, "umbrella", 2)]
    one.run()
    one.clock.advance(CLOSED)
    log, line = one.log, one.line

    def states() -> set[str]:
        repository = SessionRepository(log, one.blobs, one.clock)
        return {repository.newest(*each).head.state for each in sessions}

    for name in ("log", "workflow", "line"):
        setattr(one, name, Port(getattr(one, name), name, deaths))
    one.admission = Admission(one.line, one.clock, one.settings.limits_of_providers)
    new_worker(one)
    shared = 0
    for _ in range(100):
        try:
            shared += one.dispatch(most=3).shared
            one.work()
            driven(one)
        except Died:
            new_worker(one)
        one.clock.advance(61)
        try:
            sweep(SweepDeps(one.app(), Unreadable()))
        except Died:
            new_worker(one)
        if states() == {"completed"} and line.first_after(PROVIDER, "") is None:
            assert one.workers.sizes
            return
    raise AssertionError(f"at the {len(deaths.met)}th call: {states()}")


def test_wherever_a_dispatcher_or_one_that_it_has_asked_dies_everybody_comes_out_of_a_long_line() -> None:
    for number in points(long_line_with_deaths):
        long_line_with_deaths(Deaths(number))


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 7), min_size=1),
    st.sampled_from(["", *"abcdef"]),
    st.integers(1, 4),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 4)),
)
def test_the_order_is_that_of_one_after_the_other_however_the_line_is_read(
    counts: dict[str, int], last: str, page: int, gone: dict[str, int]
) -> None:
    """`gone`: how many of a tenant's places are handed over; these are its first ones."""
    store, passed = DynamoAdmission("t", SqliteTable(None)), SharedPlaces()
    for tenant, count in counts.items():
        for number in range(count):
            place = QueuePlace("p", tenant, f"ses_{number}", NOW, 1)
            store.join(place, NOW, NOW + WORK)
            if number < gone.get(tenant, 0):
                passed.add(place)
    found = list(RoundRobin(store, "p", last, passed, page))

    left = {
        tenant: [f"ses_{n}" for n in range(gone.get(tenant, 0), count)] for tenant, count in counts.items()
    }
    order, wanted = sorted(left, key=lambda tenant: (tenant <= last, tenant)), []
    while any(left.values()):
        wanted += [(tenant, left[tenant].pop(0)) for tenant in order if left[tenant]]
    assert [(one.tenant, one.session_id) for one in found] == wanted


def test_a_line_is_read_no_further_than_it_is_asked() -> None:
    store = DynamoAdmission("t", SqliteTable(None))
    for number in range(30):
        store.join(QueuePlace("p", f"t{number:02d}", "ses_1", NOW, 1), NOW, NOW + WORK)
    turns = RoundRobin(store, "p", "t09", SharedPlaces(), 5)
    assert [one.tenant for one in islice(turns, 7)] == [f"t{n}" for n in range(10, 17)]
    assert turns.read == 10

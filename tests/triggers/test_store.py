"""Events of triggers, wherever they are stored."""

from datetime import timedelta

import pytest

from acta.engine.triggers.dynamodb import DynamoTriggerEvents
from acta.engine.triggers.store import SHARDS, WaitingEvent
from acta.engine.triggers.trigger import Counts, TriggerEvent, hashed
from acta.testing.clock import FakeClock
from tests.stores.backends import Aws

pytestmark = pytest.mark.contract

EVENT = {"order": {"id": "4711", "note": "ü\U0001f600"}}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def events(account: Aws, clock: FakeClock) -> DynamoTriggerEvents:
    return DynamoTriggerEvents(account.table, clock, account.dynamodb)


def waiting(events: DynamoTriggerEvents, clock: FakeClock, tenant: str) -> list[WaitingEvent]:
    found = (each for shard in range(SHARDS) for each in events.waiting(shard, clock.now()))
    return [each for each in found if each.tenant == tenant]


def test_an_event_is_taken_once_and_read_as_it_came(
    events: DynamoTriggerEvents, clock: FakeClock, tenant: str
) -> None:
    first, is_new = events.take(tenant, "orders", "e-1", EVENT, clock.now(), ("shop", "bank"))
    assert (is_new, first.outcome, first.event) == (True, "waiting", EVENT)
    assert events.get(tenant, "orders", first.event_id) == first
    later = clock.now() + timedelta(hours=1)
    assert events.take(tenant, "orders", "e-1", {"other": 1}, later) == (first, False)
    for other in (
        events.take(tenant, "orders", "e-2", EVENT, clock.now()),
        events.take(tenant, "other", "e-1", EVENT, clock.now()),
        events.take(f"{tenant}x", "orders", "e-1", EVENT, clock.now()),
    ):
        assert other[1]
    assert events.get(tenant, "orders", "evt_none") is None


def test_an_event_is_tried_again_after_a_minute_and_not_once_it_is_settled(
    events: DynamoTriggerEvents, clock: FakeClock, tenant: str
) -> None:
    one, _ = events.take(tenant, "orders", "e-1", EVENT, clock.now())
    assert waiting(events, clock, tenant) == []
    clock.advance(60)
    assert waiting(events, clock, tenant) == [WaitingEvent(tenant, "orders", one.event_id)]
    again = one._replace(code="BUSY", reason="Later.")
    assert events.settle(tenant, "orders", one, again)
    assert waiting(events, clock, tenant) == [WaitingEvent(tenant, "orders", one.event_id)]
    ended = TriggerEvent(one.event_id, one.received_at, "started", "ses_1")
    assert events.settle(tenant, "orders", again, ended)
    assert (waiting(events, clock, tenant), events.get(tenant, "orders", one.event_id)) == ([], ended)


def test_what_waits_longest_comes_first_however_its_tenant_is_called(
    events: DynamoTriggerEvents, clock: FakeClock, tenant: str
) -> None:
    made = []
    for number in range(12):
        clock.advance(1)
        made.append(events.take(f"{tenant}#ü", "orders", f"e-{number}", EVENT, clock.now())[0].event_id)
    clock.advance(100)
    for shard in range(SHARDS):
        found = [one.event_id for one in events.waiting(shard, clock.now()) if one.tenant == f"{tenant}#ü"]
        assert found == sorted(found)
    assert sorted(one.event_id for one in waiting(events, clock, f"{tenant}#ü")) == made


def test_of_two_who_settle_an_event_one_does_and_counts_it(
    events: DynamoTriggerEvents, clock: FakeClock, tenant: str
) -> None:
    one, _ = events.take(tenant, "orders", "e-1", EVENT, clock.now())
    refused = one._replace(outcome="refused", code="PAUSED", reason="It is.")
    assert events.settle(tenant, "orders", one, refused)
    assert not events.settle(tenant, "orders", one, one._replace(outcome="failed", code="x", reason="y"))
    assert events.get(tenant, "orders", one.event_id) == refused
    events.count(tenant, "orders", "ignored")
    events.count(tenant, "orders", "own_files")
    assert events.counts(tenant, "orders") == Counts(refused=1, ignored=1, own_files=1)
    events.forget_counts(tenant, "orders")
    assert events.counts(tenant, "orders") == Counts()


def test_a_key_is_held_by_one_session_at_a_time(
    events: DynamoTriggerEvents, clock: FakeClock, tenant: str
) -> None:
    key = hashed("order-4711")
    assert events.holder(tenant, "orders", key) is None
    assert events.hold(tenant, "orders", key, "ses_1", None)
    assert not events.hold(tenant, "orders", key, "ses_2", None)
    holder = events.holder(tenant, "orders", key)
    assert holder is not None
    assert (holder.session_id, holder.since) == ("ses_1", clock.now())
    assert events.hold(tenant, "orders", key, "ses_2", holder)
    assert not events.hold(tenant, "orders", key, "ses_3", holder)
    assert events.hold(tenant, "orders", hashed("another"), "ses_3", None)

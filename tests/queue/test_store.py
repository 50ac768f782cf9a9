"""Buckets and lines of providers: what is granted is granted once, and the line is fair (ADR 106)."""

from datetime import timedelta
from uuid import uuid4

import pytest

from acta.engine.queue.dynamodb import DynamoAdmission, client_that_repeats_nothing
from acta.engine.queue.places import (
    BURST,
    AdmissionStore,
    GrantPrice,
    ProviderBucket,
    ProviderLimits,
    QueuePlace,
    in_milliseconds,
)
from tests.stores.backends import Aws
from tests.stores.documents import NOW

pytestmark = pytest.mark.contract

SECOND = timedelta(seconds=1)
HALF = GrantPrice(tokens=BURST // 2, requests=1_000)


@pytest.fixture
def store(account: Aws) -> AdmissionStore:
    return DynamoAdmission(account.table, account.dynamodb)


@pytest.fixture
def provider() -> str:
    return f"provider-{uuid4().hex}"


def waiting(provider: str, tenant: str, number: int, after: float = 0) -> QueuePlace:
    return QueuePlace(provider, tenant, f"ses_{number}", NOW + after * SECOND, 10)


def test_a_bucket_carries_a_burst_and_then_what_time_brings(store: AdmissionStore, provider: str) -> None:
    granted = [store.take(provider, HALF, NOW).granted for _ in range(3)]
    later = [store.take(provider, HALF, NOW + timedelta(milliseconds=BURST // 2)).granted for _ in range(2)]

    assert granted == [True, True, False]
    assert later == [True, False]


def test_each_of_the_two_values_can_be_what_is_short(store: AdmissionStore, provider: str) -> None:
    assert store.take(provider, GrantPrice(tokens=0, requests=BURST), NOW).granted
    assert not store.take(provider, GrantPrice(tokens=1, requests=1), NOW).granted
    assert store.take(provider, GrantPrice(tokens=1, requests=0), NOW).granted


def test_a_price_above_a_burst_fits_where_nothing_is_owed(store: AdmissionStore, provider: str) -> None:
    dear = GrantPrice(tokens=4 * BURST)
    assert store.take(provider, dear, NOW).granted
    assert not store.take(provider, dear, NOW + SECOND).granted
    assert store.take(provider, dear, NOW + timedelta(milliseconds=4 * BURST)).granted


def test_what_was_not_used_is_given_back_and_can_be_taken_again(store: AdmissionStore, provider: str) -> None:
    store.take(provider, GrantPrice(tokens=BURST, requests=BURST), NOW)
    assert not store.take(provider, GrantPrice(tokens=1), NOW).granted

    store.give_back(provider, BURST // 2, NOW)

    bucket = store.bucket(provider)
    assert bucket.tokens == in_milliseconds(NOW) + BURST // 2
    assert bucket.requests == in_milliseconds(NOW) + BURST, "the request was made"
    assert [store.take(provider, GrantPrice(tokens=BURST // 2), NOW).granted for _ in range(2)] == [
        True,
        False,
    ]


def test_a_give_back_never_moves_the_bucket_to_before_now(store: AdmissionStore, provider: str) -> None:
    """What time has paid for already is not given back once more."""
    store.take(provider, GrantPrice(tokens=4 * BURST), NOW)
    store.give_back(provider, 3 * BURST, NOW + timedelta(milliseconds=2 * BURST))
    assert store.bucket(provider).tokens == in_milliseconds(NOW) + 2 * BURST

    store.give_back(provider, BURST, NOW + timedelta(milliseconds=5 * BURST))
    store.give_back(f"{provider}-untouched", BURST, NOW)

    assert store.bucket(provider).tokens == in_milliseconds(NOW) + 2 * BURST
    assert store.bucket(f"{provider}-untouched") == ProviderBucket()


def test_what_others_take_meanwhile_stays_taken_when_tokens_are_given_back(
    moto_account: Aws, provider: str
) -> None:
    """Another worker takes from the bucket between the read and the write of the give-back."""
    store, other = (DynamoAdmission(moto_account.table, moto_account.dynamodb) for _ in range(2))
    store.take(provider, GrantPrice(tokens=BURST // 4), NOW)
    late, due = NOW + timedelta(milliseconds=BURST // 8), [True]

    def take(**_: object) -> None:
        if due:
            due.clear()
            assert other.take(provider, GrantPrice(tokens=BURST // 2), late).granted

    moto_account.dynamodb.meta.events.register("before-call.dynamodb.UpdateItem", take)
    store.give_back(provider, BURST // 4, late)

    assert not due
    assert store.bucket(provider).tokens == in_milliseconds(NOW) + BURST // 2


def test_a_give_back_whose_answer_is_lost_is_not_repeated_by_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    assert client_that_repeats_nothing().meta.config.retries["total_max_attempts"] == 1


def test_a_line_stops_everybody_but_who_comes_out_of_it(store: AdmissionStore, provider: str) -> None:
    store.join(waiting(provider, "acme", 1), NOW, NOW + 60 * SECOND)
    assert not store.take(provider, HALF, NOW).granted
    took = store.take_for("acme", provider, HALF, NOW)
    assert took.granted
    assert store.bucket(provider) == took.bucket
    assert took.bucket.last == "acme"
    assert store.take(provider, HALF, NOW + 60 * SECOND).granted


def test_only_dispatchers_renew_a_line_and_one_that_nobody_looks_after_stops_nobody(
    store: AdmissionStore, provider: str
) -> None:
    store.join(waiting(provider, "acme", 1), NOW, NOW + 60 * SECOND)
    store.join(waiting(provider, "acme", 2, 1), NOW + 50 * SECOND, NOW + 110 * SECOND)
    assert not store.take(provider, HALF, NOW + 59 * SECOND).granted
    assert store.take(provider, HALF, NOW + 60 * SECOND).granted

    assert store.keep_line(provider, store.bucket(provider), NOW + 120 * SECOND)
    assert not store.take(provider, HALF, NOW + 119 * SECOND).granted


def test_of_two_dispatchers_that_saw_the_same_line_one_ends_or_renews_it(
    store: AdmissionStore, provider: str
) -> None:
    store.join(waiting(provider, "acme", 1), NOW, NOW + 60 * SECOND)
    seen = store.bucket(provider)
    assert store.keep_line(provider, seen, NOW + 90 * SECOND)
    assert not store.keep_line(provider, seen, None)
    assert not store.take(provider, HALF, NOW).granted

    assert store.keep_line(provider, store.bucket(provider), None)
    assert store.take(provider, HALF, NOW).granted


def test_a_bucket_that_nobody_has_touched_is_full(store: AdmissionStore, provider: str) -> None:
    assert store.bucket(provider) == ProviderBucket()
    store.keep_line(provider, ProviderBucket(), None)
    assert store.first_after(provider, "") is None


def test_each_tenant_has_a_place_of_its_own_for_its_oldest(store: AdmissionStore, provider: str) -> None:
    line = [
        waiting(provider, "a", 1, 5),
        waiting(provider, "a", 2, 1),
        waiting(provider, "a-b", 3, 0),
        waiting(provider, "b#c", 4, 0),
    ]
    positions = [store.join(one, NOW, NOW + 60 * SECOND).position for one in line]

    assert positions == [0, 0, 0, 0]
    first = store.first_after(provider, "")
    assert first == line[1]
    assert store.next_of(line[1]) == line[0]
    assert store.next_of(line[0]) is None
    assert store.first_after(provider, "a") == line[2]
    assert store.first_after(provider, "a-b") == line[3]
    assert store.first_after(provider, "b#c") is None


def test_a_position_counts_the_tenants_own_alone(store: AdmissionStore, provider: str) -> None:
    for number in range(3):
        store.join(waiting(provider, "other", number, number), NOW, NOW + 60 * SECOND)
    joined = [store.join(waiting(provider, "acme", n, n), NOW, NOW + 60 * SECOND) for n in range(3)]
    assert [place.position for place in joined] == [0, 1, 2]
    assert store.join(waiting(provider, "acme", 1, 1), NOW, NOW + 60 * SECOND).position == 1


def test_who_has_left_is_not_found_any_more(store: AdmissionStore, provider: str) -> None:
    one = waiting(provider, "acme", 1)
    store.join(one, NOW, NOW + 60 * SECOND)
    store.leave(one)
    store.leave(one)
    assert store.first_after(provider, "") is None


def test_a_place_keeps_the_time_at_which_it_was_first_passed_over(
    store: AdmissionStore, provider: str
) -> None:
    """Until its session joins again, with the same place."""
    one, other = waiting(provider, "acme", 1), waiting(provider, "acme", 2)
    for each in (one, other):
        store.join(each, NOW, NOW + 60 * SECOND)

    assert [store.pass_over(one, NOW + n * SECOND) for n in (1, 5)] == [NOW + SECOND] * 2
    assert store.pass_over(other, NOW + 9 * SECOND) == NOW + 9 * SECOND
    assert store.first_after(provider, "") == one

    store.join(one, NOW + 20 * SECOND, NOW + 60 * SECOND)
    assert store.pass_over(one, NOW + 30 * SECOND) == NOW + 30 * SECOND


def test_a_place_that_has_left_does_not_come_back_when_it_is_passed_over(
    store: AdmissionStore, provider: str
) -> None:
    one = waiting(provider, "acme", 1)
    store.join(one, NOW, NOW + 60 * SECOND)
    store.leave(one)
    assert store.pass_over(one, NOW + SECOND) == NOW + SECOND
    assert store.first_after(provider, "") is None


def test_who_begins_a_line_is_told_so(store: AdmissionStore, provider: str) -> None:
    """The first, and the first after the line has ended or was forgotten."""
    begins = [store.join(waiting(provider, "acme", n), NOW, NOW + 60 * SECOND).begins_line for n in range(2)]
    store.keep_line(provider, store.bucket(provider), None)
    after_its_end = store.join(waiting(provider, "acme", 3), NOW, NOW + 60 * SECOND)
    much_later = store.join(waiting(provider, "acme", 4), NOW + 60 * SECOND, NOW + 120 * SECOND)

    assert begins == [True, False]
    assert after_its_end.begins_line
    assert much_later.begins_line


def test_what_answers_have_named_is_kept_with_its_time(store: AdmissionStore, provider: str) -> None:
    store.learn(provider, ProviderLimits(400_000, 50), NOW)
    assert store.bucket(provider).limits == ProviderLimits(400_000, 50)
    assert store.bucket(provider).learnt == in_milliseconds(NOW)

    store.learn(provider, ProviderLimits(None, 60), NOW + SECOND)
    took = store.take(provider, HALF, NOW + SECOND)
    assert took.bucket.limits == ProviderLimits(None, 60)
    assert took.bucket.learnt == in_milliseconds(NOW + SECOND)


def test_a_line_is_read_by_pages_tenant_after_tenant(store: AdmissionStore, provider: str) -> None:
    line = [
        waiting(provider, tenant, number, number) for tenant in ("a", "a-b", "b#c") for number in range(3)
    ]
    for one in reversed(line):
        store.join(one, NOW, NOW + 60 * SECOND)

    assert store.page_after(provider, "", 100) == line
    assert store.page_after(provider, "", 4) == line[:4]
    assert store.page_after(provider, "a", 100) == line[3:]
    assert store.page_after(provider, "b#c", 100) == []
    assert store.page_behind(line[0], 100) == line[1:3]
    assert store.page_behind(line[0], 1) == line[1:2]
    assert store.page_behind(line[2], 100) == []


def test_a_line_is_shared_out_by_one_at_a_time(store: AdmissionStore, provider: str) -> None:
    """What is short for another one is not the bucket."""
    price, until = GrantPrice(requests=BURST // 10), NOW + 12 * SECOND
    store.join(waiting(provider, "acme", 1), NOW, NOW + 60 * SECOND)

    first = store.share_out("acme", provider, price, NOW, until)
    other = store.share_out("umbrella", provider, price, NOW + SECOND, until + SECOND)
    again = store.share_out("b", provider, price, NOW + SECOND, until + SECOND, mine=first.bucket.shared)
    late = store.share_out("c", provider, price, until + SECOND, until + 12 * SECOND)

    assert [took.granted for took in (first, other, again, late)] == [True, False, True, True]
    assert first.bucket.shared == in_milliseconds(until)
    assert (first.bucket.last, again.bucket.last, late.bucket.last) == ("acme", "b", "c")
    assert again.bucket.requests == in_milliseconds(NOW) + 2 * (BURST // 10)
    assert store.bucket(provider) == late.bucket


def test_what_is_shared_out_is_what_the_bucket_carries(store: AdmissionStore, provider: str) -> None:
    until = NOW + 12 * SECOND
    store.take(provider, HALF, NOW)
    assert not store.share_out("acme", provider, GrantPrice(tokens=BURST), NOW, until).granted
    assert store.bucket(provider).shared == 0
    assert store.share_out("acme", provider, HALF, NOW, until).granted


def test_who_meets_a_line_again_and_joins_it_writes_a_place_and_the_bucket_once(
    moto_account: Aws, provider: str
) -> None:
    """One bucket is all tenants': it takes a thousand writes a second, those included that are refused."""
    asked: list[str] = []
    moto_account.dynamodb.meta.events.register(
        "before-call.dynamodb", lambda model, **_: asked.append(model.name)
    )
    store = DynamoAdmission(moto_account.table, moto_account.dynamodb)
    store.join(waiting(provider, "acme", 1), NOW, NOW + 60 * SECOND)
    assert not store.take(provider, HALF, NOW).granted
    asked.clear()

    assert not store.take(provider, HALF, NOW).granted
    store.join(waiting(provider, "acme", 2), NOW, NOW + 60 * SECOND)

    assert asked == ["GetItem", "PutItem", "UpdateItem", "Query"]


def test_a_line_that_was_seen_and_has_ended_since_stops_nobody(store: AdmissionStore, provider: str) -> None:
    store.join(waiting(provider, "acme", 1), NOW, NOW + 60 * SECOND)
    assert not store.take(provider, HALF, NOW).granted
    store.keep_line(provider, store.bucket(provider), None)
    assert store.take(provider, HALF, NOW).granted

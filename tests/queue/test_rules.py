"""A provider's bucket: what it grants in any time is bounded, and what it refuses comes in time (ADR 106)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.queue.places import (
    BURST,
    HOLD,
    CallSize,
    GrantPrice,
    Holding,
    ProviderBucket,
    ProviderLimits,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
prices = st.builds(GrantPrice, st.integers(0, 2 * BURST), st.integers(0, 2 * BURST))
asked = st.lists(st.tuples(st.integers(0, BURST), prices), max_size=60)
"""Milliseconds since the one before, and what is wanted then."""


@given(asked)
def test_in_any_time_no_more_is_granted_than_that_time_a_burst_and_one_call(
    calls: list[tuple[int, GrantPrice]],
) -> None:
    bucket, now, granted = ProviderBucket(), 1_000_000, list[tuple[int, GrantPrice]]()
    for pause, price in calls:
        now += pause
        after = bucket.after(price, now)
        if after is not None:
            granted.append((now, price))
            bucket = after
    for first in range(len(granted)):
        for last in range(first, len(granted)):
            within = granted[first : last + 1]
            longest = within[-1][0] - within[0][0] + BURST
            for value in ("tokens", "requests"):
                largest = max(getattr(price, value) for _, price in within)
                assert sum(getattr(price, value) for _, price in within) <= longest + largest


@given(asked, prices)
def test_what_is_refused_is_granted_when_the_bucket_says(
    calls: list[tuple[int, GrantPrice]], price: GrantPrice
) -> None:
    bucket, now = ProviderBucket(), 1_000_000
    for pause, taken in calls:
        now += pause
        bucket = bucket.after(taken, now) or bucket
    wait = bucket.seconds_until(price, now)

    assert (wait == 0) == (bucket.after(price, now) is not None)
    assert bucket.after(price, now + round(wait * 1_000)) is not None


def test_a_price_is_time_at_the_limits_rate() -> None:
    limits = ProviderLimits(tokens_per_minute=60_000)
    assert GrantPrice.of(limits, CallSize(500, 3)) == GrantPrice(500, 0)
    assert GrantPrice.of(ProviderLimits(requests_per_minute=60), CallSize(500, 3)) == GrantPrice(0, 3_000)


def test_what_a_worker_holds_ends_and_never_becomes_a_debt() -> None:
    limits = ProviderLimits(60_000)
    held = Holding(limits=limits).plus(100, 2, NOW).plus(-300, -1, NOW)
    assert held == Holding(0, 1, NOW + HOLD, limits)
    assert held.at(NOW + HOLD - timedelta(seconds=1), limits) == held
    assert held.at(NOW + HOLD, limits) == Holding(limits=limits)
    assert held.at(NOW, ProviderLimits(6_000)) == Holding(limits=ProviderLimits(6_000)), (
        "at a price of their own"
    )
    assert Holding(100, 2, NOW).lacks(CallSize(150)) == CallSize(50, 0)


@pytest.mark.parametrize(
    ("price", "is_idle", "is_worth"),
    [
        (GrantPrice(BURST // 10 + 1), True, True),
        (GrantPrice(BURST // 10), True, False),
        (GrantPrice(BURST // 100), False, True),
        (GrantPrice(BURST // 100 - 1), False, False),
    ],
)
def test_little_is_not_given_back_and_more_where_others_take_too(
    price: GrantPrice, is_idle: bool, is_worth: bool
) -> None:
    assert price.is_worth_returning(is_idle=is_idle) == is_worth


def test_a_lower_limit_is_believed_at_once_and_a_higher_one_later() -> None:
    high, low = ProviderLimits(100_000, 50), ProviderLimits(80_000, 50)
    bucket = ProviderBucket(limits=low, learnt=1_000)
    half_an_hour = 30 * 60_000

    assert ProviderBucket().has_to_learn(high, 1_000)
    assert ProviderBucket(limits=high, learnt=1_000).has_to_learn(low, 1_001)
    assert not bucket.has_to_learn(high, 1_001)
    assert bucket.has_to_learn(high, 1_000 + half_an_hour)
    assert not bucket.has_to_learn(low, 1_001)

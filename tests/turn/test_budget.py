"""What a call may use, what is left, when it is warned, and what a tenant's hour grants (docs/design/budgets.md)."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.limits.shares import (
    CHUNK_TOKENS,
    Lease,
    LeaseChange,
    day_of,
    end_of,
    grant_size,
    hour_of,
    tokens_missing,
    with_grant,
)
from acta.engine.log.head import BYTES_PER_TOKEN, Budget, Head, Usage
from acta.engine.turn.budget import (
    MIN_BYTES_PER_TOKEN,
    MIN_OUTPUT_TOKENS,
    CallReservation,
    calibrated,
    reserve,
    tokens_left,
    tokens_used,
    warning_due,
    with_limits,
)

NOW = datetime(2026, 5, 1, 12, 59, 59, tzinfo=UTC)


def head(tokens: int = 10_000, used: int = 0, cost: float | None = 0.0, **budget: Any) -> Head:
    return Head(
        tenant="t", session_id="s", agent_id="a", created_by="u", state="executing", created_at=NOW,
        updated_at=NOW, max_steps=50, usage=Usage(input_tokens=used, cost_usd=cost),
        budget=Budget(token_budget=tokens, charged_tokens=used, **budget),
    )  # fmt: skip


def test_what_is_left_is_the_budget_without_what_was_used_and_what_may_have_been() -> None:
    spent = head(10_000, used=3_000, vanished_tokens=500)
    assert (tokens_used(spent), tokens_left(spent)) == (3_500, 6_500)
    assert tokens_left(head(10_000, used=12_000)) == 0


def test_a_reservation_is_the_estimated_input_and_as_much_output_as_is_wanted() -> None:
    assert reserve(head(), 3_000, 4_096) == CallReservation(input=1_001, output=4_096)
    assert CallReservation(1_001, 4_096).tokens == 5_097


def test_near_the_end_the_output_is_what_the_budget_still_carries() -> None:
    assert reserve(head(10_000, used=7_000), 3_000, 4_096) == CallReservation(1_001, 1_999)


@pytest.mark.parametrize(
    ("left", "carries"), [(MIN_OUTPUT_TOKENS + 1_001, True), (MIN_OUTPUT_TOKENS + 1_000, False)]
)
def test_a_call_that_could_hardly_write_is_not_made(left: int, carries: bool) -> None:
    assert (reserve(head(10_000, used=10_000 - left), 3_000, 4_096) is not None) is carries


def test_an_agent_that_may_write_little_can_use_up_its_budget() -> None:
    assert reserve(head(1_101), 3_000, 100) == CallReservation(1_001, 100)
    assert reserve(head(1_100), 3_000, 100) is None


@pytest.mark.parametrize(
    ("cost", "charged", "carries"),
    [
        (0.99, 0.99, True), (1.0, 1.0, False), (1.01, 1.01, False),
        (None, 0.99, True), (None, 1.0, False),
    ],
)  # fmt: skip
def test_money_that_is_spent_carries_no_call_even_where_not_all_of_it_is_known(
    cost: float | None, charged: float, carries: bool
) -> None:
    one = head(cost=cost, cost_budget_usd=1.0, charged_usd=charged)
    assert (reserve(one, 3_000, 4_096) is not None) is carries


@given(
    tokens=st.integers(1, 200_000), used=st.integers(0, 250_000), size=st.integers(0, 400_000),
    output=st.integers(1, 64_000), bytes_per_token=st.floats(0.1, BYTES_PER_TOKEN),
)  # fmt: skip
def test_no_reservation_is_more_than_is_left(
    tokens: int, used: int, size: int, output: int, bytes_per_token: float
) -> None:
    one = head(tokens, used=used, bytes_per_token=bytes_per_token)
    reserved = reserve(one, size, output)
    if reserved is not None:
        assert reserved.tokens <= tokens_left(one)
        assert 1 <= reserved.output <= output
        assert reserved == reserve(one, size, output), "an attempt made again reserves the same"


def test_a_call_shows_how_long_a_token_is_and_estimates_stay_on_the_high_side() -> None:
    dense = calibrated(Budget(token_budget=1), request_bytes=1_000, input_tokens=500)
    assert dense.bytes_per_token == 1.8
    assert calibrated(dense, 4_000, 100).bytes_per_token == BYTES_PER_TOKEN, (
        "never more than at the beginning"
    )
    assert calibrated(dense, 1_000, 0) == dense
    assert calibrated(dense, 1, 1_000_000).bytes_per_token == MIN_BYTES_PER_TOKEN


@given(size=st.integers(1, 1_000_000), tokens=st.integers(1, 1_000_000))
def test_the_same_request_is_never_estimated_lower_than_it_was(size: int, tokens: int) -> None:
    learnt = calibrated(Budget(token_budget=1), size, tokens).bytes_per_token
    if learnt > MIN_BYTES_PER_TOKEN:
        assert size / learnt >= tokens


@pytest.mark.parametrize(
    ("used", "cost", "due"),
    [(7_999, 0.0, False), (8_000, 0.0, True), (0, 0.79, False), (0, 0.8, True)],
)
def test_the_warning_comes_when_most_of_the_tokens_or_of_the_money_is_used(
    used: int, cost: float, due: bool
) -> None:
    assert warning_due(head(10_000, used=used, cost_budget_usd=1.0, charged_usd=cost)) is due


def test_the_warning_counts_the_known_part_of_the_money() -> None:
    assert warning_due(head(cost=None, cost_budget_usd=1.0, charged_usd=0.8))
    assert not warning_due(head(cost=None, cost_budget_usd=1.0, charged_usd=0.7))


def test_the_warning_comes_once_and_again_after_a_raise() -> None:
    warned = head(10_000, used=9_000, warned=True)
    assert not warning_due(warned)
    more = with_limits(warned.budget, 11_000, None)
    assert (more.token_budget, more.cost_budget_usd) == (11_000, None)
    assert warning_due(warned.model_copy(update={"budget": more}))


def test_a_raise_of_one_limit_leaves_the_other() -> None:
    budget = Budget(token_budget=5, cost_budget_usd=0.5, vanished_tokens=3)
    assert with_limits(budget, None, 0.7) == budget.model_copy(update={"cost_budget_usd": 0.7})
    assert with_limits(budget, 9, None) == budget.model_copy(update={"token_budget": 9})


def test_a_lease_covers_its_hour_and_no_other() -> None:
    hour = hour_of(NOW)
    lease = Lease(hour=hour, granted=20_000).charged(15_000)
    assert tokens_missing(lease, hour, 5_000) == 0
    assert tokens_missing(lease, hour, 7_000) == 2_000
    assert tokens_missing(lease, hour + 1, 7_000) == 7_000
    assert tokens_missing(None, hour, 7_000) == 7_000
    assert end_of(hour) == datetime(2026, 5, 1, 13, tzinfo=UTC)
    assert end_of(day_of(NOW), of_day=True) == datetime(2026, 5, 2, tzinfo=UTC)


def test_a_chunk_is_granted_then_what_is_needed_then_nothing() -> None:
    assert grant_size(100_000, 5_000) == CHUNK_TOKENS
    assert grant_size(100_000, 30_000) == 30_000
    assert grant_size(10_000, 5_000) == 5_000
    assert grant_size(4_000, 5_000) is None


def test_a_lease_is_extended_within_its_hour_and_begun_anew_in_the_next() -> None:
    lease = Lease(hour=5, granted=10, used=7)
    assert with_grant(lease, LeaseChange("t", 5, 20)) == Lease(hour=5, granted=30, used=7)
    assert with_grant(lease, LeaseChange("t", 6, 20)) == Lease(hour=6, granted=20)
    assert with_grant(lease, LeaseChange("t", 5, 20, share=3)) == Lease(hour=5, granted=30, used=7, share=3)
    assert with_grant(lease, None) == lease


@given(limit=st.integers(1, 200_000), needs=st.lists(st.integers(1, 60_000), max_size=40))
def test_the_hour_never_grants_more_than_its_limit_and_wastes_at_most_what_does_not_fit(
    limit: int, needs: list[int]
) -> None:
    granted = 0
    for needed in needs:
        size = grant_size(limit - granted, needed)
        if size is None:
            assert granted + needed > limit
        else:
            assert size >= needed
            granted += size
    assert granted <= limit

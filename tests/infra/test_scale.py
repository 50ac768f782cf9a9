"""Acta's own limits come after those that AWS and the model providers raise on request."""

from pathlib import Path

import pytest

from docs.quotas import QUOTAS
from docs.scale import Workload, break_even, ceilings, costs_of_waiting, waiting

A_MILLION = 1_000_000


def test_at_a_million_sessions_a_day_no_limit_of_acta_is_reached_and_a_provider_s_comes_first() -> None:
    of = Workload()
    broken = sorted(
        (one for one in ceilings(of) if one.breaks_at(of.peak) < A_MILLION and one.whose != "AWS"),
        key=lambda one: one.breaks_at(of.peak),
    )
    assert {one.whose for one in broken} == {"provider"}


def test_a_few_sessions_wait_for_nothing_and_many_pay_for_instances() -> None:
    of = Workload(model_calls=50, model_seconds=5)
    few, even, many = (waiting(of, each) for each in (100, break_even(of), A_MILLION))
    assert few.on_lambda < few.on_instances / 50
    assert even.on_lambda == pytest.approx(even.on_instances)
    assert many.on_instances < many.on_lambda / 3
    page = Path(__file__).parents[2] / "docs" / "costs.md"
    assert "\n".join(costs_of_waiting(of)) in page.read_text(encoding="utf-8")


def test_every_quota_says_where_it_was_read_and_when() -> None:
    for quota in QUOTAS.values():
        assert quota.source.startswith("https://")
        assert quota.read_on.startswith("20")
        assert quota.large >= quota.other > 0

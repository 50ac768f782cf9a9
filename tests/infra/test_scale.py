"""Acta's own limits come after those that AWS and the model providers raise on request."""

from docs.quotas import QUOTAS
from docs.scale import Workload, ceilings

A_MILLION = 1_000_000


def test_at_a_million_sessions_a_day_no_limit_of_acta_is_reached_and_a_provider_s_comes_first() -> None:
    of = Workload()
    broken = sorted(
        (one for one in ceilings(of) if one.breaks_at(of.peak) < A_MILLION and one.whose != "AWS"),
        key=lambda one: one.breaks_at(of.peak),
    )
    assert {one.whose for one in broken} == {"provider"}


def test_every_quota_says_where_it_was_read_and_when() -> None:
    for quota in QUOTAS.values():
        assert quota.source.startswith("https://")
        assert quota.read_on.startswith("20")
        assert quota.large >= quota.other > 0

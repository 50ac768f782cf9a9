"""docs/scale.md and its picture are what `make scale` computes, and Acta's own ceilings come after the provider's."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from functions.recover.dependencies import THREADS
from infra.scale import ceilings as computed
from infra.scale.ceilings import ceilings, ceilings_before
from infra.scale.chart import svg
from infra.scale.page import tables, within
from infra.scale.quotas import QUOTAS
from infra.scale.workload import Workload
from shared.agent.recovery import sweep
from shared.agent.recovery.admit_one import Sharing
from shared.agent.recovery.pace import SESSIONS_PER_SECOND

DOCS = Path(__file__).parents[2] / "docs"
A_MILLION = 1_000_000


def test_the_page_has_the_tables_that_the_command_prints() -> None:
    page = (DOCS / "scale.md").read_text(encoding="utf-8")
    assert within(page, tables(Workload())) == page


def test_the_picture_is_the_one_that_the_command_draws() -> None:
    drawn = svg(Workload())
    assert (DOCS / "scale.svg").read_text(encoding="utf-8") == drawn
    assert ElementTree.fromstring(drawn).tag.endswith("svg")


def test_at_a_million_a_day_no_ceiling_of_acta_is_met_and_a_provider_s_is_once_aws_has_raised_its_quotas() -> (
    None
):
    broken = [one for one in ceilings(Workload()) if one.sessions < A_MILLION]
    assert "Acta" not in {one.whose for one in broken}
    assert [one.whose for one in broken if one.whose != "AWS"][:1] == ["provider"]


def test_no_ceiling_is_lower_than_it_was() -> None:
    before = {one.what: one.sessions for one in ceilings_before(Workload())}
    for one in ceilings(Workload()):
        assert one.sessions >= before.get(one.what, 0)


def test_a_ceiling_breaks_where_the_busiest_minute_needs_all_of_it() -> None:
    for one in ceilings(Workload()):
        assert one.used(one.sessions) == pytest.approx(1)
        assert one.need * one.sessions / 86_400 * one.peak == pytest.approx(one.limit)


def test_twice_the_peak_halves_each_and_a_large_region_breaks_later() -> None:
    usual = {one.what: one.sessions for one in ceilings(Workload())}
    for one in ceilings(Workload(peak=6)):
        assert one.sessions == pytest.approx(usual[one.what] / 2)
    large = {one.what: one.sessions for one in ceilings(Workload(region="us-east-1"))}
    assert all(large[what] >= usual[what] for what in usual)
    assert large != usual


def test_every_quota_says_where_it_was_read_and_when() -> None:
    for quota in QUOTAS.values():
        assert quota.source.startswith("https://")
        assert quota.read_on.startswith("20")
        assert quota.large >= quota.other > 0


def test_the_limits_of_the_code_are_those_that_are_computed_with() -> None:
    assert computed.MOST_LISTED == sweep.MOST_LISTED
    assert Sharing().batch == computed.BATCH
    assert computed.PACE == SESSIONS_PER_SECOND
    assert computed.THREADS == THREADS


def test_the_dispatcher_of_a_line_keeps_up_with_a_large_key_where_the_region_allows_the_starts() -> None:
    assert computed.admissions("us-east-1") == 12_000 > QUOTAS["ModelRequests"].large
    assert computed.admissions("eu-central-1") == 6_000

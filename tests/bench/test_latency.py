"""Percentiles of what was measured: a share of the values does not exceed them."""

import pytest

from tests.bench.figures.latency import figures, percentile
from tests.bench.stand.stand import RunFailed


def test_a_percentile_is_a_value_that_was_measured() -> None:
    ordered = [float(value) for value in range(1, 101)]
    assert (percentile(ordered, 50), percentile(ordered, 95), percentile(ordered, 99)) == (50.0, 95.0, 99.0)
    assert percentile([7.0], 50) == 7.0
    assert percentile([1.0, 9.0], 95) == 9.0


def test_the_figures_do_not_depend_on_the_order_of_what_was_measured() -> None:
    told = figures([30.0, 10.0, 20.0])
    assert (told["commits"], told["ms_50"], told["ms_most"]) == (3, 20.0, 30.0)


def test_a_measurement_without_a_commit_is_none() -> None:
    with pytest.raises(RunFailed):
        figures([])

"""Beside its scan recovery measures the load, by the schedule's event alone, and writes down what the scan did. It goes
on whatever becomes of either."""

from datetime import datetime
from typing import Any

import pytest

from functions.recover.dependencies import Dependencies
from functions.recover.handler import recover_what_it_says
from shared.adapters.aws.execution_events import StatusChanges
from shared.domain.errors import StoreThrottled
from shared.domain.rules.long_polls import LongPolls
from shared.ports.deployment.recovery_scans import RecoveryScan, Tally
from shared.ports.load import LoadMeter
from tests.doubles.long_polls import MemoryLongPolls, SetLoad
from tests.doubles.recovery_scans import MemoryRecoveryScans
from tests.integration.agent.fragile import GRACE, SCRIPT, WARN, FragileHouse
from tests.unit.api.gateway import Context


class Throttled:
    def load(self, now: datetime) -> float | None:
        raise StoreThrottled("get_metric_data")


def recovered(
    house: FragileHouse,
    limits: MemoryLongPolls,
    load: LoadMeter | None,
    event: Any,
    scans: MemoryRecoveryScans | None = None,
) -> int:
    """How many sessions went on in a new execution."""
    deps = Dependencies(
        house.fresh_repository(),
        house.index,
        house.workflow,
        StatusChanges(),
        grace=GRACE,
        warn=WARN,
        unreadable=house.unreadable,
        log=house.log,
        blobs=house.blobs,
        clock=house.clock,
        erase_again_after=GRACE,
        long_polls=limits,
        load=load,
        scans=scans or MemoryRecoveryScans(),
    )
    restarted: int = recover_what_it_says(deps, event, Context())["restarted"]
    return restarted


def lost() -> FragileHouse:
    house = FragileHouse(SCRIPT)
    session = house.start("Tidy up").session_id
    house.run_until("think")
    house.lose(session)
    house.clock.advance(2 * GRACE)
    return house


def test_each_minute_s_scan_measures_and_recovers() -> None:
    house, limits = lost(), MemoryLongPolls()
    assert recovered(house, limits, SetLoad(0.7), {}) == 1
    assert limits.get(house.clock.now()) == LongPolls(0.5)


def test_a_measure_that_fails_keeps_no_session_from_going_on() -> None:
    house, limits = lost(), MemoryLongPolls()
    assert recovered(house, limits, Throttled(), {}) == 1
    assert limits.puts == 0


def test_an_operator_s_repair_measures_nothing() -> None:
    house, limits = lost(), MemoryLongPolls()
    assert recovered(house, limits, SetLoad(0.9), {"repair": True}) == 1
    assert limits.puts == 0


def test_where_nothing_is_measured_recovery_is_as_ever() -> None:
    assert recovered(lost(), MemoryLongPolls(), None, {}) == 1


@pytest.mark.parametrize("event", [{}, {"repair": True}])
def test_what_a_scan_did_is_written_down_with_when_it_ended(event: Any) -> None:
    house, scans = lost(), MemoryRecoveryScans()
    assert recovered(house, MemoryLongPolls(), None, event, scans) == 1
    assert scans.last() == RecoveryScan(house.clock.now(), Tally(looked=1, restarted=1))


def test_what_cannot_be_written_down_keeps_no_session_from_going_on() -> None:
    scans = MemoryRecoveryScans()
    scans.failure = StoreThrottled("put_item")
    assert recovered(lost(), MemoryLongPolls(), None, {}, scans) == 1
    assert scans.last() is None

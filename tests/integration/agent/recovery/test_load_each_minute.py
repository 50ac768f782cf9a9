"""The load is measured by the schedule's event alone, and recovery goes on whatever becomes of it."""

from datetime import datetime
from typing import Any

from functions.recover.dependencies import Dependencies
from functions.recover.handler import recover_what_it_says
from shared.adapters.aws.execution_events import StatusChanges
from shared.domain.errors import StoreThrottled
from shared.domain.rules.long_polls import LongPolls
from shared.ports.load import LoadMeter
from tests.doubles.long_polls import MemoryLongPolls, SetLoad
from tests.integration.agent.fragile import GRACE, SCRIPT, WARN, FragileHouse
from tests.unit.api.gateway import Context


class Throttled:
    def load(self, now: datetime) -> float | None:
        raise StoreThrottled("get_metric_data")


def recovered(house: FragileHouse, limits: MemoryLongPolls, load: LoadMeter | None, event: Any) -> int:
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

"""Each round of a minute does its own part alone, and writes down what it did. It goes on whatever becomes of that."""

from datetime import datetime
from typing import Any

import pytest

from acta.engine.errors import Refused, StoreThrottled
from acta.engine.limits.store import LoadMeter, LongPolls
from acta.engine.recovery.store import ROUNDS, RoundCounts, RoundResult
from tests.api.gateway import Context
from tests.doubles.long_polls import MemoryLongPolls, SetLoad
from tests.doubles.recovery_scans import MemoryRecoveryScans
from tests.runs.fragile import GRACE, SCRIPT, FragileHouse


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
    given = {} if scans is None else {"scans": scans}
    recovery = house.recovery(long_polls=limits, load=load, **given)
    restarted: int = recovery.handle(event, Context())["restarted"]
    return restarted


def lost() -> FragileHouse:
    house = FragileHouse(SCRIPT, erase_again_seconds=GRACE)
    session = house.start("Tidy up").session_id
    house.run_until("think")
    house.lose(session)
    house.clock.advance(2 * GRACE)
    return house


def test_housekeeping_measures_and_looks_at_no_session() -> None:
    house, limits = lost(), MemoryLongPolls()
    assert recovered(house, limits, SetLoad(0.7), {"round": "housekeeping"}) == 0
    assert limits.get(house.clock.now()) == LongPolls(0.5)


def test_a_measure_that_fails_keeps_nothing_from_being_erased() -> None:
    house, limits, scans = lost(), MemoryLongPolls(), MemoryRecoveryScans()
    gone = house.start("Tidy up").session_id
    house.delete(gone)
    house.clock.advance(2 * GRACE)
    assert recovered(house, limits, Throttled(), {"round": "housekeeping"}, scans) == 0
    assert limits.puts == 0
    assert house.index.erasures(before=None, limit=9, cursor=None).sessions == ()
    assert set(scans.last()) == {"housekeeping"}


def test_an_operator_s_repair_measures_nothing_and_is_no_round() -> None:
    house, limits, scans = lost(), MemoryLongPolls(), MemoryRecoveryScans()
    assert recovered(house, limits, SetLoad(0.9), {"repair": True}, scans) == 1
    assert limits.puts == 0
    assert scans.last() == {}


def test_what_a_round_did_is_written_down_with_when_it_ended() -> None:
    house, scans = lost(), MemoryRecoveryScans()
    assert recovered(house, MemoryLongPolls(), None, {"round": "due"}, scans) == 1
    assert recovered(house, MemoryLongPolls(), None, {"round": "woken"}, scans) == 0
    now = house.clock.now()
    assert scans.last() == {
        "due": RoundResult(now, RoundCounts(looked=1, restarted=1)),
        "woken": RoundResult(now, RoundCounts()),
    }


def test_each_round_that_ends_is_counted_for_its_alarm(caplog: pytest.LogCaptureFixture) -> None:
    for round in ROUNDS:
        recovered(lost(), MemoryLongPolls(), None, {"round": round})
    lines = [vars(record) for record in caplog.records if hasattr(record, "RecoveryRounds")]
    assert [(line["round"], line["RecoveryRounds"]) for line in lines] == [(round, 1) for round in ROUNDS]
    for line in lines:
        (written,) = line["_aws"]["CloudWatchMetrics"]
        assert written["Dimensions"] == [["round"]]


@pytest.mark.parametrize("event", [{}, {"round": "of drinks"}, {"repair": False}])
def test_an_event_that_nobody_sends_is_refused(event: Any) -> None:
    with pytest.raises(Refused):
        recovered(lost(), MemoryLongPolls(), None, event)


def test_what_cannot_be_written_down_keeps_no_session_from_going_on() -> None:
    scans = MemoryRecoveryScans()
    scans.failure = StoreThrottled("put_item")
    assert recovered(lost(), MemoryLongPolls(), None, {"round": "due"}, scans) == 1
    assert scans.last() == {}

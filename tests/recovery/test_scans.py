"""The last scan of each of recovery's rounds, and where its housekeeping goes on: for the whole deployment."""

from datetime import timedelta

import pytest

from acta_engine.recovery.dynamodb import NUMBERS, DynamoRecoveryScans
from acta_engine.recovery.store import (
    LATE_AFTER,
    ROUNDS,
    EndedPlace,
    Place,
    RecoveryScan,
    RecoveryScans,
    Round,
    Tally,
    is_late,
    together,
)
from tests.doubles.recovery_scans import MemoryRecoveryScans
from tests.stores.backends import Aws
from tests.stores.documents import NOW

pytestmark = pytest.mark.contract


@pytest.fixture(params=["memory", "moto"])
def scans(request: pytest.FixtureRequest) -> RecoveryScans:
    if request.param == "memory":
        return MemoryRecoveryScans()
    account: Aws = request.getfixturevalue("moto_account")
    account.dynamodb.delete_item(TableName=account.table, Key={"pk": {"S": "D"}, "sk": {"S": "R"}})
    return DynamoRecoveryScans(account.table, account.dynamodb)


def test_the_last_scan_of_each_round_stays_beside_those_of_the_others(scans: RecoveryScans) -> None:
    assert scans.last() == {}
    expected: dict[Round, RecoveryScan] = {}
    for minute, tally in enumerate((Tally(*range(1, 10)), Tally())):
        for seconds, round in enumerate(ROUNDS):
            expected[round] = RecoveryScan(NOW + timedelta(minutes=minute, seconds=seconds), tally)
            scans.put(round, expected[round])
            assert scans.last() == expected


@pytest.mark.parametrize(
    "place",
    [Place("e", EndedPlace(29_000_000, "c")), Place(None, EndedPlace(29_000_001)), Place("e"), Place()],
)
def test_housekeeping_finds_the_place_where_it_stopped(scans: RecoveryScans, place: Place) -> None:
    assert scans.place() == Place()
    scans.put_place(Place("before", EndedPlace(1, "before")))
    scans.put("due", RecoveryScan(NOW, Tally()))
    scans.put_place(place)
    assert scans.place() == place


def test_every_number_is_stored() -> None:
    assert set(NUMBERS) == set(Tally._fields)
    assert len(set(NUMBERS.values())) == len(NUMBERS)


def test_all_rounds_together_are_as_old_as_the_oldest() -> None:
    due = RecoveryScan(NOW, Tally(looked=2, restarted=1))
    woken = RecoveryScan(NOW + timedelta(seconds=5), Tally(looked=1, woken=1))
    assert together({"due": due, "woken": woken}) is None
    both = together({"woken": woken, "due": due, "housekeeping": RecoveryScan(woken.ended_at, Tally())})
    assert both == RecoveryScan(NOW, Tally(looked=3, restarted=1, woken=1))


def test_it_is_late_once_two_are_missing_and_where_there_was_none() -> None:
    scan = RecoveryScan(NOW, Tally())
    assert not is_late(scan, NOW + LATE_AFTER)
    assert is_late(scan, NOW + LATE_AFTER + timedelta(seconds=1))
    assert is_late(None, NOW)

"""The last scan of each of recovery's rounds, and where its housekeeping goes on: for the whole deployment."""

from datetime import timedelta

import pytest

from acta.engine.recovery.aws import NUMBERS, DynamoRecoveryScans
from acta.engine.recovery.store import (
    LATE_AFTER,
    ROUNDS,
    EndedPlace,
    HousekeepingPlace,
    RecoveryScans,
    Round,
    RoundCounts,
    RoundResult,
    is_late,
    together,
)
from tests.stores.backends import Aws
from tests.stores.documents import NOW

pytestmark = pytest.mark.contract


@pytest.fixture
def scans(account: Aws) -> RecoveryScans:
    account.dynamodb.delete_item(TableName=account.table, Key={"pk": {"S": "D"}, "sk": {"S": "R"}})
    return DynamoRecoveryScans(account.table, account.dynamodb)


def test_the_last_scan_of_each_round_stays_beside_those_of_the_others(scans: RecoveryScans) -> None:
    assert scans.last() == {}
    expected: dict[Round, RoundResult] = {}
    for minute, tally in enumerate((RoundCounts(*range(1, 10)), RoundCounts())):
        for seconds, round in enumerate(ROUNDS):
            expected[round] = RoundResult(NOW + timedelta(minutes=minute, seconds=seconds), tally)
            scans.put(round, expected[round])
            assert scans.last() == expected


@pytest.mark.parametrize(
    "place",
    [
        HousekeepingPlace("e", EndedPlace(29_000_000, "c")),
        HousekeepingPlace(None, EndedPlace(29_000_001)),
        HousekeepingPlace("e"),
        HousekeepingPlace(),
    ],
)
def test_housekeeping_finds_the_place_where_it_stopped(
    scans: RecoveryScans, place: HousekeepingPlace
) -> None:
    assert scans.place() == HousekeepingPlace()
    scans.put_place(HousekeepingPlace("before", EndedPlace(1, "before")))
    scans.put("due", RoundResult(NOW, RoundCounts()))
    scans.put_place(place)
    assert scans.place() == place


def test_every_number_is_stored() -> None:
    assert set(NUMBERS) == set(RoundCounts._fields)
    assert len(set(NUMBERS.values())) == len(NUMBERS)


def test_all_rounds_together_are_as_old_as_the_oldest() -> None:
    due = RoundResult(NOW, RoundCounts(looked=2, restarted=1))
    woken = RoundResult(NOW + timedelta(seconds=5), RoundCounts(looked=1, woken=1))
    assert together({"due": due, "woken": woken}) is None
    rest = RoundResult(woken.ended_at, RoundCounts())
    both = together({"woken": woken, "due": due, "events": rest, "timed": rest, "housekeeping": rest})
    assert both == RoundResult(NOW, RoundCounts(looked=3, restarted=1, woken=1))


def test_it_is_late_once_two_are_missing_and_where_there_was_none() -> None:
    scan = RoundResult(NOW, RoundCounts())
    assert not is_late(scan, NOW + LATE_AFTER)
    assert is_late(scan, NOW + LATE_AFTER + timedelta(seconds=1))
    assert is_late(None, NOW)

"""The last scan of recovery: one for the deployment, the newest that was put."""

from datetime import timedelta

import pytest

from shared.adapters.dynamodb.deployment.recovery_scans import NUMBERS, DynamoRecoveryScans
from shared.ports.deployment.recovery_scans import LATE_AFTER, RecoveryScan, RecoveryScans, Tally, is_late
from tests.contracts.store.backends import Aws
from tests.contracts.store.documents import NOW
from tests.doubles.recovery_scans import MemoryRecoveryScans

pytestmark = pytest.mark.contract


@pytest.fixture(params=["memory", "moto"])
def scans(request: pytest.FixtureRequest) -> RecoveryScans:
    if request.param == "memory":
        return MemoryRecoveryScans()
    account: Aws = request.getfixturevalue("moto_account")
    account.dynamodb.delete_item(TableName=account.table, Key={"pk": {"S": "D"}, "sk": {"S": "R"}})
    return DynamoRecoveryScans(account.table, account.dynamodb)


def test_there_is_none_until_one_is_put_and_the_last_one_stays(scans: RecoveryScans) -> None:
    assert scans.last() is None
    for minute, tally in enumerate((Tally(*range(1, 10)), Tally())):
        scan = RecoveryScan(NOW + timedelta(minutes=minute), tally)
        scans.put(scan)
        assert scans.last() == scan


def test_every_number_is_stored() -> None:
    assert set(NUMBERS) == set(Tally._fields)
    assert len(set(NUMBERS.values())) == len(NUMBERS)


def test_it_is_late_once_two_are_missing_and_where_there_was_none() -> None:
    scan = RecoveryScan(NOW, Tally())
    assert not is_late(scan, NOW + LATE_AFTER)
    assert is_late(scan, NOW + LATE_AFTER + timedelta(seconds=1))
    assert is_late(None, NOW)

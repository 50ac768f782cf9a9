"""Shares of a tenant's rate: nobody gets the same twice, and a window that has begun is never gone back to (ADR 65)."""

from uuid import uuid4

import pytest

from acta.engine.limits.dynamodb import DynamoRateLeases
from acta.engine.limits.store import RateLeases, RequestNumbers
from tests.stores.backends import Aws

pytestmark = pytest.mark.contract


@pytest.fixture
def leases(account: Aws) -> RateLeases:
    return DynamoRateLeases(account.table, account.dynamodb)


@pytest.fixture
def tenant() -> str:
    return f"tenant-{uuid4().hex}"


def test_requests_are_numbered_from_0_in_each_window_and_taken_once(leases: RateLeases, tenant: str) -> None:
    assert leases.take(tenant, 7, 10) == RequestNumbers(7, 0)
    assert leases.take(tenant, 7, 1) == RequestNumbers(7, 10)
    assert leases.take(tenant, 8, 5) == RequestNumbers(8, 0)
    assert leases.take(tenant, 99, 5) == RequestNumbers(99, 0)


def test_who_is_behind_takes_from_the_newest_window(leases: RateLeases, tenant: str) -> None:
    leases.take(tenant, 8, 5)
    assert leases.take(tenant, 7, 2) == RequestNumbers(8, 5)


def test_tenants_take_from_their_own(leases: RateLeases, tenant: str) -> None:
    leases.take(tenant, 7, 10)
    assert leases.take(f"{tenant}-other", 7, 10) == RequestNumbers(7, 0)


def test_no_more_places_are_held_than_there_are(leases: RateLeases, tenant: str) -> None:
    assert [leases.hold(tenant, 7, 3, renews=False) for _ in range(5)] == [True, True, True, False, False]


def test_a_place_counts_in_its_window_and_the_next(leases: RateLeases, tenant: str) -> None:
    for _ in range(2):
        assert leases.hold(tenant, 7, 2, renews=False)
    assert not leases.hold(tenant, 8, 2, renews=False)
    assert leases.hold(tenant, 9, 2, renews=False)
    assert leases.hold(tenant, 9, 2, renews=False)
    assert not leases.hold(tenant, 9, 2, renews=False)


def test_a_place_that_is_renewed_stays_and_one_that_is_not_comes_free(
    leases: RateLeases, tenant: str
) -> None:
    for _ in range(3):
        assert leases.hold(tenant, 7, 3, renews=False)
    assert leases.hold(tenant, 8, 3, renews=True)
    assert leases.hold(tenant, 8, 3, renews=True)
    assert not leases.hold(tenant, 8, 3, renews=False)
    assert leases.hold(tenant, 9, 3, renews=True)
    assert leases.hold(tenant, 9, 3, renews=False), "the third was not renewed"
    assert not leases.hold(tenant, 9, 3, renews=False)


def test_who_renews_is_before_who_is_new(leases: RateLeases, tenant: str) -> None:
    assert leases.hold(tenant, 7, 1, renews=False)
    assert not leases.hold(tenant, 8, 1, renews=False)
    assert leases.hold(tenant, 8, 1, renews=True)


def test_a_window_that_is_over_has_no_place(leases: RateLeases, tenant: str) -> None:
    assert leases.hold(tenant, 9, 5, renews=False)
    assert not leases.hold(tenant, 8, 5, renews=False)


def test_after_a_quiet_time_all_places_are_free(leases: RateLeases, tenant: str) -> None:
    for _ in range(2):
        leases.hold(tenant, 7, 2, renews=False)
    assert [leases.hold(tenant, 70, 2, renews=False) for _ in range(3)] == [True, True, False]

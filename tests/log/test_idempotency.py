"""Idempotency keys: their record is in the transaction of the commit it protects."""

import pytest

from acta.engine.log.store import IndexEntry, KeyTaken, NumberTaken, TransactionItems
from tests.stores.backends import Stores
from tests.stores.documents import ROUTE, make_commit, record_for

pytestmark = pytest.mark.contract


@pytest.mark.parametrize("commit", [None, 1, 9_999])
def test_a_used_idempotency_key_keeps_the_commit_out(stores: Stores, tenant: str, commit: int | None) -> None:
    """`commit` None: a record about a definition, or of a release before records named their commit."""
    record = record_for(stores.clock, tenant, commit=commit)
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(idempotency=record))

    with pytest.raises(KeyTaken):
        stores.log.append(
            make_commit(tenant, "ses_2", 1),
            TransactionItems(
                IndexEntry(tenant, "ses_2", "a", "active"), (), record._replace(body_hash="other")
            ),
        )

    assert stores.log.latest(tenant, "ses_2") is None
    assert stores.index.idempotency_record(tenant, ROUTE, "k") == record


def test_a_repeated_transaction_fails_by_its_number_first(stores: Stores, tenant: str) -> None:
    """So that its writer reads the log again, where its own commit is."""
    commit, extra_items = (
        make_commit(tenant, "ses_1", 1),
        TransactionItems(idempotency=record_for(stores.clock, tenant)),
    )
    stores.log.append(commit, extra_items)

    with pytest.raises(NumberTaken):
        stores.log.append(make_commit(tenant, "ses_1", 1, commit.key, delivered=("m",)), extra_items)

    assert stores.log.latest(tenant, "ses_1") == commit


def test_an_idempotency_key_can_be_used_again_after_its_time(stores: Stores, tenant: str) -> None:
    stores.log.append(
        make_commit(tenant, "ses_1", 1), TransactionItems(idempotency=record_for(stores.clock, tenant))
    )
    stores.clock.advance(24 * 3_600 + 1)
    assert stores.index.idempotency_record(tenant, ROUTE, "k") is None

    again = record_for(stores.clock, tenant, body_hash="new")
    stores.log.append(make_commit(tenant, "ses_2", 1), TransactionItems(idempotency=again))

    assert stores.index.idempotency_record(tenant, ROUTE, "k") == again


def test_a_path_of_any_length_fits_into_a_records_key(stores: Stores, tenant: str) -> None:
    """A request line has up to 8 KB; a session's id in it is whatever the caller sent."""
    longest = f"POST /v1/sessions/{'x' * 8_000}/messages"
    assert stores.index.idempotency_record(tenant, longest, "k") is None

    record = record_for(stores.clock, tenant)._replace(route=longest)
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(idempotency=record))

    assert stores.index.idempotency_record(tenant, longest, "k") == record
    assert stores.index.idempotency_record(tenant, longest.replace("xx", "xy", 1), "k") is None

"""A tenant's counts change with the commit that they count, or not at all; and no limit is passed by one (ADR 65)."""

from datetime import timedelta
from typing import Any

import pytest

from acta.engine.errors import LimitReached, TooManyOpenSessions
from acta.engine.limits.tenant_limits import Start, TenantCounts, minute_of
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.log.store import IndexEntry, KeyTaken, NumberTaken, Places, SessionLog, TransactionItems
from tests.stores.backends import Aws, Stores, aws_stores
from tests.stores.documents import ROUTE, make_commit

pytestmark = pytest.mark.contract


def begin(
    stores: Stores,
    tenant: str,
    session_id: str,
    *,
    starts: int | None = None,
    most_open: int | None = None,
    log: SessionLog | None = None,
    minutes: int = 0,
    record: IdempotencyRecord | None = None,
) -> None:
    """The first commit of an open session. `minutes`: by which the worker's clock is ahead."""
    start = Start(minute_of(stores.clock.now()) + minutes, starts, most_open)
    listing = IndexEntry(tenant, session_id, "default", "active", counted=True)
    items = TransactionItems(listing, idempotency=record, places=Places(tenant, 1, start))
    (log or stores.log).append(make_commit(tenant, session_id, 1), items)


def end(stores: Stores, tenant: str, session_id: str, number: int = 2) -> None:
    listing = IndexEntry(tenant, session_id, "default", "completed")
    items = TransactionItems(listing, places=Places(tenant, -1))
    stores.log.append(make_commit(tenant, session_id, number), items)


def opened(stores: Stores, tenant: str) -> int:
    return stores.index.counts(tenant).open


def test_a_tenant_without_commits_has_nothing(stores: Stores, tenant: str) -> None:
    assert stores.index.counts(tenant) == TenantCounts()


def test_who_starts_and_ends_is_counted_by_whichever_worker(stores: Stores, tenant: str) -> None:
    minute = minute_of(stores.clock.now())
    begin(stores, tenant, "a", starts=9)
    begin(stores, tenant, "b", starts=9, log=stores.other_log)
    begin(stores, tenant, "c", starts=9)
    assert stores.index.counts(tenant) == TenantCounts(3, minute, 3)
    end(stores, tenant, "b")
    assert stores.index.counts(tenant) == TenantCounts(2, minute, 3)


def test_a_start_too_many_in_a_minute_writes_nothing(stores: Stores, tenant: str) -> None:
    for name in ("a", "b"):
        begin(stores, tenant, name, starts=2)
    for log in (stores.log, stores.other_log):
        with pytest.raises(LimitReached) as refused:
            begin(stores, tenant, "c", starts=2, log=log)
        assert 1 <= refused.value.retry_after <= 60
        assert refused.value.quota == ("starts", 2, 60)
    assert stores.log.latest(tenant, "c") is None
    page = stores.index.sessions(tenant, states=(), agent_id=None, limit=9, cursor=None)
    assert [entry.session_id for entry in page.entries] == ["b", "a"]
    assert opened(stores, tenant) == 2


def test_the_next_minute_begins_anew_for_workers_that_know_the_last_and_for_others(
    stores: Stores, tenant: str
) -> None:
    begin(stores, tenant, "a", starts=1)
    stores.clock.advance(60)
    begin(stores, tenant, "b", starts=1)
    with pytest.raises(LimitReached):
        begin(stores, tenant, "c", starts=1, log=stores.other_log)
    stores.clock.advance(600)
    begin(stores, tenant, "d", starts=1, log=stores.other_log)
    with pytest.raises(LimitReached):
        begin(stores, tenant, "e", starts=1)
    assert stores.index.counts(tenant).starts == 1


def test_a_clock_that_is_behind_counts_in_the_newest_minute(stores: Stores, tenant: str) -> None:
    begin(stores, tenant, "a", starts=2, minutes=1)
    begin(stores, tenant, "b", starts=2, log=stores.other_log)
    with pytest.raises(LimitReached) as refused:
        begin(stores, tenant, "c", starts=2)
    assert refused.value.retry_after > 60
    assert stores.index.counts(tenant) == TenantCounts(2, minute_of(stores.clock.now()) + 1, 2)


def test_an_open_session_too_many_writes_nothing_and_one_that_ends_makes_room(
    stores: Stores, tenant: str
) -> None:
    begin(stores, tenant, "a", most_open=1)
    with pytest.raises(TooManyOpenSessions) as refused:
        begin(stores, tenant, "b", most_open=1, log=stores.other_log)
    assert refused.value.quota == ("open-sessions", 1, None)
    end(stores, tenant, "a")
    begin(stores, tenant, "b", most_open=1)
    assert opened(stores, tenant) == 1


def test_both_limits_hold_at_once(stores: Stores, tenant: str) -> None:
    begin(stores, tenant, "a", starts=2, most_open=1)
    with pytest.raises(TooManyOpenSessions):
        begin(stores, tenant, "b", starts=2, most_open=1)
    end(stores, tenant, "a")
    begin(stores, tenant, "b", starts=2, most_open=1)
    end(stores, tenant, "b")
    with pytest.raises(LimitReached) as refused:
        begin(stores, tenant, "c", starts=2, most_open=1)
    assert refused.value.code == "RATE_LIMITED"
    assert stores.index.counts(tenant).open == 0


def test_what_is_no_start_is_refused_for_no_limit(stores: Stores, tenant: str) -> None:
    begin(stores, tenant, "a", most_open=1)
    again = TransactionItems(
        IndexEntry(tenant, "b", "default", "active", counted=True), places=Places(tenant, 1)
    )
    stores.log.append(make_commit(tenant, "b", 1), again)
    assert opened(stores, tenant) == 2


def test_a_commit_that_loses_its_number_counts_nothing(stores: Stores, tenant: str) -> None:
    begin(stores, tenant, "a", starts=5)
    with pytest.raises(NumberTaken):
        begin(stores, tenant, "a", starts=5)
    end(stores, tenant, "a")
    with pytest.raises(NumberTaken):
        end(stores, tenant, "a")
    assert stores.index.counts(tenant)._replace(minute=0) == TenantCounts(0, 0, 1)


def test_who_repeats_a_request_is_told_so_and_not_that_the_limit_is_reached(
    stores: Stores, tenant: str
) -> None:
    now = stores.clock.now()
    record = IdempotencyRecord(tenant, ROUTE, "k", "h", 202, {}, now + timedelta(hours=1), 1)
    begin(stores, tenant, "a", starts=1, record=record)
    with pytest.raises(KeyTaken):
        begin(stores, tenant, "b", starts=1, record=record)


def test_counts_are_of_the_commit_s_tenant(stores: Stores, tenant: str) -> None:
    with pytest.raises(ValueError, match="belongs to its tenant"):
        stores.log.append(make_commit(tenant, "a", 1), TransactionItems(places=Places("another", 1)))


def test_a_session_that_cannot_be_read_is_counted_no_longer_once_it_is_deleted(
    stores: Stores, tenant: str
) -> None:
    begin(stores, tenant, "a")
    begin(stores, tenant, "b")
    stores.spoil(tenant, "a", 1)
    for _ in range(2):
        stores.log.delete(tenant, "a")
        assert opened(stores, tenant) == 1


def test_a_session_that_ended_is_not_taken_out_twice(stores: Stores, tenant: str) -> None:
    begin(stores, tenant, "a")
    end(stores, tenant, "a")
    stores.log.delete(tenant, "a")
    assert opened(stores, tenant) == 0


class Watching:
    """A DynamoDB client that keeps what it was asked for."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.transactions: list[list[dict[str, Any]]] = []
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        def call(**request: Any) -> Any:
            if name == "transact_write_items":
                self.transactions.append(request["TransactItems"])
            else:
                self.reads += 1
            return getattr(self._client, name)(**request)

        return call


def test_a_start_costs_one_small_update_more_and_no_read(aws: Aws, tenant: str) -> None:
    """A transaction's write of up to 1 KB is two units."""
    watching = Watching(aws.dynamodb)
    stores = aws_stores(aws._replace(dynamodb=watching))
    begin(stores, tenant, "a", starts=9, most_open=9)
    begin(stores, tenant, "b", starts=9, most_open=9)
    kinds = [[next(iter(action)) for action in actions] for actions in watching.transactions]
    assert kinds == [["Put", "Put", "Update"]] * 2
    assert watching.reads == 0
    (item,) = aws.dynamodb.query(
        TableName=aws.table,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": f"T#{tenant}#=N"}},
    )["Items"]
    assert len(str(item)) < 1_000


def test_a_worker_that_knows_nothing_needs_one_more_try_and_one_read(aws: Aws, tenant: str) -> None:
    begin(aws_stores(aws), tenant, "a", starts=9)
    watching = Watching(aws.dynamodb)
    begin(aws_stores(aws._replace(dynamodb=watching)), tenant, "b", starts=9)
    assert (len(watching.transactions), watching.reads) == (2, 1)

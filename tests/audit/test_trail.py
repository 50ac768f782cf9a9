"""The audit trail is added to and read, newest first; what is there stays as it is (ADR 54)."""

from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import uuid4

import pytest

from acta.engine.audit.record import AuditFilter, AuditRecord, AuditTrail, RecordExists
from acta.engine.audit.trail import FILTERED_LIMIT, QUERIES, DynamoTrail, record_item
from acta.engine.errors import StoreUnavailable
from acta.testing.clock import FakeClock
from tests.stores.backends import Aws, Stores

pytestmark = pytest.mark.contract

ALL = AuditFilter()


class Desk:
    """One trail, and what happens at one tenant's."""

    def __init__(self, trail: AuditTrail) -> None:
        self.trail = trail
        self.tenant = f"tenant-{uuid4().hex}"
        self.clock = FakeClock()

    def begin(self, action: str = "file.write", who: str = "p_ann", **details: str) -> AuditRecord:
        record = self.made(action, who, **details)
        self.trail.put(self.tenant, record)
        return record

    def made(self, action: str, who: str = "p_ann", **details: str) -> AuditRecord:
        self.clock.advance(1)
        return AuditRecord(
            audit_id=self.clock.new_id("aud"),
            at=self.clock.now(),
            who=who,
            roles=("member",),
            source="192.0.2.0/24",
            action=action,
            details=details,
        )

    def end(self, begun: AuditRecord, **details: str) -> AuditRecord:
        ended = begun.model_copy(
            update={
                "outcome": "done",
                "ended_at": self.clock.now(),
                "details": {**begun.details, **details},
            }
        )
        self.trail.put(self.tenant, ended)
        return ended

    def pages(self, wanted: AuditFilter = ALL, limit: int = 100) -> Iterator[list[AuditRecord]]:
        cursor = None
        while True:
            page = self.trail.find(self.tenant, wanted, limit=limit, cursor=cursor)
            yield list(page.records)
            cursor = page.cursor
            if cursor is None:
                return

    def found(self, wanted: AuditFilter = ALL, limit: int = 100) -> list[AuditRecord]:
        return [record for page in self.pages(wanted, limit) for record in page]


@pytest.fixture
def desk(stores: Stores) -> Desk:
    return Desk(stores.trail)


def test_each_request_is_one_record_with_its_end_where_that_is_known(desk: Desk) -> None:
    done = desk.end(desk.begin(path="a.txt"), bytes="3")
    lost = desk.begin(path="b.txt")
    assert desk.found() == [lost, done]
    assert desk.found()[1].details == {"path": "a.txt", "bytes": "3"}


def test_pages_leave_nothing_out_and_nothing_comes_twice(desk: Desk) -> None:
    written = [desk.end(desk.begin()) if number % 3 else desk.begin() for number in range(10)]
    for limit in (1, 2, 3, 9, 10):
        pages = list(desk.pages(limit=limit))
        assert [record for page in pages for record in page] == written[::-1]
        assert {len(page) for page in pages[:-1]} <= {limit}


def test_another_tenant_s_trail_is_another(desk: Desk) -> None:
    desk.begin()
    other = Desk(desk.trail)
    assert other.found() == []
    other.tenant = f"{desk.tenant}x"
    assert other.found() == []


def test_what_is_looked_for_is_found_with_its_beginning_and_its_end_as_one(desk: Desk) -> None:
    begun = desk.begin("session.start", who="p_bob")
    started = desk.end(begun, session_id="ses_1")
    stopped = desk.end(desk.begin("session.cancel", session_id="ses_1"))
    desk.end(desk.begin("session.cancel", session_id="ses_2"))
    assert desk.found(AuditFilter(session_id="ses_1")) == [stopped, started]
    assert desk.found(AuditFilter(who="p_bob")) == [started]
    assert desk.found(AuditFilter(action="session.cancel", session_id="ses_1"), limit=1) == [stopped]
    assert desk.found(AuditFilter(who="p_bob", action="session.cancel")) == []


def test_a_span_has_its_first_moment_and_not_its_last(desk: Desk) -> None:
    first, second, third = (desk.end(desk.begin()) for _ in range(3))
    assert desk.found(AuditFilter(since=first.at, until=third.at)) == [second, first]
    assert desk.found(AuditFilter(since=third.at)) == [third]
    assert desk.found(AuditFilter(until=first.at)) == []
    assert desk.found(AuditFilter(since=third.at, until=first.at)) == []
    first_instant = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=23)))
    last_instant = datetime(9999, 12, 31, 23, 59, 59, 999_999, timezone(-timedelta(hours=23)))
    assert desk.found(AuditFilter(since=first_instant, until=last_instant)) == [third, second, first]
    assert desk.found(AuditFilter(since=last_instant, until=first_instant)) == []


def test_a_cursor_of_another_listing_is_refused(desk: Desk) -> None:
    for _ in range(2):
        desk.begin()
    cursor = desk.trail.find(desk.tenant, ALL, limit=1, cursor=None).cursor
    for tenant, wrong in ((f"{desk.tenant}x", cursor), (desk.tenant, "nonsense")):
        with pytest.raises(ValueError, match="cursor"):
            desk.trail.find(tenant, ALL, limit=1, cursor=wrong)


def test_a_record_that_is_there_stays_as_it_is(desk: Desk) -> None:
    done = desk.end(desk.begin(path="payroll.csv"))
    desk.trail.put(desk.tenant, done)
    forgeries: tuple[dict[str, object], ...] = ({"who": "p_bob"}, {"details": {}}, {"outcome": "refused"})
    for forged in forgeries:
        with pytest.raises(RecordExists):
            desk.trail.put(desk.tenant, done.model_copy(update=forged))
    assert desk.found() == [done]


def item_of(account: Aws, desk: Desk) -> dict[str, Any]:
    (item,) = account.dynamodb.query(
        TableName=account.table,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": f"T#{desk.tenant}"}},
    )["Items"]
    found: dict[str, Any] = item
    return found


def test_records_have_an_end_only_where_the_deployment_says_so(account: Aws) -> None:
    kept = Desk(DynamoTrail(account.table, client=account.dynamodb))
    kept.begin()
    assert "ttl" not in item_of(account, kept)
    forgotten = Desk(DynamoTrail(account.table, 30, account.dynamodb))
    ends = (forgotten.begin().at + timedelta(days=30)).timestamp()
    assert int(item_of(account, forgotten)["ttl"]["N"]) == ends


def test_a_filter_that_finds_little_comes_back_short_and_goes_on(account: Aws) -> None:
    """A page looks at a bounded number of items."""
    desk = Desk(DynamoTrail(account.table, client=account.dynamodb))
    oldest = desk.begin("file.delete")
    later = [desk.made("file.write") for _ in range(QUERIES * FILTERED_LIMIT)]
    items = [record_item(desk.tenant, record, timedelta()) for record in later]
    for start in range(0, len(items), 25):
        puts = [{"PutRequest": {"Item": item}} for item in items[start : start + 25]]
        account.dynamodb.batch_write_item(RequestItems={account.table: puts})
    assert list(desk.pages(AuditFilter(action="file.delete"), limit=10)) == [[], [oldest]]


def test_before_its_variables_come_a_new_function_records_nothing_and_says_so() -> None:
    desk = Desk(DynamoTrail(""))
    with pytest.raises(StoreUnavailable):
        desk.begin()
    with pytest.raises(StoreUnavailable):
        desk.found()

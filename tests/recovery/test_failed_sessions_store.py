"""Sessions that failed are found among everything that is stored, page by page (ADR 46)."""

import pytest

from acta.engine.log.head import CoarseState
from acta.engine.log.store import FailedPage, IndexEntry, SessionName, TransactionItems
from acta.engine.store.schema import CURRENT
from acta.engine.store.table_layout import intervention_item
from tests.stores.backends import Aws, Stores, aws_stores
from tests.stores.documents import make_commit, make_intervention

pytestmark = pytest.mark.contract

STATES: tuple[CoarseState, ...] = ("failed", "active", "completed", "idle", "waiting_for_user", "cancelled")


def pages(stores: Stores, limit: int, cursor: str | None = None) -> list[FailedPage]:
    found = [stores.index.failed(limit=limit, cursor=cursor)]
    while (cursor := found[-1].cursor) is not None:
        found.append(stores.index.failed(limit=limit, cursor=cursor))
    return found


def failed(stores: Stores, *tenants: str, limit: int = 3) -> list[SessionName]:
    """Of these tenants, in an order of the test's: other tests' are there too."""
    found = [each for page in pages(stores, limit) for each in page.sessions if each.tenant in tenants]
    assert len(found) == len(set(found))
    return sorted(found)


def fail(stores: Stores, tenant: str, session_id: str) -> SessionName:
    entry = IndexEntry(tenant, session_id, "a", "failed")
    stores.log.append(make_commit(tenant, session_id, 1), TransactionItems(listing=entry))
    return SessionName(tenant, session_id)


def test_failed_sessions_of_all_tenants_are_found_and_no_others(stores: Stores, tenant: str) -> None:
    other = f"{tenant}#.%2E/é"
    stores.list_quickly(
        [IndexEntry(name, f"ses_{n}", "a", STATES[n % 6]) for name in (tenant, other) for n in range(13)]
    )
    wanted = [SessionName(name, f"ses_{n}") for name in (tenant, other) for n in (0, 12, 6)]
    assert failed(stores, tenant, other) == sorted(wanted)
    assert failed(stores, tenant, other, limit=1_000) == sorted(wanted)


def test_a_name_that_is_too_long_for_a_key_is_found_as_it_is(stores: Stores, tenant: str) -> None:
    long = f"{tenant}-{'long' * 60}"
    names = [fail(stores, long, "ses_1"), fail(stores, tenant, "s" * 300)]
    assert failed(stores, long, tenant) == sorted(names)


def test_a_session_that_goes_on_or_is_deleted_is_found_no_more(stores: Stores, tenant: str) -> None:
    for session_id in ("ses_1", "ses_2", "ses_3"):
        fail(stores, tenant, session_id)
    again = IndexEntry(tenant, "ses_1", "a", "active")
    stores.log.append(make_commit(tenant, "ses_1", 2), TransactionItems(listing=again))
    stores.log.delete(tenant, "ses_3")
    assert failed(stores, tenant) == [SessionName(tenant, "ses_2")]


def test_whoever_uses_a_part_of_a_page_goes_on_after_it(stores: Stores, tenant: str) -> None:
    for n in range(5):
        fail(stores, tenant, f"ses_{n}")
    whole = [each for page in pages(stores, 1_000) for each in page.sessions]
    cursor = stores.index.cursor_after_failed(whole[1])
    assert [each for page in pages(stores, 2, cursor) for each in page.sessions] == whole[2:]
    assert set(failed(stores, tenant)) <= set(whole)


def test_a_cursor_of_another_listing_is_refused(stores: Stores, tenant: str) -> None:
    for cursor in ("x", stores.index.cursor_after_session(tenant, "ses_1")):
        with pytest.raises(ValueError, match="cursor"):
            stores.index.failed(limit=3, cursor=cursor)


def test_what_cannot_be_read_is_counted_and_hides_nothing(account: Aws, tenant: str) -> None:
    stores = aws_stores(account)
    long = f"{tenant}-{'long' * 60}"
    there = fail(stores, tenant, "ses_1")
    for session_id in ("ses_damaged", "ses_newer"):
        fail(stores, long, session_id)
    stores.spoil(long, "ses_damaged", 1)
    stores.set_version(long, "ses_newer", 1, CURRENT + 2)
    stores.list_quickly([IndexEntry(long, "ses_without_commits", "a", "failed")])

    found = pages(stores, 1_000)

    mine = [each for page in found for each in page.sessions if each.tenant in (tenant, long)]
    assert mine == [there]
    assert sum(page.damaged for page in found) >= 3


def test_only_listed_sessions_are_taken_for_failed_ones(account: Aws, tenant: str) -> None:
    stores = aws_stores(account)
    item = intervention_item(tenant, make_intervention("ses_1", "int_1"), CURRENT)
    account.dynamodb.put_item(TableName=account.table, Item={**item, "st": {"S": "failed"}})
    assert failed(stores, tenant) == []


def ended(stores: Stores, tenant: str, limit: int, parts: int) -> set[SessionName]:
    found: set[SessionName] = set()
    for part in range(parts):
        cursor: str | None = None
        while True:
            page = stores.index.ended(part=part, parts=parts, limit=limit, cursor=cursor)
            found |= {each for each in page.sessions if each.tenant == tenant}
            cursor = page.cursor
            if cursor is None:
                break
    return found


def test_sessions_that_ended_are_all_in_some_part(stores: Stores, tenant: str) -> None:
    stores.list_quickly([IndexEntry(tenant, f"ses_{n}", "a", STATES[n % 6]) for n in range(13)])
    wanted = {SessionName(tenant, f"ses_{n}") for n in (0, 2, 5, 6, 8, 11, 12)}
    assert ended(stores, tenant, limit=3, parts=4) == wanted
    assert ended(stores, tenant, limit=1_000, parts=1) == wanted


def test_a_cursor_of_another_part_is_refused(stores: Stores, tenant: str) -> None:
    for session_id in ("ses_1", "ses_2"):
        fail(stores, tenant, session_id)
    cursor = stores.index.ended(part=0, parts=1, limit=1, cursor=None).cursor
    assert cursor is not None
    with pytest.raises(ValueError, match="not a cursor"):
        stores.index.ended(part=1, parts=2, limit=1, cursor=cursor)

"""What is open of a tenant is found by key, however much lies before it."""

import base64

import pytest

from acta.engine.bound_tenant import bound_to
from acta.engine.log.store import IndexEntry, InterventionPage, SessionIndex, TransactionItems
from acta.engine.people.intervention import Intervention
from acta.engine.people.visibility import Viewer
from acta.engine.store import table_layout as items
from tests.stores.backends import Aws, Stores, aws_stores
from tests.stores.documents import make_commit, make_intervention

pytestmark = pytest.mark.contract


def pending(index: SessionIndex, tenant: str, limit: int = 9, cursor: str | None = None) -> InterventionPage:
    return index.interventions(tenant, state="pending", limit=limit, cursor=cursor)


def ids(page: InterventionPage) -> list[str]:
    return [one.intervention_id for one in page.items]


def decided(one: Intervention) -> Intervention:
    return one.model_copy(update={"state": "resolved", "resolution": "approve", "resolved_by": "u"})


def test_a_question_is_found_at_once_behind_a_history_of_any_length(stores: Stores, tenant: str) -> None:
    first = make_intervention("ses_1", "int_00000")
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(interventions=(first,)))
    stores.ask_quickly(tenant, [decided(make_intervention("ses_1", f"int_{n:05d}")) for n in range(1, 1_101)])

    assert pending(stores.index, tenant) == ((first,), None)

    stores.log.append(make_commit(tenant, "ses_1", 2), TransactionItems(interventions=(decided(first),)))
    assert pending(stores.index, tenant) == ((), None)


@pytest.mark.parametrize("limit", [1, 2, 3, 60, 99, 100])
def test_pages_of_questions_are_full_and_the_last_one_says_so(
    stores: Stores, tenant: str, limit: int
) -> None:
    opened = [make_intervention("ses_1", f"int_{n:03d}") for n in range(120)]
    stores.ask_quickly(tenant, opened)

    found, cursor, pages = [], None, 0
    while cursor is not None or not pages:
        page = pending(stores.index, tenant, limit, cursor)
        assert len(page.items) == limit or page.cursor is None
        found += ids(page)
        cursor, pages = page.cursor, pages + 1

    assert found == [one.intervention_id for one in reversed(opened)]
    assert pages == -(-120 // limit)


def test_a_question_that_is_decided_while_it_is_looked_for_is_left_out(account: Aws, tenant: str) -> None:
    """The index is a moment behind."""
    stores = aws_stores(account)
    opened = [make_intervention("ses_1", f"int_{n}") for n in range(5)]
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(interventions=opened))
    for one in opened[2:4]:
        set_state(account, items.intervention_key(tenant, one.intervention_id), "resolved")

    first = pending(stores.index, tenant, 2)

    assert ids(first) == ["int_4", "int_1"]
    assert ids(pending(stores.index, tenant, 2, first.cursor)) == ["int_0"]


@pytest.mark.thorough
def test_many_hidden_questions_make_short_pages_that_name_none_of_them(account: Aws, tenant: str) -> None:
    stores = aws_stores(account)
    stores.ask_quickly(tenant, [make_intervention("ses_0", "int_0000")])
    names: list[str] = []
    for _ in range(2):
        stores.clock.advance(2)
        names += [stores.clock.new_id("int") for _ in range(1_200)]
    stores.ask_quickly(tenant, [make_intervention("ses_1", name, private_to="ann") for name in names])

    seen, cursor, pages = [], None, 0
    with bound_to(tenant, Viewer("mia", frozenset({"member"}))):
        while cursor is not None or not pages:
            page = pending(stores.index, tenant, 5, cursor)
            seen += ids(page)
            cursor, pages = page.cursor, pages + 1
            raw = base64.urlsafe_b64decode((cursor or "") + "==").decode(errors="replace")
            assert not any(name in raw for name in names)
            assert pages < 9
    assert seen == ["int_0000"]
    assert pages > 1


def test_who_decides_by_a_role_finds_the_questions_of_private_sessions(stores: Stores, tenant: str) -> None:
    asked = [
        make_intervention("ses_1", "int_1", private_to="ann", role="approver"),
        make_intervention("ses_1", "int_2", private_to="ann", role=None),
        make_intervention("ses_2", "int_3"),
    ]
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(interventions=asked))

    def seen_by(user: str, *roles: str) -> list[str]:
        with bound_to(tenant, Viewer(user, frozenset({"member", *roles}))):
            return ids(pending(stores.index, tenant))

    assert seen_by("ann") == ["int_3", "int_2", "int_1"]
    assert seen_by("bob", "approver") == ["int_3", "int_1"]
    assert seen_by("mia", "admin") == ["int_3"]


def test_only_what_is_open_has_a_place_in_the_index(account: Aws, tenant: str) -> None:
    stores = aws_stores(account)
    one = make_intervention("ses_1", "int_1")
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(interventions=(one,)))
    stores.list_quickly(
        [IndexEntry(tenant, "ses_1", "a", "active"), IndexEntry(tenant, "ses_2", "a", "idle")]
    )
    assert len(in_index(account, tenant)) == 3

    stores.log.append(make_commit(tenant, "ses_1", 2), TransactionItems(interventions=(decided(one),)))
    stores.list_quickly([IndexEntry(tenant, "ses_1", "a", "completed")])
    stores.log.delete(tenant, "ses_2")

    assert in_index(account, tenant) == []


def set_state(account: Aws, key: items.Item, state: str) -> None:
    account.dynamodb.update_item(
        TableName=account.table,
        Key=key,
        UpdateExpression="SET st = :state",
        ExpressionAttributeValues={":state": {"S": state}},
    )


def in_index(account: Aws, tenant: str) -> list[str]:
    partitions = [
        items.pending_partition(tenant),
        *(items.open_partition(tenant, state) for state in items.OPEN_STATES),
    ]
    return [
        item["sk"]["S"]
        for partition in partitions
        for item in account.dynamodb.query(
            TableName=account.table,
            IndexName=items.OPEN_INDEX,
            KeyConditionExpression="op = :op",
            ExpressionAttributeValues={":op": {"S": partition}},
        )["Items"]
    ]

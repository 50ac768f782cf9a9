"""What is open of a tenant is found by key, however much lies before it, and what releases before stored, too."""

import base64
from collections.abc import Callable
from typing import Any

import pytest

from shared.adapters.dynamodb import table_layout as items
from shared.adapters.dynamodb.open_index import DynamoOpenIndex
from shared.adapters.dynamodb.session_index import DynamoIndex
from shared.agent.recovery.fill_open_index import FillingDeps, fill_open_index
from shared.bound_tenant import bound_to
from shared.domain.interventions.intervention import Intervention
from shared.domain.schema.versions import CURRENT, PREVIOUS
from shared.domain.session.visibility import Viewer
from shared.ports.log import IndexEntry, InterventionPage, SessionIndex, TransactionItems
from tests.contracts.store.backends import Aws, Stores, aws_stores
from tests.contracts.store.documents import make_commit, make_intervention

pytestmark = pytest.mark.contract

AFTER = 1_200.0


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


def test_a_question_that_is_decided_while_it_is_looked_for_is_left_out(aws: Aws, tenant: str) -> None:
    """The index is a moment behind."""
    stores = aws_stores(aws)
    opened = [make_intervention("ses_1", f"int_{n}") for n in range(5)]
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(interventions=opened))
    for one in opened[2:4]:
        set_state(aws, items.intervention_key(tenant, one.intervention_id), "resolved")

    first = pending(stores.index, tenant, 2)

    assert ids(first) == ["int_4", "int_1"]
    assert ids(pending(stores.index, tenant, 2, first.cursor)) == ["int_0"]


@pytest.mark.thorough
def test_many_hidden_questions_make_short_pages_that_name_none_of_them(aws: Aws, tenant: str) -> None:
    stores = aws_stores(aws)
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


def test_only_what_is_open_has_a_place_in_the_index(aws: Aws, tenant: str) -> None:
    stores = aws_stores(aws)
    one = make_intervention("ses_1", "int_1")
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(interventions=(one,)))
    stores.list_quickly(
        [IndexEntry(tenant, "ses_1", "a", "active"), IndexEntry(tenant, "ses_2", "a", "idle")]
    )
    assert len(in_index(aws, tenant)) == 3

    stores.log.append(make_commit(tenant, "ses_1", 2), TransactionItems(interventions=(decided(one),)))
    stores.list_quickly([IndexEntry(tenant, "ses_1", "a", "completed")])
    stores.log.delete(tenant, "ses_2")

    assert in_index(aws, tenant) == []


class Old:
    """A deployment whose items the release before wrote, and the index that is filled with them."""

    def __init__(self, aws: Aws, tenant: str) -> None:
        self.aws, self.tenant, self.stores = aws, tenant, aws_stores(aws)
        self.open = DynamoOpenIndex(aws.table, self.stores.clock, aws.dynamodb)
        aws.dynamodb.delete_item(TableName=aws.table, Key={"pk": {"S": "D"}, "sk": {"S": "I"}})

    def index(self) -> DynamoIndex:
        """A new process's."""
        return DynamoIndex(self.aws.table, self.stores.clock, self.aws.dynamodb)

    def ask(self, session_id: str, *names: str) -> None:
        asked = [make_intervention(session_id, name) for name in names]
        self.stores.log.append(make_commit(self.tenant, session_id, 1), TransactionItems(interventions=asked))
        for name in names:
            self.forget_place(items.intervention_key(self.tenant, name))

    def forget_place(self, key: items.Item) -> None:
        self.aws.dynamodb.update_item(TableName=self.aws.table, Key=key, UpdateExpression="REMOVE op")

    def fill(self, version: int = CURRENT, time_is_left: Callable[[], bool] = lambda: True) -> int:
        return fill_open_index(FillingDeps(self.open, self.stores.clock, version, AFTER, time_is_left))


@pytest.fixture
def old(aws: Aws, tenant: str) -> Any:
    made = Old(aws, tenant)
    yield made
    made.open.note((made.open.filling() or _begun(made))._replace(complete=True))


def _begun(made: Old) -> Any:
    made.fill()
    return made.open.filling()


def test_what_the_release_before_stored_is_found_before_and_after_it_is_in_the_index(
    old: Old, tenant: str
) -> None:
    old.ask("ses_1", "int_1", "int_2")
    entry = IndexEntry(tenant, "ses_1", "a", "waiting_for_user")
    old.stores.list_quickly([entry])
    old.forget_place(items.listing_key(tenant, "ses_1"))
    assert ids(pending(old.index(), tenant)) == ["int_2", "int_1"]

    assert old.fill(PREVIOUS) == 0
    assert old.open.filling() is None
    old.fill()
    assert ids(pending(old.index(), tenant)) == ["int_2", "int_1"]
    old.stores.clock.advance(AFTER - 1)
    assert old.fill() == 0
    assert old.open.filling() is not None
    assert not old.open.is_complete()

    old.ask("ses_3", "int_3")  # by the last worker of the release before
    old.stores.clock.advance(60)
    assert old.fill() >= 1
    assert old.open.is_complete()
    assert ids(pending(old.index(), tenant)) == ["int_3", "int_2", "int_1"]
    assert len(in_index(old.aws, tenant)) == 4
    assert old.fill() == 0


@pytest.mark.thorough
def test_an_index_that_is_seen_incomplete_is_looked_at_again_after_a_minute(old: Old, tenant: str) -> None:
    old.ask("ses_1", "int_1")
    index = old.index()
    old.fill()
    old.stores.clock.advance(AFTER)
    assert ids(pending(index, tenant)) == ["int_1"]
    old.fill()
    set_state(old.aws, items.intervention_key(tenant, "int_1"), "resolved")
    for _ in range(2):
        assert ids(pending(index, tenant)) == []
        old.stores.clock.advance(61)


@pytest.mark.thorough
def test_filling_goes_on_where_it_was_and_puts_nothing_in_that_is_decided_meanwhile(
    old: Old, tenant: str
) -> None:
    old.ask("ses_1", *(f"int_{n}" for n in range(6)))
    old.fill()  # the first page
    for n in range(6):
        old.forget_place(items.intervention_key(tenant, f"int_{n}"))
    old.stores.clock.advance(AFTER)

    assert old.fill(time_is_left=lambda: False) == 0
    assert not old.open.is_complete()
    cursor, put = None, 0
    while True:
        page = old.open.fill(700, cursor)
        put, cursor = put + page.put, page.cursor
        if cursor is None:
            break
    assert put >= 6
    assert len(in_index(old.aws, tenant)) == 6

    class Decides(DynamoOpenIndex):
        """Somebody decides between the look and the write."""

        def _put(self, item: items.Item) -> bool:
            set_state(old.aws, {"pk": item["pk"], "sk": item["sk"]}, "resolved")
            return super()._put(item)

    for n in range(6):
        old.forget_place(items.intervention_key(tenant, f"int_{n}"))
    racing = Decides(old.aws.table, old.stores.clock, old.aws.dynamodb)
    assert not any(racing._put(item) for item in of_tenant(old.aws, tenant, "I#"))
    assert in_index(old.aws, tenant) == []


def test_a_deployment_in_which_nothing_is_stored_yet_waits_for_nobody(aws: Aws, tenant: str) -> None:
    class Empty(DynamoOpenIndex):
        def fill(self, limit: int, cursor: str | None) -> Any:
            return super().fill(limit, cursor)._replace(put=0, seen=0, cursor=None)

    old = Old(aws, tenant)
    old.open = Empty(aws.table, old.stores.clock, aws.dynamodb)
    assert old.fill() == 0
    assert old.open.is_complete()


def test_an_item_of_before_that_a_restore_brings_back_has_its_place(aws: Aws, tenant: str) -> None:
    item = items.intervention_item(tenant, make_intervention("ses_1", "int_1"), CURRENT)
    bare = {name: value for name, value in item.items() if name != "op"}
    assert items.found_by_key(bare) == item
    assert items.found_by_key(bare | {"st": {"S": "expired"}}) == bare | {"st": {"S": "expired"}}


def set_state(aws: Aws, key: items.Item, state: str) -> None:
    aws.dynamodb.update_item(
        TableName=aws.table,
        Key=key,
        UpdateExpression="SET st = :state",
        ExpressionAttributeValues={":state": {"S": state}},
    )


def of_tenant(aws: Aws, tenant: str, kind: str) -> list[items.Item]:
    found: list[items.Item] = aws.dynamodb.query(
        TableName=aws.table,
        KeyConditionExpression="pk = :pk AND begins_with(sk, :kind)",
        ExpressionAttributeValues={":pk": {"S": f"T#{tenant}"}, ":kind": {"S": kind}},
    )["Items"]
    return found


def in_index(aws: Aws, tenant: str) -> list[str]:
    partitions = [
        items.pending_partition(tenant),
        *(items.open_partition(tenant, state) for state in items.OPEN_STATES),
    ]
    return [
        item["sk"]["S"]
        for partition in partitions
        for item in aws.dynamodb.query(
            TableName=aws.table,
            IndexName=items.OPEN_INDEX,
            KeyConditionExpression="op = :op",
            ExpressionAttributeValues={":op": {"S": partition}},
        )["Items"]
    ]

"""A commit counts the write of itself: what is stored says what storing it was billed."""

import pytest

from shared.adapters.aws.consumed import item_size
from shared.adapters.dynamodb.session_log import DynamoLog
from shared.adapters.dynamodb.table_layout import number_sk, session_pk
from shared.domain.session.commit import Commit
from shared.domain.session.conversation import Content, ToolEntry
from shared.ports.log import IndexEntry, TransactionItems
from tests.contracts.store.backends import Aws, Stores, aws_stores
from tests.contracts.store.documents import make_commit


def text_of(bytes_: int) -> ToolEntry:
    """Text that does not compress."""
    from random import Random

    letters = Random(bytes_)
    text = "".join(chr(letters.randrange(0x4E00, 0x9FFF)) for _ in range(bytes_ // 3))
    return ToolEntry(call_id="call_1", name="read", content=Content.of(text), ok=True)


def stored_units(aws: Aws, stores: Stores, commit: Commit) -> int:
    head = commit.head
    key = {
        "pk": {"S": session_pk(head.tenant, head.session_id)},
        "sk": {"S": number_sk(commit.number)},
    }
    item = aws.dynamodb.get_item(TableName=aws.table, Key=key)["Item"]
    return -(-item_size(item) // 1_024)


@pytest.mark.parametrize("size", [30, 600, 1_000, 2_900])
def test_a_plain_put_is_counted_with_the_units_of_its_item(aws: Aws, tenant: str, size: int) -> None:
    stores = aws_stores(aws)
    for number in (1, 2, 3):
        commit = make_commit(tenant, "ses_1", number, entries=(text_of(size),))
        counted = stores.log.with_own_write(commit)
        stores.log.append(counted)

        spent = stores.log.read(tenant, "ses_1", number).commits[0].head.spent
        assert spent is not None
        assert (spent.stores.writes, spent.stores.wcu) == (1, stored_units(aws, stores, commit))
    assert isinstance(stores.log, DynamoLog)


def test_in_a_transaction_every_item_costs_twice(aws: Aws, tenant: str) -> None:
    stores = aws_stores(aws)
    commit = make_commit(tenant, "ses_1", 1, entries=(text_of(1_500),))
    beside = TransactionItems(listing=IndexEntry(tenant, "ses_1", "default", "idle"))
    counted = stores.log.with_own_write(commit, beside)
    stores.log.append(counted, beside)

    spent = stores.log.read(tenant, "ses_1", 1).commits[0].head.spent
    assert spent is not None
    assert (spent.stores.writes, spent.stores.wcu) == (1, 2 * stored_units(aws, stores, commit) + 2)


def test_a_commit_of_the_version_before_counts_nothing(aws: Aws, tenant: str) -> None:
    old = make_commit(tenant, "ses_1", 1).model_copy(update={"version": 1})

    assert aws_stores(aws).log.with_own_write(old) is old

"""The text of a running turn: one per session, beside its log, gone with it."""

from datetime import timedelta

import pytest

from acta.engine.errors import SchemaUnknown
from acta.engine.log.beside import PARTIAL_LIFE, PartialReply
from acta.engine.store import table_layout as items
from acta.engine.store.schema import NEXT
from tests.stores.backends import Aws, Stores, aws_stores
from tests.stores.documents import NOW, make_commit

pytestmark = pytest.mark.contract

SAID = PartialReply(key="run_1/1/2/think", text="Grüße 🪶, one", at=NOW)


def test_the_last_text_is_read_as_it_was_put(stores: Stores, tenant: str) -> None:
    assert stores.partials.get(tenant, "ses_1") is None
    for text in ("One", "One, two"):
        stores.partials.put(tenant, "ses_1", SAID.model_copy(update={"text": text}))
    assert stores.partials.get(tenant, "ses_1") == SAID.model_copy(update={"text": "One, two"})


def test_each_session_of_each_tenant_has_its_own(stores: Stores, tenant: str) -> None:
    stores.partials.put(tenant, "ses_1", SAID)
    assert stores.partials.get(tenant, "ses_2") is None
    assert stores.partials.get(f"{tenant}-2", "ses_1") is None


def test_the_log_does_not_see_it(stores: Stores, tenant: str) -> None:
    stores.partials.put(tenant, "ses_1", SAID)
    assert stores.log.latest(tenant, "ses_1") is None
    assert stores.log.read(tenant, "ses_1", 1).commits == ()
    stores.log.append(make_commit(tenant, "ses_1", 1))
    stores.partials.put(tenant, "ses_1", SAID)
    assert [commit.number for commit in stores.log.read(tenant, "ses_1", 1).commits] == [1]
    newest = stores.log.latest(tenant, "ses_1")
    assert newest is not None
    assert newest.number == 1


def test_it_is_deleted_with_its_session_and_what_comes_late_is_not_kept(stores: Stores, tenant: str) -> None:
    for session_id in ("ses_1", "ses_2", "ses_3"):
        stores.log.append(make_commit(tenant, session_id, 1))
    stores.partials.put(tenant, "ses_1", SAID)
    stores.partials.put(tenant, "ses_3", SAID)
    for session_id in ("ses_1", "ses_2"):
        stores.log.delete(tenant, session_id)
        assert stores.partials.get(tenant, session_id) is None
        stores.partials.put(tenant, session_id, SAID)
        assert stores.partials.get(tenant, session_id) is None
    assert stores.partials.get(tenant, "ses_3") == SAID


def stored(account: Aws, tenant: str) -> items.Item:
    key = items.partial_key(tenant, "ses_1")
    item: items.Item = account.dynamodb.get_item(TableName=account.table, Key=key)["Item"]
    return item


def test_it_does_not_outlive_its_turn_by_long_and_is_not_kept_in_the_clear(account: Aws, tenant: str) -> None:
    aws_stores(account).partials.put(tenant, "ses_1", SAID)
    item = stored(account, tenant)
    assert int(item["ttl"]["N"]) == int((NOW + PARTIAL_LIFE).timestamp())
    assert timedelta(minutes=5) < PARTIAL_LIFE < timedelta(hours=1)
    assert "one" not in str(item)


def test_another_release_s_text_is_refused(account: Aws, tenant: str) -> None:
    partials = aws_stores(account).partials
    partials.put(tenant, "ses_1", SAID)
    other = {**stored(account, tenant), "v": {"N": str(NEXT + 1)}}
    account.dynamodb.put_item(TableName=account.table, Item=other)
    with pytest.raises(SchemaUnknown):
        partials.get(tenant, "ses_1")

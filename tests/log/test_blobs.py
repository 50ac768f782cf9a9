"""Large texts: named by what they say, a session's own."""

import pytest

from acta.engine.log.beside import BlobMissing
from tests.stores.backends import Aws, Stores, aws_stores

pytestmark = pytest.mark.contract

TEXTS = ("", "short", "Grüße 📁 \u2028\x00\r\n", "line\n" * 20_000, "\ud800 alone")


def test_texts_come_back_exactly_by_the_names_they_got(stores: Stores, tenant: str) -> None:
    names = [stores.blobs.put(tenant, "ses_1", text) for text in TEXTS]
    assert stores.other_blobs.get(tenant, "ses_1", names) == dict(zip(names, TEXTS, strict=True))
    assert stores.other_blobs.get(tenant, "ses_1", [names[3], names[3]]) == {names[3]: TEXTS[3]}
    assert stores.other_blobs.get(tenant, "ses_1", []) == {}


def test_the_same_text_has_the_same_name_whoever_puts_it(stores: Stores, tenant: str) -> None:
    name = stores.blobs.put(tenant, "ses_1", "text")
    assert stores.blobs.put(tenant, "ses_1", "text") == name
    assert stores.other_blobs.put(tenant, "ses_1", "text") == name
    assert stores.blobs.put(tenant, "ses_1", "Text") != name


def test_a_name_is_good_in_its_own_session_only(stores: Stores, tenant: str) -> None:
    name = stores.blobs.put(tenant, "ses_1", "text")
    for other, session_id in (
        (tenant, "ses_2"),
        (f"sessions/{tenant}/ses_1", "ses_1"),
        (f"{tenant}x", "ses_1"),
    ):
        with pytest.raises(BlobMissing):
            stores.blobs.get(other, session_id, [name])


def test_one_missing_blob_among_many_is_an_error(stores: Stores, tenant: str) -> None:
    name = stores.blobs.put(tenant, "ses_1", "text")
    with pytest.raises(BlobMissing):
        stores.blobs.get(tenant, "ses_1", [name, "0" * 64])


def test_deleting_takes_a_session_s_blobs_and_no_others(stores: Stores, tenant: str) -> None:
    name = stores.blobs.put(tenant, "ses_1", "text")
    for session_id in ("ses_10", "ses_2"):
        stores.blobs.put(tenant, session_id, "text")

    stores.blobs.delete_all(tenant, "ses_1")
    stores.blobs.delete_all(tenant, "ses_1")

    with pytest.raises(BlobMissing):
        stores.blobs.get(tenant, "ses_1", [name])
    assert stores.blobs.get(tenant, "ses_10", [name]) == {name: "text"}
    assert stores.blobs.get(tenant, "ses_2", [name]) == {name: "text"}


def test_a_text_can_be_put_again_after_it_was_deleted(stores: Stores, tenant: str) -> None:
    name = stores.blobs.put(tenant, "ses_1", "text")
    stores.blobs.delete_all(tenant, "ses_1")
    stores.blobs.put(tenant, "ses_1", "text")
    assert stores.blobs.get(tenant, "ses_1", [name]) == {name: "text"}


@pytest.mark.parametrize(("tenant_name", "session_id"), [("", "ses_1"), ("t", "")])
def test_on_aws_nothing_is_stored_or_deleted_for_nobody(aws: Aws, tenant_name: str, session_id: str) -> None:
    stores = aws_stores(aws)
    with pytest.raises(ValueError, match="tenant"):
        stores.blobs.put(tenant_name, session_id, "text")
    with pytest.raises(ValueError, match="tenant"):
        stores.blobs.delete_all(tenant_name, session_id)


def test_a_text_under_a_name_of_its_own_is_replaced_and_goes_with_the_session(
    stores: Stores, tenant: str
) -> None:
    for text in ("One", "Grüße 🪶, " * 500):
        stores.blobs.put_named(tenant, "ses_1", "reply-1", text)
        assert stores.other_blobs.get(tenant, "ses_1", ["reply-1"]) == {"reply-1": text}
    stores.blobs.put_named(tenant, "ses_2", "reply-1", "Two")
    stores.blobs.delete_all(tenant, "ses_1")
    with pytest.raises(BlobMissing):
        stores.blobs.get(tenant, "ses_1", ["reply-1"])
    assert stores.blobs.get(tenant, "ses_2", ["reply-1"]) == {"reply-1": "Two"}

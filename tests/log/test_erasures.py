"""What a deletion leaves in the stores: bare keys for a while, and a note until it has been repeated (ADR 44)."""

from datetime import datetime, timedelta
from uuid import uuid4

import pytest

from acta.engine.log.beside import BlobMissing, PartialReply
from acta.engine.log.s3 import S3Blobs
from acta.engine.log.store import (
    Erasure,
    IndexEntry,
    LiveEntry,
    LiveSession,
    NumberTaken,
    TransactionItems,
    live_shard,
)
from acta.engine.store import table_layout as items
from tests.stores.backends import Aws, Stores, aws_stores
from tests.stores.documents import NOW, make_commit, make_intervention

pytestmark = pytest.mark.contract

LATER = NOW + timedelta(microseconds=1)


def noted(stores: Stores, *tenants: str, before: datetime | None = None) -> list[LiveSession]:
    """Page after page, of these tenants: other tests' are there too."""
    pages = [stores.index.erasures(before=before, limit=2, cursor=None)]
    while (cursor := pages[-1].cursor) is not None:
        pages.append(stores.index.erasures(before=before, limit=2, cursor=cursor))
    return [each for page in pages for each in page.sessions if each.tenant in tenants]


def test_an_erasure_is_noted_with_the_commit_or_not_at_all(stores: Stores, tenant: str) -> None:
    stores.log.append(make_commit(tenant, "ses_1", 1))
    note = TransactionItems(erasure=Erasure(tenant, "ses_1", NOW))
    with pytest.raises(NumberTaken):
        stores.log.append(make_commit(tenant, "ses_1", 1, "late"), note)
    assert noted(stores, tenant) == []
    stores.log.append(make_commit(tenant, "ses_1", 2), note)
    assert noted(stores, tenant) == [LiveSession(tenant, "ses_1", NOW)]


def test_nobody_notes_an_erasure_for_another_tenant(stores: Stores, tenant: str) -> None:
    note = TransactionItems(erasure=Erasure(f"{tenant}-2", "ses_1", NOW))
    with pytest.raises(ValueError, match="tenant"):
        stores.log.append(make_commit(tenant, "ses_1", 1), note)


def test_erasures_of_all_tenants_come_oldest_first(stores: Stores, tenant: str) -> None:
    other = f"{tenant}#{'long:' * 60}"
    times = [NOW + timedelta(microseconds=n) for n in range(5)]
    wanted = [LiveSession((tenant, other)[n % 2], f"ses_{5 - n}", at) for n, at in enumerate(times)]
    for each in reversed(wanted):
        stores.log.note_erasure(Erasure(*each))
    assert noted(stores, tenant, other) == wanted
    assert noted(stores, tenant, other, before=times[3]) == wanted[:3]


def test_a_note_outlives_the_deletion_until_it_is_removed(stores: Stores, tenant: str) -> None:
    for session_id in ("ses_1", "ses_2"):
        stores.log.append(make_commit(tenant, session_id, 1))
        stores.log.note_erasure(Erasure(tenant, session_id, NOW))
    stores.log.note_erasure(Erasure(tenant, "ses_1", LATER))
    stores.log.delete(tenant, "ses_1")
    stores.log.delete(tenant, "ses_1")
    assert noted(stores, tenant) == [LiveSession(tenant, "ses_2", NOW), LiveSession(tenant, "ses_1", LATER)]

    for _ in range(2):
        stores.log.end_erasure(tenant, "ses_1")
    assert noted(stores, tenant) == [LiveSession(tenant, "ses_2", NOW)]


def test_a_noted_session_is_not_a_live_one_and_is_not_in_its_log(stores: Stores, tenant: str) -> None:
    entry = IndexEntry(tenant, "ses_1", "a", "active", LiveEntry("active", NOW))
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(listing=entry))
    stores.log.note_erasure(Erasure(tenant, "ses_1", NOW))
    assert [commit.number for commit in stores.log.read(tenant, "ses_1", 1).commits] == [1]
    newest = stores.log.latest(tenant, "ses_1")
    assert newest is not None
    assert newest.number == 1
    stores.log.delete(tenant, "ses_1")
    page = stores.index.live("active", live_shard("ses_1"), before=None, limit=1_000, cursor=None)
    assert tenant not in {each.tenant for each in page.sessions}


def partition(aws: Aws, tenant: str, session_id: str) -> list[items.Item]:
    found: list[items.Item] = aws.dynamodb.query(
        TableName=aws.table,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": items.session_pk(tenant, session_id)}},
    )["Items"]
    return found


def test_of_whatever_is_in_its_partition_only_bare_keys_and_the_note_are_left(aws: Aws, tenant: str) -> None:
    stores = aws_stores(aws)
    stores.log.append(
        make_commit(tenant, "ses_1", 1),
        TransactionItems(interventions=(make_intervention("ses_1", "int_1"),)),
    )
    stores.log.append(
        make_commit(tenant, "ses_1", 2), TransactionItems(erasure=Erasure(tenant, "ses_1", NOW))
    )
    stores.partials.put(tenant, "ses_1", PartialReply(key="k", text="One", at=NOW))
    for sk in ("A", "Z#of-a-later-release"):
        aws.dynamodb.put_item(
            TableName=aws.table,
            Item={"pk": {"S": items.session_pk(tenant, "ses_1")}, "sk": {"S": sk}, "a": {"S": "a reply"}},
        )
    stores.log.append(make_commit(tenant, "ses_2", 1))

    stores.log.delete(tenant, "ses_1")
    # A damaged session's worker does not see the deletion, nor does one that marks its attempts.
    stores.log.append(
        make_commit(tenant, "ses_1", 3),
        TransactionItems(interventions=(make_intervention("ses_1", "int_3"),)),
    )
    stores.log.delete(tenant, "ses_1")

    left = {item["sk"]["S"]: item.keys() - {"pk", "sk"} for item in partition(aws, tenant, "ses_1")}
    commits = {f"C#{number:010d}": {"ttl"} for number in (1, 2, 3)}
    assert left == {**commits, "P": {"ttl"}, "A": {"ttl"}, "E": {"live", "live_at"}}
    assert stores.index.interventions(tenant, state=None, limit=9, cursor=None).items == ()
    assert len(stores.log.read(tenant, "ses_2", 1).commits) == 1


def test_deleting_what_never_was_leaves_nothing(aws: Aws, tenant: str) -> None:
    aws_stores(aws).log.delete(tenant, "ses_1")
    assert partition(aws, tenant, "ses_1") == []


@pytest.fixture
def versioned(aws: Aws) -> Aws:
    """With a bucket that keeps versions."""
    own = aws._replace(bucket=f"versioned-{uuid4().hex}")
    own.s3.create_bucket(Bucket=own.bucket)
    own.s3.put_bucket_versioning(Bucket=own.bucket, VersioningConfiguration={"Status": "Enabled"})
    return own


def versions(aws: Aws) -> list[str]:
    """The keys of all versions and delete markers."""
    found = aws.s3.list_object_versions(Bucket=aws.bucket)
    return sorted(each["Key"] for each in (*found.get("Versions", ()), *found.get("DeleteMarkers", ())))


def test_no_version_of_a_text_is_left_and_no_marker_of_a_deleted_one(versioned: Aws, tenant: str) -> None:
    blobs, other = (S3Blobs(versioned.bucket, versioned.s3) for _ in range(2))
    names = [blobs.put(tenant, "ses_1", text) for text in ("one", "two")]
    other.put(tenant, "ses_1", "one")  # another worker's: a second version
    key = f"sessions/{tenant}/ses_1/{names[1]}"
    versioned.s3.delete_object(Bucket=versioned.bucket, Key=key)  # a deletion that leaves a marker
    kept = other.put(tenant, "ses_10", "one")
    assert len(versions(versioned)) == 5

    blobs.delete_all(tenant, "ses_1")

    assert versions(versioned) == [f"sessions/{tenant}/ses_10/{kept}"]
    with pytest.raises(BlobMissing):
        other.get(tenant, "ses_1", names)


@pytest.mark.thorough
def test_more_versions_than_one_request_takes_are_all_erased(versioned: Aws, tenant: str) -> None:
    key = f"sessions/{tenant}/ses_1/name"
    for _ in range(1_005):
        versioned.s3.put_object(Bucket=versioned.bucket, Key=key, Body=b"x")
    S3Blobs(versioned.bucket, versioned.s3).delete_all(tenant, "ses_1")
    assert versions(versioned) == []


def test_a_note_is_lifted_with_the_first_commit_or_not_at_all(stores: Stores, tenant: str) -> None:
    note = Erasure(tenant, "ses_1", NOW)
    stores.log.note_erasure(note)
    other = TransactionItems(lifted=Erasure(tenant, "ses_2", NOW))
    stores.log.append(make_commit(tenant, "ses_2", 1), other)
    with pytest.raises(NumberTaken):
        stores.log.append(make_commit(tenant, "ses_2", 1, "late"), other)
    assert noted(stores, tenant) == [LiveSession(tenant, "ses_1", NOW)]
    stores.log.append(make_commit(tenant, "ses_1", 1), TransactionItems(lifted=note))
    assert noted(stores, tenant) == []

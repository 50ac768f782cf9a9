"""Interventions as the table's stream or a queue brings them, and notifications as a topic gives them out."""

import json
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from moto import mock_aws

from acta.engine.aws.clients import Service, make_client
from acta.engine.aws.errors import AwsRefused
from acta.engine.log.dynamodb import delete_session
from acta.engine.log.head import Head
from acta.engine.log.store import IndexEntry, SessionReceiver
from acta.engine.notifications.aws import NotificationQueue, StreamedChanges
from acta.engine.notifications.dynamodb import (
    DynamoTenantReceivers,
    ReceiversByPartition,
    StoredReceivers,
)
from acta.engine.notifications.notification import (
    InterventionChange,
    NotDelivered,
    SessionChange,
    question_notification,
)
from acta.engine.notifications.receiver import TenantReceiver
from acta.engine.notifications.webhooks import SnsTopic
from acta.engine.store import table_layout as items
from acta.engine.store.schema import CURRENT
from acta.testing.clock import FakeClock
from tests.stores.backends import Aws
from tests.stores.documents import make_commit, make_head, make_intervention

WHERE: dict[str, Any] = {
    "region_name": "us-east-1",
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
}


def record(key: items.Item, name: str = "INSERT") -> dict[str, Any]:
    return {"eventName": name, "eventSource": "aws:dynamodb", "dynamodb": {"Keys": key}}


def brought(account: Aws, *records: dict[str, Any]) -> list[tuple[str, str | None, bool]]:
    changes = StreamedChanges(account.table, account.dynamodb).changed_by({"Records": list(records)})
    return [
        (each.tenant, None if each.intervention is None else each.intervention.intervention_id, each.is_new)
        for each in changes
        if isinstance(each, InterventionChange)
    ]


def heads(account: Aws, *records: dict[str, Any]) -> list[Head | None]:
    changes = StreamedChanges(account.table, account.dynamodb).changed_by({"Records": list(records)})
    return [each.head for each in changes if isinstance(each, SessionChange)]


def put(account: Aws, tenant: str, name: str) -> items.Item:
    intervention = make_intervention("ses_1", name)
    account.dynamodb.put_item(
        TableName=account.table, Item=items.intervention_item(tenant, intervention, CURRENT)
    )
    return items.intervention_key(tenant, name)


@pytest.mark.parametrize("name", ["acme", "Ämter & Söhne", "a/b#c%20", ".hidden"])
def test_a_change_has_its_tenant_and_the_intervention_as_it_is_now(account: Aws, name: str) -> None:
    tenant = f"{name}{uuid4().hex}"
    key = put(account, tenant, "int_1")
    changes = brought(account, record(key), record(key, "MODIFY"))
    assert changes == [(tenant, "int_1", True), (tenant, "int_1", False)]


@pytest.mark.parametrize("tenant", ["t" * 65, "@" * 100])
def test_a_tenant_too_long_for_a_key_is_named_by_its_session(account: Aws, tenant: str) -> None:
    key = put(account, tenant, "int_1")
    ((named, found, _),) = brought(account, record(key))
    assert (named.startswith("%sha256-"), found) == (True, "int_1"), "a session that is gone names nobody"
    put_session(account, tenant, "waiting_for_user")
    assert brought(account, record(key)) == [(tenant, "int_1", True)]


def test_what_was_deleted_is_reported_as_gone(account: Aws, tenant: str) -> None:
    key = items.intervention_key(tenant, "int_none")
    assert brought(account, record(key)) == [(tenant, None, True)]


def test_everything_else_of_the_table_is_passed_over(account: Aws, tenant: str) -> None:
    key = put(account, tenant, "int_1")
    others = [items.listing_key(tenant, "ses_1"), items.record_key(tenant, "route", "key")]
    assert brought(account, *map(record, others), record(key, "REMOVE")) == []
    assert heads(account, *map(record, others)) == []


def put_session(account: Aws, tenant: str, state: str) -> items.Item:
    """Two commits, the second in this state, as the listing says."""
    for number, now in ((1, "planning"), (2, state)):
        head = make_head(tenant, "ses_1", state=now)
        commit = make_commit(tenant, "ses_1", number, head=head)
        account.dynamodb.put_item(TableName=account.table, Item=items.commit_item(commit, []))
    listed = IndexEntry(tenant, "ses_1", "default", head.coarse_state)
    account.dynamodb.put_item(TableName=account.table, Item=items.listing_item(listed))
    return items.listing_key(tenant, "ses_1")


@pytest.mark.parametrize("state", ["completed", "failed", "cancelled"])
@pytest.mark.parametrize("name", ["acme", "Ämter & Söhne", "@" * 100])
def test_a_session_that_is_over_comes_with_its_newest_head(account: Aws, name: str, state: str) -> None:
    tenant = f"{uuid4().hex}{name}"
    key = put_session(account, tenant, state)
    (head,) = heads(account, record(key, "MODIFY"))
    assert head is not None
    assert (head.tenant, head.session_id, head.state) == (tenant, "ses_1", state)


@pytest.mark.parametrize("state", ["planning", "waiting_for_user"])
def test_of_a_session_that_goes_on_nothing_is_read(account: Aws, tenant: str, state: str) -> None:
    assert heads(account, record(put_session(account, tenant, state), "MODIFY")) == [None]


def test_of_a_deleted_session_nothing_is_left_to_tell(account: Aws, tenant: str) -> None:
    key = put_session(account, tenant, "cancelled")
    rest = {**items.commit_item(make_commit(tenant, "ses_1", 2), []), "ttl": {"N": "1"}}
    del rest["z"]
    account.dynamodb.put_item(TableName=account.table, Item=rest)
    assert heads(account, record(key, "MODIFY")) == [None], "erased behind the listing"
    account.dynamodb.delete_item(TableName=account.table, Key=key)
    assert heads(account, record(key, "MODIFY"), record(key, "REMOVE")) == [None]


def test_a_topic_gives_out_the_notification_with_attributes_to_filter_by() -> None:
    notification = question_notification("acme", make_intervention("ses_1", "int_1"), is_new=True)
    assert notification is not None
    with mock_aws():
        sns, sqs = make_client("sns", **WHERE), make_client("sqs", **WHERE)
        arn = sns.create_topic(Name="waiting")["TopicArn"]
        queue = sqs.create_queue(QueueName="people")["QueueUrl"]
        attributes = sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=["QueueArn"])
        sns.subscribe(
            TopicArn=arn,
            Protocol="sqs",
            Endpoint=attributes["Attributes"]["QueueArn"],
            Attributes={"FilterPolicy": json.dumps({"type": [notification.type]})},
        )
        SnsTopic(arn, sns).send(notification)
        (message,) = sqs.receive_message(QueueUrl=queue)["Messages"]
    told = json.loads(message["Body"])
    assert told["Message"] == notification.to_body().decode()
    assert {name: each["Value"] for name, each in told["MessageAttributes"].items()} == {
        "event": "intervention.opened",
        "type": notification.type,
        "tenant": "acme",
    }


def test_a_topic_that_is_not_there_is_tried_again() -> None:
    notification = question_notification("acme", make_intervention("ses_1", "int_1"), is_new=True)
    assert notification is not None
    with mock_aws(), pytest.raises(NotDelivered, match="NotFound"):
        SnsTopic("arn:aws:sns:us-east-1:123456789012:gone", make_client("sns", **WHERE)).send(notification)


def test_a_change_comes_out_of_the_queue_as_the_stream_brought_it_and_with_nothing_but_its_key(
    account: Aws, tenant: str
) -> None:
    key = put(account, tenant, "int_1")
    brought_first = record(key, "MODIFY") | {"eventID": "1", "awsRegion": "us-east-1"}
    with mock_aws():
        sqs = make_client("sqs", **WHERE)
        url = sqs.create_queue(QueueName="again")["QueueUrl"]
        queue = NotificationQueue(url, sqs)
        queue.put(brought_first)
        (message,) = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=5)["Messages"]
    delivered = {"messageId": message["MessageId"], "body": message["Body"], "eventSource": "aws:sqs"}
    postponed = queue.parse(delivered)
    assert postponed is not None
    assert postponed.message_id == message["MessageId"]
    assert postponed.change == {"eventName": "MODIFY", "dynamodb": {"Keys": key}}
    changes = StreamedChanges(account.table, account.dynamodb)
    assert list(changes.changed_by({"Records": [postponed.change]})) == list(
        changes.changed_by({"Records": [brought_first]})
    )
    assert queue.parse(brought_first) is None


def test_a_message_names_its_tenant_as_its_group_and_no_name_of_it() -> None:
    """By that SQS brings other tenants' messages first while one tenant's fill the queue."""
    groups = []
    with mock_aws():
        sqs = make_client("sqs", **WHERE)
        url = sqs.create_queue(QueueName="again")["QueueUrl"]
        for partition in ("T#acme#S#ses_1", "T#acme", "T#other"):
            NotificationQueue(url, sqs).put(
                record({"pk": {"S": partition}, "sk": {"S": "I#int_1"}}), at_once=True
            )
            (message,) = sqs.receive_message(QueueUrl=url, AttributeNames=["MessageGroupId"])["Messages"]
            groups.append(message["Attributes"]["MessageGroupId"])
    assert groups[0] == groups[1] != groups[2]
    assert not any("acme" in each or "other" in each for each in groups)


def test_a_queue_that_is_not_there_says_so() -> None:
    queue = NotificationQueue(
        "https://sqs.us-east-1.amazonaws.com/123456789012/gone", make_client("sqs", **WHERE)
    )
    change = record({"pk": {"S": "T#acme"}, "sk": {"S": "I#int_1"}})
    with mock_aws(), pytest.raises(AwsRefused):
        queue.put(change)


@pytest.mark.parametrize("name", ["", "Ämter & Söhne", "@" * 100])
def test_what_changed_leads_to_the_webhooks_of_its_tenant_and_its_session(
    account: Aws, tenant: str, name: str
) -> None:
    tenant += name
    at = datetime(2026, 1, 1, tzinfo=UTC)
    receiver = TenantReceiver(
        tenant=tenant, url="https://a.example", created_at=at, updated_at=at, updated_by="ann"
    )
    stored, key = ReceiversByPartition(account.table, account.dynamodb), put(account, tenant, "int_1")
    (change,) = StreamedChanges(account.table, account.dynamodb).changed_by({"Records": [record(key)]})
    (listed,) = StreamedChanges(account.table, account.dynamodb).changed_by(
        {"Records": [record(put_session(account, tenant, "completed"), "MODIFY")]}
    )
    assert change.partition == listed.partition
    own = items.receiver_item(SessionReceiver(tenant, "ses_1", "https://b.example"))
    account.dynamodb.put_item(TableName=account.table, Item=own)
    assert stored(change.partition, "ses_1") == StoredReceivers(None, None), "nothing could sign it"
    DynamoTenantReceivers(account.table, account.dynamodb).put(receiver)
    assert stored(change.partition, "ses_1") == StoredReceivers(receiver, "https://b.example")
    assert stored(change.partition, "ses_2") == StoredReceivers(receiver, None)
    delete_session(Service("dynamodb", account.dynamodb), account.table, FakeClock(), tenant, "ses_1")
    assert stored(change.partition, "ses_1") == StoredReceivers(receiver, None), "erased with its session"


@pytest.mark.parametrize("to", ["deployment", "tenant", "session", None])
def test_who_is_to_be_told_comes_out_of_the_queue_and_is_no_part_of_the_change(to: Any) -> None:
    change = record({"pk": {"S": "T#acme"}, "sk": {"S": "I#int_1"}})
    with mock_aws():
        sqs = make_client("sqs", **WHERE)
        url = sqs.create_queue(QueueName="own")["QueueUrl"]
        queue = NotificationQueue(url, sqs)
        queue.put(change, to, at_once=True)
        (message,) = sqs.receive_message(QueueUrl=url)["Messages"]
    delivered = {"messageId": message["MessageId"], "body": message["Body"], "eventSource": "aws:sqs"}
    postponed = queue.parse(delivered)
    assert postponed is not None
    assert (postponed.to, set(postponed.change)) == (to, {"eventName", "dynamodb"})


def test_who_is_unknown_to_this_release_is_nobody_in_particular() -> None:
    body = json.dumps({"eventName": "INSERT", "dynamodb": {"Keys": {}}, "to": "somebody new"})
    postponed = NotificationQueue("url").parse({"messageId": "m", "body": body, "eventSource": "aws:sqs"})
    assert postponed is not None
    assert postponed.to is None

"""Policies are enforced: on what a role's credentials ask for, and on what the local AWS does in a role's name."""

from __future__ import annotations

import http.client
import itertools
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from botocore.exceptions import ClientError

from acta.local_aws.credentials import Credentials
from acta.local_aws.emulator_process import ACCOUNT
from acta.local_aws.testing import (
    EVERYTHING,
    PROBE,
    Cloud,
    awaiting,
    eventually,
    invoking,
    one_state,
    refusal,
)

DENIED = {"AccessDenied", "AccessDeniedException"}
_names = itertools.count(1)


def named(kind: str) -> str:
    return f"policies-{kind}-{next(_names)}"


def allow(actions: str | list[str], resource: str | list[str] = "*", **condition: Any) -> dict[str, Any]:
    return {
        "Effect": "Allow",
        "Action": actions,
        "Resource": resource,
        **({"Condition": condition} if condition else {}),
    }


def having(cloud: Cloud, *statements: Mapping[str, Any], narrowed_to: object = None) -> Cloud:
    """The local AWS as a new role sees it that has these statements. `narrowed_to`: the session policy's statement."""
    arn = cloud.role(named("role"), *statements)
    session = {"Policy": json.dumps({"Statement": narrowed_to})} if narrowed_to else {}
    given = cloud.client("sts").assume_role(RoleArn=arn, RoleSessionName="tested", **session)["Credentials"]
    return Cloud(
        cloud.url, Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"])
    )


def works(call: Callable[..., Any], **arguments: Any) -> bool:
    """Whether it is carried out, and not refused by a policy."""
    try:
        call(**arguments)
    except ClientError as error:
        if error.response["Error"]["Code"] in DENIED:
            return False
        raise
    return True


@pytest.fixture(scope="session")
def table(cloud: Cloud) -> str:
    """With an index by `kind`. Items: (A, 1) and (B, 1), whose `kind` is C."""
    name, store = named("table"), cloud.client("dynamodb")
    store.create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": each, "AttributeType": "S"} for each in ("pk", "sk", "kind")],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": "by-kind",
                "KeySchema": [{"AttributeName": "kind", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    for key in ("A", "B"):
        store.put_item(TableName=name, Item=item(key))
    return name


def item(pk: str, sk: str = "1") -> dict[str, Any]:
    return {**key(pk, sk), "kind": {"S": "C"}}


def key(pk: str, sk: str = "1") -> dict[str, Any]:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def of_partitions(table: str, *keys: str) -> dict[str, Any]:
    return allow(
        "dynamodb:*",
        f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/{table}*",
        **{
            "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": list(keys)},
            "Null": {"dynamodb:LeadingKeys": "false"},
        },
    )


def requests(table: str, pk: str) -> dict[str, tuple[str, dict[str, Any]]]:
    """Each way to name a partition: the call and its arguments."""
    value, one = {":k": {"S": pk}}, {"TableName": table}
    set_v = {"UpdateExpression": "SET v = :k", "ExpressionAttributeValues": value}
    after = {
        "KeyConditionExpression": "pk = :k AND sk > :s",
        "ExpressionAttributeValues": {**value, ":s": {"S": "0"}},
    }
    placeholder = {"KeyConditionExpression": "(:k = #p)", "ExpressionAttributeNames": {"#p": "pk"}}
    as_of_old = {"KeyConditions": {"pk": {"ComparisonOperator": "EQ", "AttributeValueList": [{"S": pk}]}}}
    writes = [{"PutRequest": {"Item": item("A")}}, {"DeleteRequest": {"Key": key(pk, "none")}}]
    absent = {**one, "Key": key("A", "2"), "ConditionExpression": "attribute_not_exists(pk)"}
    return {
        "get": ("get_item", {**one, "Key": key(pk)}),
        "put": ("put_item", {**one, "Item": item(pk)}),
        "update": ("update_item", {**one, "Key": key(pk), **set_v}),
        "delete": ("delete_item", {**one, "Key": key(pk, "none")}),
        "query": ("query", {**one, **after}),
        "query by placeholder": ("query", {**one, **placeholder, "ExpressionAttributeValues": value}),
        "query as of old": ("query", {**one, **as_of_old}),
        "batch get": ("batch_get_item", {"RequestItems": {table: {"Keys": [key("A"), key(pk, "2")]}}}),
        "batch write": ("batch_write_item", {"RequestItems": {table: writes}}),
        "transaction": (
            "transact_write_items",
            {"TransactItems": [{"Put": {**one, "Item": item(pk)}}, {"ConditionCheck": absent}]},
        ),
        "transacted get": ("transact_get_items", {"TransactItems": [{"Get": {**one, "Key": key(pk)}}]}),
    }


@pytest.mark.parametrize("how", requests("", ""))
def test_a_condition_on_leading_keys_is_evaluated(cloud: Cloud, table: str, how: str) -> None:
    store = having(cloud, of_partitions(table, "A")).client("dynamodb")
    for pk, expected in (("A", True), ("B", False)):
        call, arguments = requests(table, pk)[how]
        assert works(getattr(store, call), **arguments) is expected


def test_a_request_without_a_partition_has_no_leading_keys(cloud: Cloud, table: str) -> None:
    store = having(cloud, of_partitions(table, "A")).client("dynamodb")
    assert not works(store.scan, TableName=table)
    without_null = {**of_partitions(table, "A")}
    without_null["Condition"] = {
        "ForAllValues:StringEquals": without_null["Condition"]["ForAllValues:StringEquals"]
    }
    assert works(having(cloud, without_null).client("dynamodb").scan, TableName=table)


def test_the_leading_keys_of_an_index_are_the_indexs_own(cloud: Cloud, table: str) -> None:
    by_kind = {
        "TableName": table,
        "IndexName": "by-kind",
        "KeyConditionExpression": "kind = :k",
        "ExpressionAttributeValues": {":k": {"S": "C"}},
    }
    assert works(having(cloud, of_partitions(table, "C")).client("dynamodb").query, **by_kind)
    assert not works(having(cloud, of_partitions(table, "A")).client("dynamodb").query, **by_kind)


def test_a_key_beside_the_one_that_counts_opens_nothing(cloud: Cloud, table: str) -> None:
    """The SDK sends no field that the operation does not have."""
    who = having(cloud, of_partitions(table, "A"))
    body = {
        "TableName": table,
        "Key": key("A"),
        "KeyConditionExpression": "pk = :k",
        "ExpressionAttributeValues": {":k": {"S": "B"}},
    }
    assert sent(who, "Query", body) == "AccessDeniedException"
    del body["Key"]
    body["ExpressionAttributeValues"] = {":k": {"S": "A"}}
    assert sent(who, "Query", body) == ""


def sent(who: Cloud, operation: str, body: Mapping[str, Any]) -> str:
    """The error of a request of DynamoDB that is not checked before it is sent. Empty: it was carried out."""
    text = json.dumps(body).encode()
    target = {"X-Amz-Target": f"DynamoDB_20120810.{operation}", "Content-Type": "application/x-amz-json-1.0"}
    headers = who.signed("POST", "/", text, service="dynamodb", headers=target)
    connection = http.client.HTTPConnection(who.url.removeprefix("http://"), timeout=30)
    try:
        connection.request("POST", "/", text, headers)
        return str(json.loads(connection.getresponse().read()).get("__type", ""))
    finally:
        connection.close()


def test_a_session_policy_narrows_the_role(cloud: Cloud, table: str) -> None:
    store = having(cloud, EVERYTHING, narrowed_to=of_partitions(table, "A")).client("dynamodb")
    assert works(store.get_item, TableName=table, Key=key("A"))
    assert not works(store.get_item, TableName=table, Key=key("B"))
    assert not works(having(cloud, narrowed_to=EVERYTHING).client("dynamodb").list_tables)


def test_a_role_without_statements_may_do_nothing(cloud: Cloud, table: str) -> None:
    who = having(cloud)
    assert not works(who.client("dynamodb").get_item, TableName=table, Key=key("A"))
    assert not works(who.client("s3").list_buckets)
    assert not works(who.client("iam").create_role, RoleName="mine", AssumeRolePolicyDocument="{}")
    assert not works(who.client("lambda").invoke, FunctionName=cloud.probe)


def test_a_role_is_assumed_by_whom_it_trusts_alone(cloud: Cloud) -> None:
    trusted = cloud.role(named("role"), allow("sts:AssumeRole"))
    target = cloud.role(named("role"), EVERYTHING, trusts={"AWS": trusted})
    given = cloud.client("sts").assume_role(RoleArn=trusted, RoleSessionName="tested")["Credentials"]
    who = Cloud(cloud.url, Credentials(given["AccessKeyId"], given["SecretAccessKey"], given["SessionToken"]))
    assert works(who.client("sts").assume_role, RoleArn=target, RoleSessionName="tested")
    stranger = having(cloud, allow("sts:AssumeRole")).client("sts")
    assert not works(stranger.assume_role, RoleArn=target, RoleSessionName="tested")


def test_tls_is_held_to_be_there(cloud: Cloud) -> None:
    bucket = named("bucket")
    cloud.client("s3").create_bucket(Bucket=bucket)
    both = [f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"]
    refuse = {"Effect": "Deny", "Principal": "*", "Action": "s3:*", "Resource": both}
    without = {**refuse, "Condition": {"Bool": {"aws:SecureTransport": "false"}}}
    who = having(cloud, allow("s3:*")).client("s3")
    for statement, expected in ((without, True), (refuse, False)):
        cloud.client("s3").put_bucket_policy(Bucket=bucket, Policy=json.dumps({"Statement": [statement]}))
        assert works(who.put_object, Bucket=bucket, Key="a", Body=b"") is expected


@pytest.mark.parametrize("call", ["get_object", "head_object"])
def test_a_missing_object_is_hidden_from_whoever_may_not_list(cloud: Cloud, call: str) -> None:
    bucket = named("bucket")
    cloud.client("s3").create_bucket(Bucket=bucket)
    cloud.client("s3").put_object(Bucket=bucket, Key="there", Body=b"")
    objects = allow("s3:GetObject", f"arn:aws:s3:::{bucket}/*")
    reader = having(cloud, objects).client("s3")
    lister = having(cloud, objects, allow("s3:ListBucket", f"arn:aws:s3:::{bucket}")).client("s3")
    assert works(getattr(reader, call), Bucket=bucket, Key="there")
    assert refusal(getattr(reader, call), Bucket=bucket, Key="missing") in DENIED | {"403"}
    assert refusal(getattr(lister, call), Bucket=bucket, Key="missing") in {"NoSuchKey", "404"}


def test_a_function_does_what_its_own_role_may(cloud: Cloud, table: str) -> None:
    allowed = cloud.role(named("role"), allow("dynamodb:GetItem"))
    bare = cloud.role(named("role"))
    for role, expected in ((allowed, True), (bare, False)):
        given = cloud.invoke(cloud.deploy(PROBE, role=role), do="environment").value
        who = Cloud(
            cloud.url,
            Credentials(
                given["AWS_ACCESS_KEY_ID"], given["AWS_SECRET_ACCESS_KEY"], given["AWS_SESSION_TOKEN"]
            ),
        )
        store = who.client("dynamodb")
        assert works(store.get_item, TableName=table, Key=key("A")) is expected
        assert not works(store.put_item, TableName=table, Item=item("A"))


TELLS = """
import os

def handler(event, context):
    return os.environ["RELEASE"]
"""


def test_a_state_machine_invokes_what_its_role_may(cloud: Cloud) -> None:
    one, two = cloud.deploy(PROBE), cloud.deploy(PROBE)
    role = cloud.role(
        named("role"), allow("lambda:InvokeFunction", f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:{one}")
    )
    ends = {}
    for function in (one, two):
        arn = cloud.machine(one_state(invoking(function, {"do": "echo"})), role)
        started = cloud.states.start_execution(stateMachineArn=arn)["executionArn"]
        ends[function] = cloud.finished(started)
    assert ends[one]["status"] == "SUCCEEDED"
    assert (ends[two]["status"], ends[two]["error"]) == ("FAILED", "Lambda.AWSLambdaException")
    assert "is not authorized to perform: lambda:InvokeFunction on resource" in ends[two]["cause"]


def test_the_right_to_invoke_a_function_is_not_one_to_invoke_its_alias(cloud: Cloud) -> None:
    function, name = cloud.deploy(PROBE), named("role")
    cloud.functions.create_alias(FunctionName=function, Name="live", FunctionVersion="$LATEST")
    arn = f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:{function}"
    for allowed, end in ((arn, "FAILED"), (f"{arn}:live", "SUCCEEDED")):
        role = cloud.role(f"{name}-{end}", allow("lambda:InvokeFunction", allowed))
        machine = cloud.machine(one_state(invoking(f"{arn}:live", {"do": "echo"})), role)
        started = cloud.states.start_execution(stateMachineArn=machine)["executionArn"]
        assert cloud.finished(started)["status"] == end


def test_an_alias_is_what_it_was_moved_to_for_everybody_who_calls_it(cloud: Cloud) -> None:
    """A version keeps the code and the variables that it was published with."""
    function = cloud.deploy(TELLS, Environment={"Variables": {"RELEASE": "one"}})
    first = cloud.functions.publish_version(FunctionName=function)["Version"]
    cloud.functions.create_alias(FunctionName=function, Name="live", FunctionVersion="$LATEST")
    cloud.functions.update_function_configuration(
        FunctionName=function, Environment={"Variables": {"RELEASE": "two"}}
    )
    arn = f"arn:aws:lambda:us-east-1:{ACCOUNT}:function:{function}:live"
    machine = cloud.machine(one_state(invoking(arn, {})))
    for version, release in (("$LATEST", "two"), (first, "one"), ("$LATEST", "two")):
        cloud.functions.update_alias(FunctionName=function, Name="live", FunctionVersion=version)
        started = cloud.states.start_execution(stateMachineArn=machine)["executionArn"]
        assert cloud.finished(started)["output"] == release
        assert cloud.invoke(f"{function}:live").value == release


def test_a_token_is_sent_back_by_whoever_may_on_its_machine(cloud: Cloud) -> None:
    machine = cloud.machine(one_state(awaiting(cloud.probe)))
    execution = cloud.states.start_execution(stateMachineArn=machine)["executionArn"]
    token = cloud.submitted_token(execution)
    done = {"taskToken": token, "output": "{}"}
    stranger = having(cloud, allow("states:SendTask*", f"{machine}-another")).client("stepfunctions")
    assert not works(stranger.send_task_success, **done)
    assert not works(stranger.send_task_failure, taskToken=token)
    assert not works(stranger.send_task_heartbeat, taskToken=token)
    friend = having(cloud, allow("states:SendTask*", machine)).client("stepfunctions")
    assert works(friend.send_task_success, **done)
    assert cloud.finished(execution)["status"] == "SUCCEEDED"
    assert refusal(stranger.send_task_success, **done) == "TaskTimedOut"


def test_a_queue_calls_a_function_whose_role_may_read_it(cloud: Cloud) -> None:
    queues, mappings = cloud.client("sqs"), {}
    reads = allow(["sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"])
    for statement in (reads, allow("sqs:ReceiveMessage")):
        function = cloud.deploy(PROBE, role=cloud.role(named("role"), statement))
        url = queues.create_queue(QueueName=named("queue"))["QueueUrl"]
        arn = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
        made = cloud.functions.create_event_source_mapping(
            FunctionName=function, EventSourceArn=arn, BatchSize=1
        )
        queues.send_message(QueueUrl=url, MessageBody="hello")
        mappings[statement is reads] = made["UUID"]

    def result(reader: bool) -> Callable[[], str | None]:
        def seen() -> str | None:
            text = cloud.functions.get_event_source_mapping(UUID=mappings[reader])["LastProcessingResult"]
            return None if text == "No records processed" else str(text)

        return seen

    assert eventually(result(True)).startswith("OK")
    assert eventually(result(False)).startswith("PROBLEM: User: ")

"""Rules of EventBridge bring events of programs and of buckets to queues, and a queue brings them to a function.

Source: EventBridge user guide, "Creating Amazon EventBridge event patterns", "Amazon EventBridge input transformation";
Amazon S3 user guide, "Using EventBridge"; Lambda developer guide, "Using Lambda with Amazon SQS".
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from typing import Any

import pytest

from acta.local_aws.testing import Cloud, eventually

names = itertools.count(1)
LETS_ALL_RULES = {
    "Effect": "Allow",
    "Principal": {"Service": "events.amazonaws.com"},
    "Action": "sqs:SendMessage",
}
WHOLE = '{"source":"orders","event":<aws.events.event.json>}'


class Queue:
    def __init__(self, cloud: Cloud, *statements: Mapping[str, Any], **attributes: str) -> None:
        self._sqs = cloud.client("sqs")
        name = f"events-{next(names)}"
        self.url = self._sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        self.arn = self._attributes("QueueArn")["QueueArn"]
        if statements:
            policy = {"Statement": [{"Resource": self.arn, **each} for each in statements]}
            self._sqs.set_queue_attributes(QueueUrl=self.url, Attributes={"Policy": json.dumps(policy)})

    def _attributes(self, *wanted: str) -> Mapping[str, str]:
        found: Mapping[str, str] = self._sqs.get_queue_attributes(QueueUrl=self.url, AttributeNames=wanted)[
            "Attributes"
        ]
        return found

    def send(self, *bodies: str) -> None:
        for body in bodies:
            self._sqs.send_message(QueueUrl=self.url, MessageBody=body)

    def took(self, count: int) -> list[str]:
        """The bodies of so many messages, which are taken away."""
        found: list[str] = []

        def all_of_them() -> bool | None:
            for message in self._sqs.receive_message(QueueUrl=self.url, MaxNumberOfMessages=10).get(
                "Messages", ()
            ):
                found.append(message["Body"])
                self._sqs.delete_message(QueueUrl=self.url, ReceiptHandle=message["ReceiptHandle"])
            return True if len(found) >= count else None

        eventually(all_of_them)
        return found

    @property
    def left(self) -> int:
        names = ("ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible")
        return sum(int(value) for value in self._attributes(*names).values())


def rule(cloud: Cloud, pattern: Mapping[str, Any], queue: Queue, **target: Any) -> str:
    """The ARN of a rule that puts what fits the pattern into the queue."""
    events, name = cloud.client("events"), f"rule-{next(names)}"
    arn: str = events.put_rule(Name=name, EventPattern=json.dumps(pattern))["RuleArn"]
    events.put_targets(Rule=name, Targets=[{"Id": "queue", "Arn": queue.arn, **target}])
    return arn


def put(cloud: Cloud, source: str, **detail: Any) -> None:
    entry = {"Source": source, "DetailType": "order.paid", "Detail": json.dumps(detail)}
    assert cloud.client("events").put_events(Entries=[entry])["FailedEntryCount"] == 0


def test_a_rule_puts_the_whole_event_beside_a_name_into_a_queue(cloud: Cloud) -> None:
    queue, source = Queue(cloud, LETS_ALL_RULES), f"shop-{next(names)}"
    pattern = {"source": [source], "detail": {"total": [{"numeric": [">", 100]}]}}
    rule(cloud, pattern, queue, InputTransformer={"InputTemplate": WHOLE})

    put(cloud, source, total=7)
    put(cloud, "other", total=700)
    put(cloud, source, total=700, note='a "quoted" <word>\n')

    (message,) = (json.loads(each) for each in queue.took(1))
    event = message["event"]
    assert (message["source"], event["source"], event["detail-type"]) == ("orders", source, "order.paid")
    assert event["detail"] == {"total": 700, "note": 'a "quoted" <word>\n'}
    assert event["id"]
    assert event["time"].endswith("Z")
    assert queue.left == 0


@pytest.mark.parametrize("versioned", [True, False])
def test_a_bucket_tells_of_each_object_with_its_plain_key_and_its_version(
    cloud: Cloud, versioned: bool
) -> None:
    s3, bucket = cloud.client("s3"), f"tells-{next(names)}"
    s3.create_bucket(Bucket=bucket)
    if versioned:
        s3.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    s3.put_bucket_notification_configuration(
        Bucket=bucket, NotificationConfiguration={"EventBridgeConfiguration": {}}
    )
    queue = Queue(cloud, LETS_ALL_RULES)
    detail = {"bucket": {"name": [bucket]}, "object": {"key": [{"wildcard": "files/*/in/*"}]}}
    rule(cloud, {"source": ["aws.s3"], "detail-type": ["Object Created"], "detail": detail}, queue)

    s3.put_object(Bucket=bucket, Key="files/acme/out/a.pdf", Body=b"no")
    made = s3.put_object(Bucket=bucket, Key="files/acme/in/May 1+ü.pdf", Body=b"hello")
    s3.delete_object(Bucket=bucket, Key="files/acme/in/May 1+ü.pdf")

    (event,) = (json.loads(each) for each in queue.took(1))
    found = event["detail"]["object"]
    assert found["key"] == "files/acme/in/May 1+ü.pdf"
    assert (found["size"], found["etag"]) == (5, made["ETag"].strip('"'))
    assert found.get("version-id") == made.get("VersionId")
    assert found["sequencer"]
    assert queue.left == 0


def test_a_bucket_of_a_stack_tells_as_its_template_says(cloud: Cloud) -> None:
    bucket, queue = f"told-by-a-stack-{next(names)}", Queue(cloud, LETS_ALL_RULES)
    rule(cloud, {"source": ["aws.s3"], "detail": {"bucket": {"name": [bucket]}}}, queue)
    tells = {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}
    properties = {"BucketName": bucket, "NotificationConfiguration": tells}
    template = {"Resources": {"Bucket": {"Type": "AWS::S3::Bucket", "Properties": properties}}}
    stacks = cloud.client("cloudformation")
    stacks.create_stack(StackName=bucket, TemplateBody=json.dumps(template))
    eventually(
        lambda: (
            True
            if stacks.describe_stacks(StackName=bucket)["Stacks"][0]["StackStatus"] == "CREATE_COMPLETE"
            else None
        )
    )
    cloud.client("s3").put_object(Bucket=bucket, Key="a", Body=b"x")
    (event,) = (json.loads(each) for each in queue.took(1))
    assert event["detail"]["object"]["key"] == "a"


def test_a_rule_reaches_a_queue_only_if_its_policy_lets_it(cloud: Cloud) -> None:
    source = f"shop-{next(names)}"
    let, silent, other = Queue(cloud), Queue(cloud), Queue(cloud)
    arns = [rule(cloud, {"source": [source]}, each) for each in (let, silent, other)]
    for queue, arn in ((let, arns[0]), (other, arns[0])):
        allowed = {
            **LETS_ALL_RULES,
            "Resource": queue.arn,
            "Condition": {"ArnEquals": {"aws:SourceArn": arn}},
        }
        cloud.client("sqs").set_queue_attributes(
            QueueUrl=queue.url, Attributes={"Policy": json.dumps({"Statement": [allowed]})}
        )
    put(cloud, source)
    assert len(let.took(1)) == 1
    assert (silent.left, other.left) == (0, 0)


def test_what_a_rule_may_not_deliver_goes_to_the_dead_letter_queue(cloud: Cloud) -> None:
    source, silent, dead = f"shop-{next(names)}", Queue(cloud), Queue(cloud, LETS_ALL_RULES)
    rule(cloud, {"source": [source]}, silent, DeadLetterConfig={"Arn": dead.arn})
    put(cloud, source, total=7)
    (event,) = (json.loads(each) for each in dead.took(1))
    assert event["detail"] == {"total": 7}


FAILS_ON_BAD = """
def handler(event, context):
    failed = [each["messageId"] for each in event["Records"] if each["body"] == "bad"]
    return {"batchItemFailures": [{"itemIdentifier": each} for each in failed]}
"""


def test_a_message_that_fails_comes_again_alone_and_then_goes_to_the_dead_letter_queue(cloud: Cloud) -> None:
    dead = Queue(cloud)
    again = {"deadLetterTargetArn": dead.arn, "maxReceiveCount": 2}
    queue = Queue(cloud, VisibilityTimeout="3", RedrivePolicy=json.dumps(again))
    queue.send("good", "bad", "good")
    cloud.functions.create_event_source_mapping(
        FunctionName=cloud.deploy(FAILS_ON_BAD, timeout=3),
        EventSourceArn=queue.arn,
        FunctionResponseTypes=["ReportBatchItemFailures"],
    )
    assert dead.took(1) == ["bad"]
    eventually(lambda: True if queue.left == 0 else None)
    assert dead.left == 0

"""A queue brings its messages to a function, also after a restart."""

from __future__ import annotations

from pathlib import Path

from acta.local_aws.testing import Cloud, eventually
from tests.local_aws.contracts.test_table_streams import REPORTER
from tests.local_aws.emulators import emulator_on
from tests.local_aws.sink import Sink


def test_a_queue_feeds_its_function_after_a_restart_on_another_port(tmp_path: Path) -> None:
    with Sink() as sink:
        with emulator_on(tmp_path) as process:
            cloud, before = Cloud.of(process), process.port
            function = cloud.deploy(REPORTER, Environment={"Variables": {"REPORT_TO": sink.url("/report")}})
            queues = cloud.client("sqs")
            url = queues.create_queue(QueueName="fed")["QueueUrl"]
            found = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
            arn = found["Attributes"]["QueueArn"]
            cloud.functions.create_event_source_mapping(FunctionName=function, EventSourceArn=arn)
        with emulator_on(tmp_path) as process:
            assert process.port != before
            Cloud.of(process).client("sqs").send_message(QueueUrl=url, MessageBody="hello")
            eventually(lambda: True if sink.heard else None)
    (record,) = sink.heard[0].body["Records"]
    assert (record["body"], record["eventSourceARN"]) == ("hello", arn)

"""A table's stream brings its changes to a function: filtered, again after a failure, and over a restart."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from acta.local_aws.testing import Cloud, eventually
from tests.local_aws.emulators import emulator_on
from tests.local_aws.sink import Reply, Sink

# Reports its event to a server; the answer decides whether the function succeeds.
REPORTER = """
import json, os, urllib.request

def handler(event, context):
    urllib.request.urlopen(urllib.request.Request(
        os.environ["REPORT_TO"], json.dumps(event).encode(), {"Content-Type": "application/json"}), timeout=20)
"""
FILTER = {"eventName": ["INSERT", "MODIFY"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "I#"}]}}}}
names = itertools.count(1)


class Streamed:
    """A table whose stream has keys only, and a function that gets its changes one at a time."""

    def __init__(self, cloud: Cloud, sink: Sink) -> None:
        self.name = f"streamed-{next(names)}"
        self.tables = cloud.client("dynamodb")
        made = self.tables.create_table(
            TableName=self.name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            KeySchema=[
                {"AttributeName": "pk", "KeyType": "HASH"},
                {"AttributeName": "sk", "KeyType": "RANGE"},
            ],
            StreamSpecification={"StreamEnabled": True, "StreamViewType": "KEYS_ONLY"},
        )["TableDescription"]
        function = cloud.deploy(REPORTER, Environment={"Variables": {"REPORT_TO": sink.url("/report")}})
        cloud.functions.create_event_source_mapping(
            FunctionName=function,
            EventSourceArn=made["LatestStreamArn"],
            StartingPosition="LATEST",
            BatchSize=1,
            FilterCriteria={"Filters": [{"Pattern": json.dumps(FILTER)}]},
        )

    def put(self, sk: str, **attributes: str) -> None:
        self.tables.put_item(TableName=self.name, Item=item(sk, **attributes))

    def put_all(self, *sks: str) -> None:
        puts = [{"Put": {"TableName": self.name, "Item": item(sk)}} for sk in sks]
        self.tables.transact_write_items(TransactItems=puts)


def item(sk: str, **attributes: str) -> dict[str, Any]:
    return {name: {"S": text} for name, text in {"pk": "T#t", "sk": sk, **attributes}.items()}


def reported(sink: Sink) -> list[tuple[str, str]]:
    return [(record["eventName"], record["dynamodb"]["Keys"]["sk"]["S"]) for record in records(sink)]


def records(sink: Sink) -> list[Mapping[str, Any]]:
    return [record for heard in sink.heard for record in heard.body["Records"]]


def heard(sink: Sink, count: int) -> None:
    eventually(lambda: True if len(sink.heard) >= count else None)


@pytest.fixture
def sink() -> Iterator[Sink]:
    with Sink() as made:
        yield made


def test_a_function_gets_the_keys_that_its_filter_names_in_order_and_no_content(
    cloud: Cloud, sink: Sink
) -> None:
    streamed = Streamed(cloud, sink)
    streamed.put("C#1", text="secret")
    streamed.put_all("C#2", "I#1")
    streamed.put("I#1", text="secret")
    streamed.put("C#3")
    streamed.tables.delete_item(TableName=streamed.name, Key=item("I#1"))
    streamed.put("I#2")
    heard(sink, 3)
    assert reported(sink) == [("INSERT", "I#1"), ("MODIFY", "I#1"), ("INSERT", "I#2")]
    assert "secret" not in json.dumps(records(sink))
    assert {record["eventSource"] for record in records(sink)} == {"aws:dynamodb"}


def test_a_change_whose_function_fails_comes_again_before_the_next_one(cloud: Cloud, sink: Sink) -> None:
    sink.replies["/report"] = Reply(500)
    streamed = Streamed(cloud, sink)
    streamed.put("I#1")
    streamed.put("I#2")
    heard(sink, 2)
    sink.replies["/report"] = Reply(200)
    eventually(lambda: True if reported(sink)[-1][1] == "I#2" else None)
    assert [sk for _, sk in reported(sink)] == ["I#1"] * (len(sink.heard) - 1) + ["I#2"]


def test_a_change_that_was_not_taken_before_a_restart_comes_after_it(tmp_path: Path, sink: Sink) -> None:
    with emulator_on(tmp_path) as process:
        streamed = Streamed(Cloud.of(process), sink)
        streamed.put("I#1")
        heard(sink, 1)
        sink.replies["/report"] = Reply(500)
        streamed.put("I#2")
        heard(sink, 2)
    sink.replies["/report"] = Reply(200)
    before = len(sink.heard)
    with emulator_on(tmp_path) as process:
        heard(sink, before + 1)
        again = Cloud.of(process).client("dynamodb")
        again.put_item(TableName=streamed.name, Item=item("I#3"))
        eventually(lambda: True if reported(sink)[-1][1] == "I#3" else None)
    assert [sk for _, sk in reported(sink)[before:]] == ["I#2", "I#3"]

"""The operator's event sources: what an environment may say, and what is deployed for it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from acta.infra.environments import DEV, LOCAL, PROD, STAGING
from acta.infra.options import BucketObjects, BusEvents, OperatorsSource, QueueMessages, WrittenFiles
from acta.infra.posture import settled
from acta.infra.sizing import RESERVED
from tests.infra.conftest import Synthesised, synthesised, text_of
from tests.infra.test_options import KEY_ARN

SOURCES: Mapping[str, OperatorsSource] = {
    "orders": BusEvents({"source": ["shop"]}, bus="shop", id="detail.order_id", tenant="detail.tenant"),
    "deployments": BusEvents({"source": ["aws.codepipeline"]}, tenants=("acme",)),
    "jobs": QueueMessages("jobs", tenants=("acme",), key_arn=KEY_ARN),
    "steps": QueueMessages("steps.fifo", id="step", tenants=("acme", "umbra")),
    "scans": BucketObjects("our-scans", "in/{tenant}/"),
    "invoices": WrittenFiles("invoices/*/"),
}
RULE, QUEUE, MAPPING = "AWS::Events::Rule", "AWS::SQS::Queue", "AWS::Lambda::EventSourceMapping"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: BusEvents({}, tenants=("acme",)), "BusEvents.pattern is an event pattern"),
        (lambda: BusEvents({"source": ["a"]}), "BusEvents.tenants is the tenants whose events these are"),
        (lambda: BusEvents({"source": ["a"]}, tenants=("*",)), "BusEvents.tenants is the tenants"),
        (lambda: BusEvents({"source": ["a"]}, tenant="$.detail"), "BusEvents.tenant is a path in the event"),
        (lambda: BusEvents({"source": ["a"]}, id="detail..x", tenants=("a",)), "BusEvents.id is a path"),
        (lambda: BusEvents({"source": ["a"]}, id="", tenants=("a",)), "BusEvents.id is a path"),
        (lambda: BusEvents({"source": ["a"]}, bus="a bus", tenants=("a",)), "BusEvents.bus is the name"),
        (lambda: BusEvents({"source": ["a"]}, tenants="acme"), "BusEvents.tenants is a tuple"),  # type: ignore[arg-type]
        (
            lambda: QueueMessages("https://sqs/jobs", tenants=("a",)),
            "QueueMessages.queue is the name of a queue",
        ),
        (lambda: QueueMessages("jobs"), "QueueMessages.tenants is the tenants"),
        (
            lambda: QueueMessages("jobs", tenants=("a",), key_arn="alias/x"),
            "QueueMessages.key_arn is the ARN",
        ),
        (lambda: BucketObjects("Our_Scans", tenants=("a",)), "BucketObjects.bucket is a bucket's name"),
        (lambda: BucketObjects("scans"), "BucketObjects.tenants is the tenants"),
        (lambda: BucketObjects("scans", "in-{tenant}/"), "BucketObjects.prefix is such as in/{tenant}/"),
        (lambda: BucketObjects("scans", "in/{tenant}"), "BucketObjects.prefix is such as in/{tenant}/"),
        (lambda: WrittenFiles("/invoices"), "WrittenFiles.prefix is the beginning"),
        (lambda: WrittenFiles("~/invoices"), "WrittenFiles.prefix is the beginning"),
        (
            lambda: replace(PROD, event_sources={"My files": WrittenFiles()}),
            "environment prod: event_sources is named",
        ),
        (lambda: replace(PROD, event_sources={f"f-{n}": WrittenFiles() for n in range(21)}), "20 at most"),
        (
            lambda: replace(
                PROD, event_sources={n: QueueMessages("jobs", tenants=("a",)) for n in ("a", "b")}
            ),
            "with one source for each queue",
        ),
    ],
)
def test_a_source_that_could_never_work_is_refused_with_what_to_write(
    make: Callable[[], object], said: str
) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        make()
    assert said in str(refused.value)


def test_a_flood_of_events_leaves_workers_to_webhooks_and_callbacks() -> None:
    four = {f"q-{n}": QueueMessages(f"q-{n}", tenants=("acme",)) for n in range(4)}
    assert settled(replace(STAGING, event_sources=dict(list(four.items())[:3])))
    with pytest.raises(ValueError, match="reserved_concurrency of wake is at least 25"):
        settled(replace(STAGING, event_sources=four))
    more = {**RESERVED, "wake": 25}
    assert settled(replace(STAGING, event_sources=four, reserved_concurrency=more))


def test_the_local_stack_has_sources_to_try_and_others_have_none() -> None:
    assert LOCAL.event_sources == {
        "inbox": WrittenFiles("inbox/"),
        "events": BusEvents({"source": ["acta.local"]}, id="detail.id", tenant="detail.tenant"),
    }
    assert PROD.event_sources == DEV.event_sources == {}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(replace(PROD, event_sources=SOURCES), tmp_path_factory.mktemp("sources"))


def rules(made: Synthesised) -> dict[str, Mapping[str, Any]]:
    """Name of a source -> its rule."""
    found = made.stateless.properties(RULE)
    ours = [each for each in found if "InputTransformer" in each["Targets"][0]]
    named = {
        json.loads(template(each).replace("<aws.events.event.json>", "1"))["source"]: each for each in ours
    }
    assert len(named) == len(ours)
    return named


def template(rule: Mapping[str, Any]) -> str:
    found: str = rule["Targets"][0]["InputTransformer"]["InputTemplate"]
    return found


@pytest.mark.thorough
def test_nothing_is_deployed_without_sources(prod: Synthesised) -> None:
    assert prod.stateless.resources(QUEUE) == {}
    assert not [each for each in prod.stateless.properties(RULE) if "InputTransformer" in each["Targets"][0]]
    assert all(name.startswith("UsageMapping") for name in prod.stateless.resources(MAPPING))
    assert "NotificationConfiguration" not in json.dumps(prod.stateful.body)
    assert "ACTA_EVENT_SOURCES" not in json.dumps(prod.stateless.body)


@pytest.mark.thorough
def test_each_source_of_eventbridge_has_a_rule_that_puts_its_events_beside_its_name(
    made: Synthesised,
) -> None:
    found = rules(made)
    assert found.keys() == {"orders", "deployments", "scans", "invoices"}
    assert template(found["orders"]) == '{"source":"orders","event":<aws.events.event.json>}'
    assert (found["orders"]["EventBusName"], found["orders"]["EventPattern"]) == (
        "shop",
        {"source": ["shop"]},
    )
    assert found["deployments"]["EventBusName"] == "default"
    created = {"source": ["aws.s3"], "detail-type": ["Object Created"]}
    scans, invoices = found["scans"]["EventPattern"], found["invoices"]["EventPattern"]
    in_scans = {"bucket": {"name": ["our-scans"]}, "object": {"key": [{"prefix": "in/"}]}}
    assert scans == {**created, "detail": in_scans}
    assert text_of(invoices["detail"]["bucket"]["name"][0]) == "Files"
    assert invoices["detail"]["object"] == {"key": [{"wildcard": r"files/*/invoices/\*/*"}]}


@pytest.mark.thorough
def test_the_bucket_of_the_files_tells_only_where_a_source_needs_it(
    made: Synthesised, prod: Synthesised
) -> None:
    (files,) = made.stateful.properties("AWS::S3::Bucket")
    assert files["NotificationConfiguration"] == {"EventBridgeConfiguration": {"EventBridgeEnabled": True}}
    assert not made.stateful.resources("Custom::S3BucketNotifications")
    assert "NotificationConfiguration" not in prod.stateful.properties("AWS::S3::Bucket")[0]


@pytest.mark.thorough
def test_events_wait_in_a_queue_and_those_that_fail_in_another(made: Synthesised) -> None:
    queues = {each["QueueName"]: each for each in made.stateless.properties(QUEUE)}
    events, failed = queues["acta-prod-events"], queues["acta-prod-events-failed"]
    assert queues.keys() == {"acta-prod-events", "acta-prod-events-failed"}
    wake = made.stateless.function("wake")
    assert events["VisibilityTimeout"] >= 6 * wake["Timeout"], (
        "else Lambda refuses the mapping, or repeats events"
    )
    assert text_of(events["RedrivePolicy"]["deadLetterTargetArn"]) == "EventsFailed.Arn"
    assert events["RedrivePolicy"]["maxReceiveCount"] == 5
    assert failed["MessageRetentionPeriod"] == 14 * 86_400
    assert all(each["SqsManagedSseEnabled"] for each in queues.values())
    for rule in rules(made).values():
        (target,) = rule["Targets"]
        assert text_of(target["Arn"]) == "Events.Arn"
        assert text_of(target["DeadLetterConfig"]["Arn"]) == "EventsFailed.Arn"


@pytest.mark.thorough
def test_only_the_rules_of_the_sources_put_events_into_the_queues(made: Synthesised) -> None:
    mine = {
        name
        for name, each in made.stateless.resources(RULE).items()
        if "InputTransformer" in json.dumps(each)
    }
    for policy in made.stateless.properties("AWS::SQS::QueuePolicy"):
        statements = {each.get("Sid", ""): each for each in policy["PolicyDocument"]["Statement"]}
        rule = statements.pop("Rules")
        assert (rule["Action"], rule["Principal"]) == ("sqs:SendMessage", {"Service": "events.amazonaws.com"})
        assert {each["Fn::GetAtt"][0] for each in rule["Condition"]["ArnEquals"]["aws:SourceArn"]} == mine
        assert all(each["Effect"] == "Deny" for each in statements.values())


@pytest.mark.thorough
def test_the_queues_call_the_function_with_batches_of_which_a_part_may_fail(made: Synthesised) -> None:
    fed = [
        each
        for each in made.stateless.properties(MAPPING)
        if made.stateless.called_by(each["FunctionName"]) == "wake"
    ]
    assert {text_of(each["EventSourceArn"]) for each in fed} == {
        "Events.Arn",
        "arn:aws:sqs:region:account:jobs",
        "arn:aws:sqs:region:account:steps.fifo",
    }
    for each in fed:
        assert each["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert each["ScalingConfig"]["MaximumConcurrency"] == 5


@pytest.mark.thorough
def test_the_function_may_take_from_these_queues_alone(made: Synthesised) -> None:
    granted = made.stateless.granted("WakeBaseRole")
    taken = {"sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage"}
    queues = {resource: actions for resource, actions in granted.items() if "sqs:ReceiveMessage" in actions}
    assert queues == {
        "Events.Arn": taken,
        "arn:aws:sqs:region:account:jobs": taken,
        "arn:aws:sqs:region:account:steps.fifo": taken,
    }
    assert granted[KEY_ARN] == {"kms:Decrypt"}
    for name in ("Start", "Admin", "Tool", "Recover"):
        assert "sqs:ReceiveMessage" not in json.dumps(made.stateless.statements(name))


@pytest.mark.thorough
def test_only_the_functions_that_need_them_know_the_sources(made: Synthesised) -> None:
    for name in made.environment.functions:
        known = made.stateless.function(name)["Environment"]["Variables"]
        assert ("ACTA_EVENT_SOURCES" in known) is (name in ("admin", "wake")), name
    told = json.loads(made.stateless.function("wake")["Environment"]["Variables"]["ACTA_EVENT_SOURCES"])
    assert told["orders"] == {"kind": "bus", "tenant": "detail.tenant", "id": "detail.order_id"}
    assert told["invoices"] == {"kind": "files", "prefix": "invoices/*/"}


@pytest.mark.thorough
def test_events_that_fail_or_wait_for_long_raise_an_alarm(made: Synthesised, prod: Synthesised) -> None:
    alarms = {each.get("AlarmName"): each for each in made.stateless.properties("AWS::CloudWatch::Alarm")}
    failed, behind = alarms["acta-prod-EventsFailed"], alarms["acta-prod-EventsBehind"]
    assert (failed["MetricName"], failed["Threshold"]) == ("ApproximateNumberOfMessagesVisible", 1)
    assert (behind["MetricName"], behind["Threshold"]) == ("ApproximateAgeOfOldestMessage", 900)
    assert "acta-prod-EventsFailed" not in json.dumps(prod.stateless.body)


@pytest.mark.thorough
def test_cdk_nag_has_nothing_to_say(made: Synthesised) -> None:
    assert made.findings == ()

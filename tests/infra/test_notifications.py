"""Notifications exist where an environment wants them, with no right beyond their own."""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from acta.infra.environments import LOCAL, PROD, Environment, Topic, UnusableValue, Webhook
from tests.infra.conftest import Synthesised, synthesised
from tests.infra.test_grants import READ_KEY, TABLE, common

pytestmark = pytest.mark.thorough

MAPPING = "AWS::Lambda::EventSourceMapping"
URL = "https://hooks.example.com/acta"
STREAM = {f"dynamodb:{name}" for name in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")}

QUEUE = {f"sqs:{name}" for name in ("DeleteMessage", "GetQueueAttributes", "ReceiveMessage", "SendMessage")}
FED = {TABLE: {"dynamodb:GetItem", "dynamodb:Query"}, "Table.StreamArn": STREAM, "NotifyAgain.Arn": QUEUE}
SIGNING_KEYS = "arn:aws:secretsmanager:region:account:secret:acta/prod/notify/*"
KEY = "arn:aws:secretsmanager:region:account:secret:acta/prod/notifications-??????"


@pytest.fixture(scope="module")
def webhook(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(replace(PROD, notifications=Webhook(URL)), tmp_path_factory.mktemp("webhook"))


@pytest.fixture(scope="module")
def topic(tmp_path_factory: pytest.TempPathFactory) -> Synthesised:
    return synthesised(replace(PROD, notifications=Topic()), tmp_path_factory.mktemp("topic"))


def mapping(made: Synthesised, name: str) -> Mapping[str, Any]:
    """That one of the two whose logical id begins so."""
    (found,) = (each for key, each in made.stateless.resources(MAPPING).items() if key.startswith(name))
    properties: Mapping[str, Any] = found["Properties"]
    return properties


@pytest.mark.parametrize("environment", ["dev", "staging", "prod"])
def test_nothing_is_deployed_where_no_notifications_are_sent(environment: str, synthesise: object) -> None:
    made: Synthesised = synthesise(environment)  # type: ignore[operator]
    assert all(name.startswith("UsageMapping") for name in made.stateless.resources(MAPPING))
    made_for_it = {
        name
        for name, each in made.stateless.body["Resources"].items()
        if "otif" in name and each["Type"] != "AWS::ApiGatewayV2::Route"
    }
    assert made_for_it == set()
    assert made.stateless.resources("AWS::SQS::Queue") == {}
    assert "ACTA_NOTIFY" not in json.dumps(made.stateless.body["Resources"])
    assert "notifications" not in json.dumps(made.stateful.body)


def test_the_stream_has_keys_only_and_switching_never_touches_the_stack_with_the_data(
    each: Synthesised, webhook: Synthesised, prod: Synthesised
) -> None:
    (table,) = each.stateful.properties("AWS::DynamoDB::Table")
    assert table["StreamSpecification"]["StreamViewType"] == "KEYS_ONLY"
    assert webhook.stateful.body["Outputs"] == prod.stateful.body["Outputs"]


def test_only_interventions_and_changed_listings_of_sessions_reach_the_function_one_at_a_time(
    webhook: Synthesised,
) -> None:
    stream = mapping(webhook, "NotifyMapping")
    questions, sessions = (json.loads(each["Pattern"]) for each in stream["FilterCriteria"]["Filters"])
    assert questions == {
        "eventName": ["INSERT", "MODIFY"],
        "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "I#"}]}}},
    }
    assert sessions == {"eventName": ["MODIFY"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "S#"}]}}}}
    assert (stream["BatchSize"], stream["Enabled"]) == (1, True)
    assert stream["StartingPosition"] == "TRIM_HORIZON", "what changes while AWS connects them is not missed"
    assert 0 < stream["MaximumRecordAgeInSeconds"] <= 86_400, "a stream keeps its records for a day"


def test_the_stream_s_mapping_can_replace_one_of_the_function_itself(webhook: Synthesised) -> None:
    """AWS refuses a second mapping of the stream for the same name, which was the function's own."""
    for name in ("NotifyMapping", "NotifyAgainMapping"):
        assert webhook.stateless.called_by(mapping(webhook, name)["FunctionName"]) == "notify"


def parts(value: Any) -> list[Any]:
    """The value and all that it is made of."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value, *(part for each in inner for part in parts(each))]


def test_undelivered_notifications_wait_in_a_queue_that_calls_the_function_with_one_at_a_time(
    webhook: Synthesised, prod: Synthesised
) -> None:
    ((name, queue),) = webhook.stateless.resources("AWS::SQS::Queue").items()
    again = mapping(webhook, "NotifyAgainMapping")
    assert again["EventSourceArn"] == {"Fn::GetAtt": [name, "Arn"]}
    assert (again["BatchSize"], again["FunctionResponseTypes"]) == (1, ["ReportBatchItemFailures"])
    notify = webhook.stateless.function("notify")
    assert notify["Environment"]["Variables"]["ACTA_NOTIFY_QUEUE_URL"] == {"Ref": name}
    assert queue["Properties"]["VisibilityTimeout"] >= notify["Timeout"], "else Lambda refuses the mapping"
    assert queue["Properties"]["MessageRetentionPeriod"] == 6 * 3_600
    assert queue["Properties"]["SqsManagedSseEnabled"] is True
    (policy,) = webhook.stateless.properties("AWS::SQS::QueuePolicy")
    (only,) = policy["PolicyDocument"]["Statement"]
    assert (only["Effect"], only["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})
    assert prod.stateless.resources("AWS::SQS::Queue") == {}


def test_undelivered_notifications_raise_an_alarm(webhook: Synthesised) -> None:
    (alarm,) = (
        each
        for each in webhook.stateless.properties("AWS::CloudWatch::Alarm")
        if each.get("Namespace") == "AWS/SQS"
    )
    assert alarm["MetricName"] == "ApproximateNumberOfMessagesNotVisible"
    assert (alarm["Threshold"], alarm["EvaluationPeriods"] * alarm["Period"]) == (1, 900)
    assert alarm["AlarmActions"]


def test_for_a_webhook_the_function_may_read_its_one_secret(webhook: Synthesised) -> None:
    assert webhook.stateless.granted("NotifyRole") == {**FED, KEY: READ_KEY, **common("notify")}
    variables = webhook.stateless.function("notify")["Environment"]["Variables"]
    assert variables["ACTA_NOTIFY_WEBHOOK_URL"] == URL
    assert variables["ACTA_NOTIFY_SECRET_NAME"] == "acta/prod/notifications"
    assert webhook.findings == ()


def test_the_webhooks_secret_is_made_by_aws_and_kept(webhook: Synthesised) -> None:
    (secret,) = (
        each
        for each in webhook.stateful.resources("AWS::SecretsManager::Secret").values()
        if each["Properties"]["Name"] == "acta/prod/notifications"
    )
    assert secret["Properties"]["GenerateSecretString"]["PasswordLength"] == 48
    assert "SecretString" not in secret["Properties"]
    assert secret["DeletionPolicy"] == "RetainExceptOnCreate"


def test_for_a_topic_the_function_may_publish_to_it_and_reads_no_secret(topic: Synthesised) -> None:
    to_the_topic = {"NotificationsTopic": {"sns:Publish"}}
    assert topic.stateless.granted("NotifyRole") == {**FED, **to_the_topic, **common("notify")}
    assert "NotificationsTopicArn" in topic.stateless.body["Outputs"]
    assert "acta/prod/notifications" not in json.dumps(topic.stateful.body)
    assert topic.findings == ()


def test_links_of_notifications_begin_with_the_addresses_of_the_api_and_of_the_console(
    webhook: Synthesised, tmp_path: Path
) -> None:
    variables = webhook.stateless.function("notify")["Environment"]["Variables"]
    assert {"Ref": "AWS::Region"} not in parts(variables["ACTA_NOTIFY_API_URL"])
    assert any("ApiEndpoint" in str(each) for each in parts(variables["ACTA_NOTIFY_API_URL"]))
    assert "ACTA_NOTIFY_CONSOLE_URL" not in variables
    console = replace(PROD, notifications=Topic(), console_url="https://console.example.com")
    named = synthesised(console, tmp_path).stateless.function("notify")["Environment"]["Variables"]
    assert named["ACTA_NOTIFY_CONSOLE_URL"] == "https://console.example.com"


def test_where_tenants_may_name_webhooks_four_functions_know_the_hosts_and_one_reads_what_signs(
    tmp_path: Path,
) -> None:
    made = synthesised(replace(PROD, notify_hosts=("hooks.example.com", "b.example:8443")), tmp_path)
    knowing = {
        name
        for name in made.environment.functions
        if made.stateless.function(name)["Environment"]["Variables"].get("ACTA_NOTIFY_HOSTS")
        == "hooks.example.com,b.example:8443"
    }
    assert knowing == {"start", "admin", "notify", "mcp"}
    assert made.stateless.granted("NotifyRole") == {**FED, SIGNING_KEYS: READ_KEY, **common("notify")}
    assert made.findings == ()
    assert mapping(made, "NotifyMapping")["Enabled"] is True


def test_a_webhook_in_aws_is_https(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="only an environment of the local kind may use http"):
        synthesised(replace(PROD, notifications=Webhook("http://hooks.example.com")), tmp_path)


def test_a_local_stack_reads_the_stream_only_when_notifications_are_switched_on(
    local: Synthesised, tmp_path: Path
) -> None:
    listening = synthesised(LOCAL.with_context("notifications", "on"), tmp_path)
    assert [mapping(made, "NotifyMapping")["Enabled"] for made in (local, listening)] == [False, True]


def test_an_environment_in_aws_is_not_switched_from_outside() -> None:
    environment: Environment = PROD
    with pytest.raises(UnusableValue):
        environment.with_context("notifications", "on")

"""Notifications about what waits for a person: the table's stream feeds `notify`, which tells a webhook or a topic.

The stream itself belongs to the table and is always there; it costs nothing until somebody reads it. So switching
notifications on or off touches this stack alone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_cdk import ArnFormat, CfnOutput, Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.environments import Environment, LocalWebhook, Topic, Webhook

READ_STREAM = (
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
)
TOLD = {"eventName": ["INSERT", "MODIFY"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "I#"}]}}}}
"""Interventions that begin or change (`shared/adapters/dynamodb/items.py`); nothing else reaches the function."""
TRIED_FOR = Duration.hours(6)
"""A receiver that is away so long loses nothing; one that never takes a notification holds the later ones up for no
longer. What is decided meanwhile is not told any more."""
SECRET = "notifications"


@dataclass(frozen=True)
class Outlet:
    """Where `notify` tells it: its settings, and what it may do for that."""

    settings: Mapping[str, str] = field(default_factory=dict)
    statements: tuple[iam.PolicyStatement, ...] = ()


def outlet(scope: Stack, environment: Environment, stream_arn: str) -> Outlet:
    """Empty where nobody is told. A topic is made in `scope`."""
    read = iam.PolicyStatement(sid="Stream", actions=list(READ_STREAM), resources=[stream_arn])
    match environment.notifications:
        case None:
            return Outlet()
        case LocalWebhook():
            return Outlet({}, (read,))
        case Webhook(url):
            name = notification_secret_name(environment)
            return Outlet(
                {"notify_webhook_url": url, "notify_secret_name": name}, (read, _may_read(scope, name))
            )
        case Topic():
            topic = _topic(scope, environment)
            publish = iam.PolicyStatement(sid="Topic", actions=["sns:Publish"], resources=[topic.topic_arn])
            return Outlet({"notify_topic_arn": topic.topic_arn}, (read, publish))


def listen(scope: Stack, environment: Environment, function: lambda_.IFunction, stream_arn: str) -> None:
    """One change at a time: a failure repeats only what failed."""
    goes = environment.notifications
    lambda_.EventSourceMapping(
        scope,
        "NotifyMapping",
        target=function,
        event_source_arn=stream_arn,
        starting_position=lambda_.StartingPosition.LATEST,
        batch_size=1,
        max_record_age=TRIED_FOR,
        filters=[{"pattern": json.dumps(TOLD)}],
        enabled=not isinstance(goes, LocalWebhook) or goes.is_listening,
    )


def notification_secret_name(environment: Environment) -> str:
    return f"acta/{environment.name}/{SECRET}"


def _may_read(scope: Stack, name: str) -> iam.PolicyStatement:
    """By name, so that no value crosses between the stacks; Secrets Manager adds six characters to it."""
    arn = scope.format_arn(
        service="secretsmanager",
        resource="secret",
        resource_name=f"{name}-??????",
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    return iam.PolicyStatement(
        sid="NotificationKey", actions=["secretsmanager:GetSecretValue"], resources=[arn]
    )


def _topic(scope: Construct, environment: Environment) -> sns.ITopic:
    topic = sns.Topic(
        scope,
        "NotificationsTopic",
        topic_name=f"acta-{environment.name}-notifications",
        enforce_ssl=True,
        master_key=kms.Alias.from_alias_name(scope, "SnsKey", "alias/aws/sns"),
    )
    CfnOutput(scope, "NotificationsTopicArn", value=topic.topic_arn)
    return topic

"""Notifications about what waits for a person: the table's stream feeds `notify`, which tells a webhook or a topic.
What nobody took goes on a queue, which feeds `notify` too: it is told again without anything waiting behind it.

The stream itself belongs to the table and is always there; it costs nothing until somebody reads it. So switching
notifications on or off touches this stack alone.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_cdk import ArnFormat, CfnOutput, Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.environments import Environment, LocalWebhook, Topic, Webhook
from infra.names import notification_secret_name

READ_STREAM = (
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
)
TOLD = {"eventName": ["INSERT", "MODIFY"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "I#"}]}}}}
"""Interventions that begin or change (`dynamodb/session_items.py`); nothing else reaches the function."""
USE_QUEUE = (
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
    "sqs:SendMessage",
)
TRIED_FOR = Duration.hours(6)
"""A receiver that is away so long loses nothing. What is decided meanwhile is not told any more."""
PAUSE = Duration.seconds(60)
"""Between attempts. Lambda asks that a queue's visibility timeout is not below its function's timeout."""
LOCAL_PAUSE = Duration.seconds(2)
AT_ONCE = 10
"""Attempts: receivers that hang take no more than these of the account's concurrency from everybody else."""


@dataclass(frozen=True)
class Outlet:
    """Where `notify` tells it: its settings, what it may do for that, and what waits to be told again."""

    queue: sqs.IQueue | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    statements: tuple[iam.PolicyStatement, ...] = ()


def outlet(scope: Stack, environment: Environment, stream_arn: str) -> Outlet:
    """Empty where nobody is told. The queue and a topic are made in `scope`."""
    if environment.notifications is None:
        return Outlet()
    queue = _queue(scope, environment)
    settings = {"notify_queue_url": queue.queue_url}
    fed = (
        iam.PolicyStatement(sid="Stream", actions=list(READ_STREAM), resources=[stream_arn]),
        iam.PolicyStatement(sid="Queue", actions=list(USE_QUEUE), resources=[queue.queue_arn]),
    )
    match environment.notifications:
        case LocalWebhook():
            return Outlet(queue, settings, fed)
        case Webhook(url):
            name = notification_secret_name(environment.name)
            settings |= {"notify_webhook_url": url, "notify_secret_name": name}
            return Outlet(queue, settings, (*fed, _may_read(scope, name)))
        case Topic():
            topic = _topic(scope, environment)
            publish = iam.PolicyStatement(sid="Topic", actions=["sns:Publish"], resources=[topic.topic_arn])
            return Outlet(queue, settings | {"notify_topic_arn": topic.topic_arn}, (*fed, publish))


def listen(
    scope: Stack, environment: Environment, function: lambda_.IFunction, stream_arn: str, queue: sqs.IQueue
) -> None:
    """One change at a time from either: a failure repeats only what failed. The stream repeats only what could not be
    put on the queue; its order is a tenant's."""
    goes = environment.notifications
    lambda_.EventSourceMapping(
        scope,
        "NotifyMapping",
        target=function,
        event_source_arn=stream_arn,
        starting_position=lambda_.StartingPosition.LATEST,
        batch_size=1,
        parallelization_factor=AT_ONCE,
        max_record_age=TRIED_FOR,
        filters=[{"pattern": json.dumps(TOLD)}],
        enabled=not isinstance(goes, LocalWebhook) or goes.is_listening,
    )
    lambda_.EventSourceMapping(
        scope,
        "NotifyAgainMapping",
        target=function,
        event_source_arn=queue.queue_arn,
        batch_size=1,
        max_concurrency=AT_ONCE,
        report_batch_item_failures=True,  # an error would have Lambda ask the queue less and less often
    )


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


def _queue(scope: Construct, environment: Environment) -> sqs.IQueue:
    return sqs.Queue(
        scope,
        "NotifyAgain",
        queue_name=f"acta-{environment.name}-notify-again",
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=not environment.is_local,
        visibility_timeout=LOCAL_PAUSE if environment.is_local else PAUSE,
        retention_period=TRIED_FOR,
        removal_policy=RemovalPolicy.DESTROY,
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

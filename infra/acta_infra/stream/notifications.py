"""Notifications about interventions and ended sessions: what feeds the function `notify`, and what it may use.

The table's stream calls `notify` with every change of an intervention and of a session's listing, and `notify` sends
what is to be told to a webhook or a topic. What could not be sent goes to a queue. The queue calls `notify` again
later, so that nothing else has to wait.

The stream belongs to the table and always exists; it costs nothing until something reads it. So switching
notifications on or off changes the stateless stack only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_cdk import CfnOutput, Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs

from acta_infra.environments import Environment, LocalWebhook, Topic, Webhook
from acta_infra.names import NOTIFICATIONS, notification_secrets, secret_name
from acta_infra.stream.sources import (
    ANY_SUFFIX,
    feed_stream,
    may_read_secret,
    reads_stream,
    waiting_queue,
)

TOLD_CHANGES = (
    {"eventName": ["INSERT", "MODIFY"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "I#"}]}}}},
    {"eventName": ["MODIFY"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "S#"}]}}}},
)
"""The stream's filters: items of interventions, written or changed, and listings of sessions, changed
(`shared/acta_engine/store/table_layout.py`). A session that begins is not over."""
QUEUE_ACTIONS = (
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
    "sqs:SendMessage",
)
RETRY_FOR = Duration.hours(6)
"""A receiver that is unavailable for less than this misses nothing but interventions that are decided by then."""
RETRY_PAUSE = Duration.seconds(60)
"""The queue's visibility timeout. Lambda requires that it is not below the timeout of the function it calls."""
MAX_CONCURRENCY = 10
"""Calls of `notify` at the same time, for each shard of the stream and for the queue. The functions of an account share
one concurrency limit, and a receiver that hangs must not use it up."""


@dataclass(frozen=True)
class Delivery:
    """What `notify` needs to send: the queue for later attempts, settings by field name, statements for its role."""

    queue: sqs.IQueue | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    statements: tuple[iam.PolicyStatement, ...] = ()


def create_delivery(scope: Stack, environment: Environment, stream_arn: str) -> Delivery:
    """Creates the queue, and a topic where one is chosen, in `scope`. Empty where nothing is sent."""
    if "notify" not in environment.functions:
        return Delivery()
    queue = waiting_queue(
        scope, environment, "NotifyAgain", "notify-again", retry_pause=RETRY_PAUSE, kept=RETRY_FOR
    )
    settings = {"notify_queue_url": queue.queue_url}
    if environment.console_url:
        settings["notify_console_url"] = environment.console_url
    sources: tuple[iam.PolicyStatement, ...] = (
        reads_stream(stream_arn),
        iam.PolicyStatement(sid="Queue", actions=list(QUEUE_ACTIONS), resources=[queue.queue_arn]),
    )
    if environment.notify_hosts or environment.is_local:
        every_tenants = notification_secrets(environment.name)  # `notify` acts for all
        sources = (*sources, may_read_secret(scope, "ReceiverSecrets", every_tenants))
    match environment.notifications:
        case None | LocalWebhook():
            return Delivery(queue, settings, sources)
        case Webhook(url):
            name = secret_name(environment.name, NOTIFICATIONS)
            settings |= {"notify_webhook_url": url, "notify_secret_name": name}
            key = may_read_secret(scope, "NotificationKey", f"{name}{ANY_SUFFIX}")
            return Delivery(queue, settings, (*sources, key))
        case Topic():
            topic = _topic(scope, environment)
            publish = iam.PolicyStatement(sid="Topic", actions=["sns:Publish"], resources=[topic.topic_arn])
            return Delivery(queue, settings | {"notify_topic_arn": topic.topic_arn}, (*sources, publish))


def feed_notify(
    scope: Stack, environment: Environment, function: lambda_.IFunction, stream_arn: str, queue: sqs.IQueue
) -> None:
    """Lets the stream and the queue call `function`, the alias of `notify`, with one change at a time.

    So a failure repeats only what failed. The stream repeats a change only where it could not be put on the queue. The
    stream keeps the order of one tenant's changes.
    """
    target = environment.notifications
    feed_stream(
        scope,
        "Notify",
        function,
        stream_arn,
        TOLD_CHANGES,
        batch_size=1,
        parallelization_factor=MAX_CONCURRENCY,
        max_record_age=RETRY_FOR,
        enabled=not isinstance(target, LocalWebhook) or target.is_listening,
    )
    lambda_.EventSourceMapping(
        scope,
        "NotifyAgainMapping",
        target=function,
        event_source_arn=queue.queue_arn,
        batch_size=1,
        max_concurrency=MAX_CONCURRENCY,
        report_batch_item_failures=True,  # after an error Lambda would read the queue less often
    )


def _topic(scope: Stack, environment: Environment) -> sns.ITopic:
    topic = sns.Topic(
        scope,
        "NotificationsTopic",
        topic_name=f"acta-{environment.name}-notifications",
        enforce_ssl=True,
        master_key=kms.Alias.from_alias_name(scope, "SnsKey", "alias/aws/sns"),
    )
    CfnOutput(scope, "NotificationsTopicArn", value=topic.topic_arn)
    return topic

"""The functions that follow sessions while they work, `notify`, `usage` and `traces`: what calls them, and what they
may use.

The table's stream has two readers at most: `notify`, where there is one, and `usage` (ADR 67). It belongs to the table
and always exists; it costs nothing until something reads it. So switching notifications on or off changes the stateless
stack only. What could not be sent yet waits in a queue, so that neither reader is held up by a slow receiver:

- The stream calls `notify` with every change of an intervention and of a session's listing, and `notify` sends what
  people are told to a webhook or a topic. What could not be sent goes to a queue, which calls `notify` again later.
- The stream calls `usage` with new commits. Where spans are exported, `usage` puts the names of the commits on a queue,
  and `traces` takes them from there and sends their spans outside (ADR 78).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aws_cdk import ArnFormat, CfnOutput, Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from acta.infra.environments import Environment, LocalOtlp, LocalWebhook, Otlp, Topic, Webhook, XRay
from acta.infra.names import NOTIFICATIONS, notification_secrets, secret_name
from acta.infra.retention import NOTIFICATION_HOURS, SPAN_DAYS

STREAM_ACTIONS = (
    "dynamodb:DescribeStream",
    "dynamodb:GetRecords",
    "dynamodb:GetShardIterator",
    "dynamodb:ListStreams",
)


def reads_stream(stream_arn: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid="Stream", actions=list(STREAM_ACTIONS), resources=[stream_arn])


def feed_stream(
    scope: Construct,
    name: str,
    function: lambda_.IFunction,
    stream_arn: str,
    told: Sequence[Mapping[str, Any]],
    **how: Any,
) -> None:
    """Lets the stream call `function` with the changes that one of the filters `told` lets through; other changes cost
    nothing. `function`: an alias. `name`: the mapping's name. `how`: further properties of `EventSourceMapping`.
    """
    lambda_.EventSourceMapping(
        scope,
        f"{name}Mapping",
        target=function,
        event_source_arn=stream_arn,
        # With LATEST, changes that happen while AWS is still connecting the stream would be missed.
        starting_position=lambda_.StartingPosition.TRIM_HORIZON,
        filters=[{"pattern": json.dumps(each)} for each in told],
        **how,
    )


NEW_COMMITS = {"eventName": ["INSERT"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "C#"}]}}}}
"""The stream's filter: commits (`acta/engine/store/table_layout.py`)."""
BATCH_SIZE = 500
WINDOW = Duration.seconds(60)
"""How long commits are collected, so that most turns of a session share one write."""


def feed_usage(
    scope: Construct, environment: Environment, function: lambda_.IFunction, stream_arn: str
) -> None:
    """`function`: the alias of `usage`. A batch that fails comes again until it is counted or the stream has forgotten
    it, a day later. Counting it twice changes nothing.
    """
    feed_stream(
        scope,
        "Usage",
        function,
        stream_arn,
        [NEW_COMMITS],
        batch_size=BATCH_SIZE,
        bisect_batch_on_error=True,  # a batch that takes too much time or memory is halved until it fits
        max_batching_window=Duration.seconds(0) if environment.is_local else WINDOW,
    )


LOCAL_RETRY_PAUSE = Duration.seconds(2)
"""Short, for tests and demonstrations. The local AWS does not compare it with the function's timeout."""
ANY_SUFFIX = "-??????"
"""Secrets Manager adds six characters to the name of a secret."""


def waiting_queue(
    scope: Construct,
    environment: Environment,
    logical_id: str,
    name: str,
    *,
    retry_pause: Duration,
    kept: Duration,
) -> sqs.IQueue:
    """The queue `acta-<env>-<name>`. `retry_pause`: the queue's visibility timeout, which is the time between two
    attempts at one message; locally LOCAL_RETRY_PAUSE is used instead.
    """
    return sqs.Queue(
        scope,
        logical_id,
        queue_name=f"acta-{environment.name}-{name}",
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=not environment.is_local,
        visibility_timeout=LOCAL_RETRY_PAUSE if environment.is_local else retry_pause,
        retention_period=kept,
        removal_policy=RemovalPolicy.DESTROY,
    )


def may_read_secret(scope: Stack, sid: str, name: str) -> iam.PolicyStatement:
    """Names the secret by `name`, so that no stack needs a value of another one. `name` may be a pattern; for a single
    secret it ends with ANY_SUFFIX.
    """
    arn = scope.format_arn(
        service="secretsmanager",
        resource="secret",
        resource_name=name,
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    return iam.PolicyStatement(sid=sid, actions=["secretsmanager:GetSecretValue"], resources=[arn])


TOLD_CHANGES = (
    {"eventName": ["INSERT", "MODIFY"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "I#"}]}}}},
    {"eventName": ["MODIFY"], "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "S#"}]}}}},
)
"""The stream's filters: interventions that are written or changed, and session listings that are changed
(`acta/engine/store/table_layout.py`). A new listing is left out: a session that begins is not over."""
QUEUE_ACTIONS = ("sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage", "sqs:SendMessage")
NOTIFY_PAUSE = Duration.seconds(60)
"""The queue's visibility timeout. Lambda requires it to be no shorter than the timeout of the called function."""
NOTIFY_CONCURRENCY = 10
"""Calls of `notify` at the same time, for each shard of the stream and for the queue. The functions of an account share
one concurrency limit, and a receiver that hangs must not use it up."""


@dataclass(frozen=True)
class Delivery:
    """What `notify` needs to send: the queue for later attempts, settings by field name, statements of its role."""

    queue: sqs.IQueue | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    statements: tuple[iam.PolicyStatement, ...] = ()


def create_delivery(scope: Stack, environment: Environment, stream_arn: str) -> Delivery:
    """Creates the queue, and a topic where one is chosen, in `scope`. Empty where nothing is sent."""
    if "notify" not in environment.functions:
        return Delivery()
    queue = waiting_queue(
        scope,
        environment,
        "NotifyAgain",
        "notify-again",
        retry_pause=NOTIFY_PAUSE,
        kept=Duration.hours(NOTIFICATION_HOURS),
    )
    settings = {"notify_queue_url": queue.queue_url}
    if environment.console_url:
        settings["notify_console_url"] = environment.console_url
    sources: tuple[iam.PolicyStatement, ...] = (
        reads_stream(stream_arn),
        iam.PolicyStatement(sid="Queue", actions=list(QUEUE_ACTIONS), resources=[queue.queue_arn]),
    )
    if environment.notify_hosts or environment.is_local:
        every_tenants = notification_secrets(environment.name)  # `notify` acts for all tenants
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
            topic = _notifications_topic(scope, environment)
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
        parallelization_factor=NOTIFY_CONCURRENCY,
        max_record_age=Duration.hours(NOTIFICATION_HOURS),
        enabled=not isinstance(target, LocalWebhook) or target.is_listening,
    )
    lambda_.EventSourceMapping(
        scope,
        "NotifyAgainMapping",
        target=function,
        event_source_arn=queue.queue_arn,
        batch_size=1,
        max_concurrency=NOTIFY_CONCURRENCY,
        report_batch_item_failures=True,  # if the call failed instead, Lambda would read the queue less often
    )


def _notifications_topic(scope: Stack, environment: Environment) -> sns.ITopic:
    topic = sns.Topic(
        scope,
        "NotificationsTopic",
        topic_name=f"acta-{environment.name}-notifications",
        enforce_ssl=True,
        master_key=kms.Alias.from_alias_name(scope, "SnsKey", "alias/aws/sns"),
    )
    CfnOutput(scope, "NotificationsTopicArn", value=topic.topic_arn)
    return topic


TAKE_TRACES = ("sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")
TRACES_PAUSE = Duration.minutes(6)
"""The queue's visibility timeout: six times the function's timeout. Source: AWS Lambda developer guide, "Using Lambda
with Amazon SQS"."""
MESSAGES_AT_ONCE = 10
TRACES_CONCURRENCY = 2
"""Invocations at the same time: the fewest that Lambda allows. A receiver that hangs uses no more concurrency."""


@dataclass(frozen=True)
class Traces:
    """`queue` None: nothing is exported. Settings by field name; statements for the roles of `usage` and `traces`."""

    queue: sqs.IQueue | None = None
    hand_over_settings: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str | bool] = field(default_factory=dict)
    hands_over: tuple[iam.PolicyStatement, ...] = ()
    statements: tuple[iam.PolicyStatement, ...] = ()


def create_traces(scope: Stack, environment: Environment) -> Traces:
    """Creates the queue in `scope`. Empty where nothing is exported."""
    if environment.traces is None:
        return Traces()
    queue = waiting_queue(
        scope, environment, "TraceQueue", "traces", retry_pause=TRACES_PAUSE, kept=Duration.days(SPAN_DAYS)
    )
    hands_over = iam.PolicyStatement(
        sid="TraceQueue", actions=["sqs:SendMessage"], resources=[queue.queue_arn]
    )
    takes = iam.PolicyStatement(sid="TraceQueue", actions=list(TAKE_TRACES), resources=[queue.queue_arn])
    named = {"traces_queue_url": queue.queue_url}
    settings: dict[str, str | bool] = dict(named)
    statements: tuple[iam.PolicyStatement, ...] = (takes,)
    match environment.traces:
        case LocalOtlp(is_listening):
            if not is_listening:
                return Traces(queue, {}, named, (hands_over,), statements)
        case XRay(content):  # every function may write to X-Ray (`acta/infra/lambdas/roles.py`)
            settings |= {"traces_xray": True, "traces_content": content}
        case Otlp(url, headers_secret, content):
            settings |= {"traces_url": url, "traces_content": content}
            if headers_secret is not None:
                settings |= {"traces_secret_name": headers_secret}
                named_so = f"{headers_secret}{ANY_SUFFIX}"  # an operator makes the secret
                statements = (*statements, may_read_secret(scope, "TraceHeaders", named_so))
    return Traces(queue, named, settings, (hands_over,), statements)


def feed_traces(
    scope: Construct, environment: Environment, function: lambda_.IFunction, queue: sqs.IQueue
) -> None:
    """Lets the queue call `function`, which is `traces`."""
    lambda_.EventSourceMapping(
        scope,
        "TracesMapping",
        target=function,
        event_source_arn=queue.queue_arn,
        batch_size=MESSAGES_AT_ONCE,
        max_concurrency=TRACES_CONCURRENCY,
        report_batch_item_failures=True,
        enabled=environment.traces != LocalOtlp(is_listening=False),
    )

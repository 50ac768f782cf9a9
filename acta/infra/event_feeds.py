"""What brings the events of the operator's sources (`Environment.event_sources`) to the function `wake`.

A rule of EventBridge puts the events of a bus or a bucket into the queue `acta-<env>-events`, each with the name of its
source. Lambda reads this queue and those of the operator's. What fails again and again is moved to
`acta-<env>-events-failed`, which an alarm watches; messages of the operator's own queues go where the redrive policies
of those say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from aws_cdk import ArnFormat, Duration, RemovalPolicy, Stack
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from acta.engine.store.keys import FILES
from acta.engine.triggers.sources import TENANT_FOLDER
from acta.infra.environments import Environment
from acta.infra.options import (
    EVENTS_CONCURRENCY,
    BucketObjects,
    BusEvents,
    OperatorsSource,
    QueueMessages,
    WrittenFiles,
)
from acta.infra.retention import FAILED_EVENT_DAYS

TAKE_EVENTS = ("sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")
EVENTS_AT_ONCE = 10
ATTEMPTS = 5
"""How often an event is tried before it is moved to the dead-letter queue: at least five times. Source: AWS Lambda
developer guide, "Creating and configuring an Amazon SQS event source mapping"."""
EVENTS_PAUSE = Duration.minutes(3)
"""The queue's visibility timeout: six times the function's timeout. Source: the same page."""
LOCAL_PAUSE = Duration.seconds(30)
"""Longer than a cold start on a busy machine: what becomes visible while it is worked on is tried once more."""


@dataclass(frozen=True)
class EventFeeds:
    """`queue`: None: no source needs EventBridge. `failed`: its dead-letter queue. `statements`: for the role of
    `wake`.
    """

    queue: sqs.IQueue | None = None
    failed: sqs.IQueue | None = None
    statements: tuple[iam.PolicyStatement, ...] = ()


def create_feeds(scope: Stack, environment: Environment) -> EventFeeds:
    """Creates the queues in `scope`. Empty where the environment has no sources."""
    sources = environment.event_sources.values()
    own = [each for each in sources if isinstance(each, QueueMessages)]
    arns = [_queue_arn(scope, each) for each in own]
    statements: list[iam.PolicyStatement] = []
    queue = failed = None
    if len(own) < len(sources):
        failed = _queue(
            scope,
            environment,
            "EventsFailed",
            "events-failed",
            retention_period=Duration.days(FAILED_EVENT_DAYS),
        )
        queue = _queue(
            scope,
            environment,
            "Events",
            "events",
            visibility_timeout=LOCAL_PAUSE if environment.is_local else EVENTS_PAUSE,
            dead_letter_queue=sqs.DeadLetterQueue(queue=failed, max_receive_count=ATTEMPTS),
        )
        arns.append(queue.queue_arn)
    if arns:
        statements.append(iam.PolicyStatement(sid="Events", actions=list(TAKE_EVENTS), resources=arns))
    if keys := sorted({each.key_arn for each in own if each.key_arn}):
        statements.append(iam.PolicyStatement(sid="EventKeys", actions=["kms:Decrypt"], resources=keys))
    return EventFeeds(queue, failed, tuple(statements))


def feed_wake(
    scope: Stack, environment: Environment, function: lambda_.IFunction, feeds: EventFeeds, files_bucket: str
) -> None:
    """Lets the queues call `function`, the alias of `wake`. `files_bucket`: the name of Acta's own bucket."""
    rules: list[str] = []
    for name, source in environment.event_sources.items():
        made = "".join(part.capitalize() for part in name.split("-"))
        if isinstance(source, QueueMessages):
            _take(scope, f"{made}Events", function, _queue_arn(scope, source))
        elif feeds.queue is not None and feeds.failed is not None:
            rule = events.CfnRule(
                scope,
                f"{made}Events",
                description=f"Acta ({environment.name}): the event source {name}",
                event_bus_name=source.bus if isinstance(source, BusEvents) else None,
                event_pattern=_pattern(source, files_bucket),
                targets=[
                    events.CfnRule.TargetProperty(
                        id="events",
                        arn=feeds.queue.queue_arn,
                        dead_letter_config=events.CfnRule.DeadLetterConfigProperty(
                            arn=feeds.failed.queue_arn
                        ),
                        input_transformer=events.CfnRule.InputTransformerProperty(
                            input_template=f'{{"source":"{name}","event":<aws.events.event.json>}}'
                        ),
                    )
                ],
            )
            rules.append(rule.attr_arn)
    if feeds.queue is not None and feeds.failed is not None:
        for queue in (feeds.queue, feeds.failed):
            queue.add_to_resource_policy(
                iam.PolicyStatement(
                    sid="Rules",
                    principals=[iam.ServicePrincipal("events.amazonaws.com")],
                    actions=["sqs:SendMessage"],
                    resources=[queue.queue_arn],
                    conditions={"ArnEquals": {"aws:SourceArn": rules}},
                )
            )
        _take(scope, "EventsMapping", function, feeds.queue.queue_arn)


def _queue(scope: Construct, environment: Environment, construct_id: str, name: str, **how: Any) -> sqs.Queue:
    return sqs.Queue(
        scope,
        construct_id,
        queue_name=f"acta-{environment.name}-{name}",
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=not environment.is_local,
        removal_policy=RemovalPolicy.DESTROY,
        **how,
    )


def _take(scope: Construct, construct_id: str, function: lambda_.IFunction, queue_arn: str) -> None:
    lambda_.EventSourceMapping(
        scope,
        construct_id,
        target=function,
        event_source_arn=queue_arn,
        batch_size=EVENTS_AT_ONCE,
        max_concurrency=EVENTS_CONCURRENCY,
        report_batch_item_failures=True,
    )


def _queue_arn(scope: Stack, source: QueueMessages) -> str:
    return scope.format_arn(service="sqs", resource=source.queue, arn_format=ArnFormat.NO_RESOURCE_NAME)


def _pattern(source: OperatorsSource, files_bucket: str) -> Mapping[str, Any]:
    match source:
        case WrittenFiles(prefix):
            # `*` also stands for folders, so events of other files come, too, and `wake` passes them over.
            written = prefix.replace("*", r"\*")
            keys: Any = {"wildcard": f"{FILES}/*/{written}*"} if prefix else {"prefix": f"{FILES}/"}
            return _created(files_bucket, keys)
        case BucketObjects(bucket, prefix):
            before = prefix.partition(TENANT_FOLDER)[0]
            return _created(bucket, {"prefix": before} if before else None)
        case BusEvents(pattern):
            return pattern
        case QueueMessages():
            raise TypeError("a queue has no rule")


def _created(bucket: str, keys: Mapping[str, str] | None) -> Mapping[str, Any]:
    """Source: Amazon S3 user guide, "Using EventBridge", the type Object Created."""
    detail: dict[str, Any] = {"bucket": {"name": [bucket]}}
    if keys is not None:
        detail["object"] = {"key": [keys]}
    return {"source": ["aws.s3"], "detail-type": ["Object Created"], "detail": detail}

"""The queue between `usage`, which hears of new commits, and `traces`, which sends their spans outside (ADR 78).

The table's stream has two readers at most, and a receiver of spans that is slow must not hold up either of them. So
`usage` puts the names of the commits on a queue, and `traces` takes them from there.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_cdk import Duration, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from acta_infra.environments import Environment, LocalOtlp, Otlp, XRay
from acta_infra.stream.sources import ANY_SUFFIX, may_read_secret, waiting_queue

TAKE = ("sqs:DeleteMessage", "sqs:GetQueueAttributes", "sqs:ReceiveMessage")
KEPT = Duration.days(4)
"""Longer than `GIVEN_UP_AFTER` in `shared/acta_engine/traces/export.py`: what is given up is given up and
counted there."""
RETRY_PAUSE = Duration.minutes(6)
"""The queue's visibility timeout: six times the function's timeout. Source: AWS Lambda developer guide, "Using Lambda
with Amazon SQS"."""
MESSAGES_AT_ONCE = 10
MAX_CONCURRENCY = 2
"""Invocations at the same time: the least that Lambda takes. A receiver that hangs uses up no more of the account's."""


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
    queue = waiting_queue(scope, environment, "TraceQueue", "traces", retry_pause=RETRY_PAUSE, kept=KEPT)
    hands_over = iam.PolicyStatement(
        sid="TraceQueue", actions=["sqs:SendMessage"], resources=[queue.queue_arn]
    )
    takes = iam.PolicyStatement(sid="TraceQueue", actions=list(TAKE), resources=[queue.queue_arn])
    named = {"traces_queue_url": queue.queue_url}
    settings: dict[str, str | bool] = dict(named)
    statements: tuple[iam.PolicyStatement, ...] = (takes,)
    match environment.traces:
        case LocalOtlp(is_listening):
            if not is_listening:
                return Traces(queue, {}, named, (hands_over,), statements)
        case XRay(content):  # every function may write to X-Ray (`infra/acta_infra/lambdas/roles.py`)
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
        max_concurrency=MAX_CONCURRENCY,
        report_batch_item_failures=True,
        enabled=environment.traces != LocalOtlp(is_listening=False),
    )

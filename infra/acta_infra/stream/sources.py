"""What calls the functions that follow sessions: the table's stream, with the keys of what changed, and queues of what
is still to be sent; and the secrets to send with.

A stream has two readers at most: `notify`, where there is one, and `usage` (ADR 67).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import ArnFormat, Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from acta_infra.environments import Environment

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
    """Lets the stream call `function` with the changes that one of the filters `told` lets through: what they leave out
    is not billed. `function`: an alias. `name`: of the mapping. `how`: further properties of `EventSourceMapping`.
    """
    lambda_.EventSourceMapping(
        scope,
        f"{name}Mapping",
        target=function,
        event_source_arn=stream_arn,
        # What changes while AWS is still connecting the stream would be missed from LATEST on.
        starting_position=lambda_.StartingPosition.TRIM_HORIZON,
        filters=[{"pattern": json.dumps(each)} for each in told],
        **how,
    )


NEW_COMMITS = {
    "eventName": ["INSERT"],
    "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "C#"}]}}},
}
"""The stream's filter: commits (`shared/acta_engine/store/table_layout.py`)."""
BATCH_SIZE = 500
WINDOW = Duration.seconds(60)
"""Commits are collected for so long, so that most turns of a session share one write."""


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
        bisect_batch_on_error=True,  # one that takes too much time or memory is divided until it does not
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
    """The queue `acta-<env>-<name>`. `retry_pause`: its visibility timeout, so the time between two attempts at one
    message; locally LOCAL_RETRY_PAUSE.
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
    """By name, so that the stacks exchange no value. `name` may be a pattern; that of one secret ends with
    ANY_SUFFIX.
    """
    arn = scope.format_arn(
        service="secretsmanager",
        resource="secret",
        resource_name=name,
        arn_format=ArnFormat.COLON_RESOURCE_NAME,
    )
    return iam.PolicyStatement(sid=sid, actions=["secretsmanager:GetSecretValue"], resources=[arn])

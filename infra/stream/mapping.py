"""The table's stream: the keys of what changed, for the functions that follow it.

A stream has two readers at most: `notify`, where there is one, and `usage` (ADR 67).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

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

"""What feeds the function `usage`: the table's stream, with the keys of new commits (ADR 67).

A stream has two readers at most: `notify`, where there is one, and this one.
"""

import json

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.environments import Environment
from infra.names import STREAM_ALIAS

NEW_COMMITS = {
    "eventName": ["INSERT"],
    "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "C#"}]}}},
}
"""The stream's filter: commits (`shared/adapters/dynamodb/table_layout.py`). What it leaves out is not billed."""
BATCH_SIZE = 500
WINDOW = Duration.seconds(60)
"""Commits are collected for so long, so that most turns of a session share one write."""


def feed_usage(
    scope: Construct, environment: Environment, function: lambda_.IFunction, stream_arn: str
) -> None:
    """A batch that fails comes again until it is counted or the stream has forgotten it, a day later. Counting it twice
    changes nothing.
    """
    lambda_.EventSourceMapping(
        scope,
        "UsageMapping",
        target=lambda_.Alias(
            scope, "UsageStreamAlias", alias_name=STREAM_ALIAS, version=function.latest_version
        ),
        event_source_arn=stream_arn,
        # What changes while AWS is still connecting the stream would be missed from LATEST on.
        starting_position=lambda_.StartingPosition.TRIM_HORIZON,
        batch_size=BATCH_SIZE,
        max_batching_window=Duration.seconds(0) if environment.is_local else WINDOW,
        filters=[{"pattern": json.dumps(NEW_COMMITS)}],
    )

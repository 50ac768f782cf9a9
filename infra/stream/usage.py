"""What feeds the function `usage`: the table's stream, with the keys of new commits (ADR 67)."""

from aws_cdk import Duration
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.environments import Environment
from infra.stream.mapping import feed_stream

NEW_COMMITS = {
    "eventName": ["INSERT"],
    "dynamodb": {"Keys": {"sk": {"S": [{"prefix": "C#"}]}}},
}
"""The stream's filter: commits (`shared/adapters/dynamodb/table_layout.py`)."""
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

"""How often recovery looks for sessions that stand still (design §2)."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from constructs import Construct


def schedule_recovery(scope: Construct, recover: lambda_.IFunction) -> None:
    """Calls `recover` each minute. A failed call is not repeated: the next one looks at the same sessions."""
    target = targets.LambdaFunction(recover, retry_attempts=0)
    events.Rule(scope, "EveryMinute", schedule=events.Schedule.rate(Duration.minutes(1)), targets=[target])

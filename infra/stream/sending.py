"""What both functions have that send to the outside: a queue of what is still to be sent, and a secret to send with."""

from aws_cdk import ArnFormat, Duration, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.environments import Environment

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

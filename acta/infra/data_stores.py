"""What holds data: buckets, tables, secrets, logs and the audit trail. All are encrypted, and outlive the stack where
the environment says so. `place` says which account and region an environment's stacks go to.

No lifecycle rule deletes the current version of an object.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import Environment as Where
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from acta.infra.environments import Environment
from acta.infra.names import AUDIT, secret_name
from acta.infra.retention import LONGEST_RECOVERY


def place(environment: Environment) -> Where | None:
    """Where the stacks go, so that plain `cdk` refuses other accounts, too. None: the environment is not pinned."""
    if environment.account is None:
        return None
    return Where(account=environment.account, region=environment.region)


def deny_other_accounts(
    scope: Construct, actions: Sequence[str], resources: Sequence[str]
) -> iam.PolicyStatement:
    """A statement for a resource's own policy. It holds whatever another policy may allow some day.

    Denies `actions` to principals of other accounts and to those without one, such as anonymous requests. Services
    of AWS that act for themselves have no account either; what they may do is left to other statements.
    """
    return iam.PolicyStatement(
        sid="OwnAccountOnly",
        effect=iam.Effect.DENY,
        principals=[iam.AnyPrincipal()],
        actions=list(actions),
        resources=list(resources),
        conditions={
            "StringNotEquals": {"aws:PrincipalAccount": Stack.of(scope).account},
            "BoolIfExists": {"aws:PrincipalIsAWSService": "false"},
        },
    )


_DAYS = {
    1: logs.RetentionDays.ONE_DAY,
    7: logs.RetentionDays.ONE_WEEK,
    14: logs.RetentionDays.TWO_WEEKS,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    180: logs.RetentionDays.SIX_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}
"""CDK's names of the numbers in `LOG_DAYS`."""


def removal_policy(environment: Environment, *, protected: bool = False) -> RemovalPolicy:
    """The removal policy of everything that holds data. What is retained goes all the same when its creation is rolled
    back: it was never in use, and a fixed name that stays taken would fail the next attempt.

    `protected`: AWS itself refuses to delete it. A rollback that tried would leave the stack in ROLLBACK_FAILED.
    """
    if not environment.retain:
        return RemovalPolicy.DESTROY
    return RemovalPolicy.RETAIN if protected else RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE


def new_log_group(scope: Construct, id: str, name: str, environment: Environment) -> logs.LogGroup:
    """`name`: the log group's name in CloudWatch. Where data outlives the stack, so does what was logged about it, but
    for no longer than its retention.
    """
    return logs.LogGroup(
        scope,
        id,
        log_group_name=name,
        retention=_DAYS[environment.retention.logs],
        removal_policy=removal_policy(environment),
    )


def data_bucket(
    scope: Construct, name: str, environment: Environment, *, versioned: bool, tells: bool = False
) -> s3.Bucket:
    """`versioned` False: what is deleted is gone at once. `tells`: the bucket sends its events to EventBridge."""
    kept = Duration.days(environment.retention.file_versions) if versioned else None
    bucket = s3.Bucket(
        scope,
        name,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=not environment.is_local,  # the local AWS speaks plain HTTP on loopback
        versioned=versioned,
        lifecycle_rules=[
            s3.LifecycleRule(
                abort_incomplete_multipart_upload_after=Duration.days(1), noncurrent_version_expiration=kept
            )
        ],
        removal_policy=removal_policy(environment),
    )
    if tells:
        # The construct's own property adds a function that sets this. The resource has it as a property, too.
        cast(
            s3.CfnBucket, bucket.node.default_child
        ).notification_configuration = s3.CfnBucket.NotificationConfigurationProperty(
            event_bridge_configuration=s3.CfnBucket.EventBridgeConfigurationProperty(
                event_bridge_enabled=True
            )
        )
    if not environment.is_local:
        everything = [bucket.bucket_arn, bucket.arn_for_objects("*")]
        bucket.add_to_resource_policy(deny_other_accounts(scope, ["s3:*"], everything))
    return bucket


def data_table(scope: Construct, name: str, environment: Environment, **more: Any) -> dynamodb.Table:
    """A table with the keys `pk` and `sk`, both strings; items end at the time in `ttl`. `more`: further properties."""
    recovered, days = environment.point_in_time_recovery, environment.retention.recovery
    return dynamodb.Table(
        scope,
        name,
        partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
        sort_key=dynamodb.Attribute(name="sk", type=dynamodb.AttributeType.STRING),
        billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
        time_to_live_attribute="ttl",
        encryption=dynamodb.TableEncryption.DEFAULT
        if environment.is_local
        else dynamodb.TableEncryption.AWS_MANAGED,
        point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
            point_in_time_recovery_enabled=recovered,
            recovery_period_in_days=days
            if recovered and days < LONGEST_RECOVERY
            else None,  # AWS's default is the longest
        ),
        deletion_protection=environment.deletion_protection,
        removal_policy=removal_policy(environment, protected=environment.deletion_protection),
        **more,
    )


def data_secret(scope: Construct, name: str, environment: Environment, **more: Any) -> secretsmanager.Secret:
    """`more`: the secret's name in AWS, its description, and its first value or how AWS generates that."""
    secret = secretsmanager.Secret(scope, name, removal_policy=removal_policy(environment), **more)
    secret.add_to_resource_policy(deny_other_accounts(scope, ["secretsmanager:*"], ["*"]))
    return secret


RECORD_CHANGES = (
    "dynamodb:UpdateItem",
    "dynamodb:DeleteItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:PartiQLInsert",
    "dynamodb:PartiQLUpdate",
    "dynamodb:PartiQLDelete",
)
"""Actions that write items, except PutItem. Source: Service Authorization Reference, actions of Amazon DynamoDB."""


class AuditStore(NamedTuple):
    """`secret`: None locally."""

    table: dynamodb.Table
    secret: secretsmanager.Secret | None


def audit_trail(scope: Construct, environment: Environment) -> AuditStore:
    if environment.is_local:
        return AuditStore(data_table(scope, "Audit", environment, resource_policy=None), None)
    # Not even an administrator of the account may change a record before removing this policy, which CloudTrail
    # records. A table's own policy names the table by `*`, because the ARN is known only once the table exists.
    nobody_changes_a_record = iam.PolicyStatement(
        sid="RecordsStay",
        effect=iam.Effect.DENY,
        principals=[iam.AnyPrincipal()],
        actions=list(RECORD_CHANGES),
        resources=["*"],
    )
    policy = iam.PolicyDocument(statements=[nobody_changes_a_record])
    table = data_table(scope, "Audit", environment, resource_policy=policy)
    key = data_secret(
        scope,
        "AuditKey",
        environment,
        secret_name=secret_name(environment.name, AUDIT),
        description="What pseudonyms in the audit trail are made with",
        generate_secret_string=secretsmanager.SecretStringGenerator(
            password_length=64, exclude_punctuation=True
        ),
    )
    return AuditStore(table, key)

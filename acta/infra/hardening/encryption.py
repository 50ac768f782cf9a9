"""The account's own KMS key for all that Acta stores: the table, buckets, secrets, logs, queues, topics. The function
that makes secrets while it runs is told of it.

An aspect gives the key to every such resource of a stack, so none is forgotten when one is added.
"""

import jsii
from aws_cdk import Aspects, IAspect, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import IConstruct

from acta.engine.settings import PREFIX
from acta.infra.data_stores import removal_policy
from acta.infra.environments import Environment
from acta.infra.lambdas.roles import add_inline_policy
from acta.infra.names import function_name
from acta.infra.options import CustomerKey
from acta.infra.sizing import FunctionName

MAKES_SECRETS: FunctionName = "admin"
SERVICES = ("dynamodb", "s3", "secretsmanager", "sns", "sqs")
"""Services that use the key in the name of their caller. Logs use it in their own name."""
USE = (
    "kms:Decrypt",
    "kms:DescribeKey",
    "kms:Encrypt",
    "kms:GenerateDataKey",
    "kms:ReEncryptFrom",
    "kms:ReEncryptTo",
)
"""Source: DynamoDB developer guide, "Authorizing use of your customer managed key"; the others need fewer actions."""


def encrypt(environment: Environment, option: CustomerKey, home: Stack, *others: Stack) -> None:
    """Encrypts what `home` and `others` store. A key that Acta makes is in `home`."""
    key_arn = _made(environment, home) if option.arn is None else option.arn
    for stack in (home, *others):
        Aspects.of(stack).add(_Encrypted(key_arn, function_name(environment.name, MAKES_SECRETS)))


def _made(environment: Environment, home: Stack) -> str:
    """A key that is kept as long as the data, because deleting the key makes all data unreadable."""
    key = kms.Key(
        home,
        "Key",
        alias=f"acta-{environment.name}",
        description=f"Acta ({environment.name}): what is stored",
        enable_key_rotation=True,
        removal_policy=removal_policy(environment),
    )
    key.add_to_resource_policy(
        iam.PolicyStatement(
            sid="Logs",
            principals=[iam.ServicePrincipal(f"logs.{home.region}.amazonaws.com")],
            actions=list(USE),
            resources=["*"],
            conditions={
                "ArnLike": {
                    "kms:EncryptionContext:aws:logs:arn": home.format_arn(
                        service="logs", resource="log-group:*", resource_name=f"acta-{environment.name}*"
                    )
                }
            },
        )
    )
    for sid, service in (("Alarms", "cloudwatch"), ("Budgets", "budgets")):  # both tell the topic of alarms
        key.add_to_resource_policy(
            iam.PolicyStatement(
                sid=sid,
                principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
                actions=["kms:Decrypt", "kms:GenerateDataKey"],
                resources=["*"],
                conditions={"StringEquals": {"aws:SourceAccount": home.account}},
            )
        )
    if environment.event_sources:
        # Rules put events into a queue that the key encrypts. The queue's own policy names these rules: in the key's,
        # conditions on the source are not supported for EventBridge. Source: Amazon SNS developer guide, "Enable
        # compatibility between event sources from AWS services and encrypted topics".
        key.add_to_resource_policy(
            iam.PolicyStatement(
                sid="Events",
                principals=[iam.ServicePrincipal("events.amazonaws.com")],
                actions=["kms:Decrypt", "kms:GenerateDataKey"],
                resources=["*"],
            )
        )
    return key.key_arn


@jsii.implements(IAspect)
class _Encrypted:
    def __init__(self, key_arn: str, makes_secrets: str) -> None:
        """`makes_secrets`: the function's name."""
        self._key_arn = key_arn
        self._makes_secrets = makes_secrets

    def visit(self, node: IConstruct) -> None:
        key = self._key_arn
        match node:
            case dynamodb.CfnTable():
                node.sse_specification = dynamodb.CfnTable.SSESpecificationProperty(
                    sse_enabled=True, sse_type="KMS", kms_master_key_id=key
                )
            case s3.CfnBucket():
                node.bucket_encryption = _by_key(key)
            case secretsmanager.CfnSecret():
                node.kms_key_id = key
            case logs.CfnLogGroup():
                node.kms_key_id = key
            case sns.CfnTopic():
                node.kms_master_key_id = key
            case sqs.CfnQueue():
                node.sqs_managed_sse_enabled = False
                node.kms_master_key_id = key
            case lambda_.CfnFunction() if node.function_name == self._makes_secrets:
                node.add_property_override(f"Environment.Variables.{PREFIX}TOOL_SECRETS_KEY", key)
            case iam.CfnRole() if _uses_what_is_encrypted(node):
                # It may use the key through the services that store data, never directly.
                via = [f"{service}.{Stack.of(node).region}.amazonaws.com" for service in SERVICES]
                statement = iam.PolicyStatement(
                    sid="Key",
                    actions=list(USE),
                    resources=[self._key_arn],
                    conditions={"StringEquals": {"kms:ViaService": via}},
                )
                add_inline_policy(node, "key", statement)


def _by_key(key_arn: str) -> s3.CfnBucket.BucketEncryptionProperty:
    """Encryption with a bucket key, so that S3 asks KMS only once in a while and not for each object."""
    return s3.CfnBucket.BucketEncryptionProperty(
        server_side_encryption_configuration=[
            s3.CfnBucket.ServerSideEncryptionRuleProperty(
                bucket_key_enabled=True,
                server_side_encryption_by_default=s3.CfnBucket.ServerSideEncryptionByDefaultProperty(
                    sse_algorithm="aws:kms", kms_master_key_id=key_arn
                ),
            )
        ]
    )


def _uses_what_is_encrypted(role: iam.CfnRole) -> bool:
    """Whether the role may do anything with one of the services."""
    for policy in Stack.of(role).resolve(role.policies) or ():
        for statement in policy["policyDocument"]["Statement"]:
            actions = statement["Action"]
            names = [actions] if isinstance(actions, str) else actions
            if any(name.split(":")[0] in SERVICES for name in names):
                return True
    return False

"""The table of the audit trail, which nobody changes, and the key of its pseudonyms (ADR 54)."""

from typing import NamedTuple

from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from acta_infra.data_stores import data_secret, data_table
from acta_infra.environments import Environment
from acta_infra.names import AUDIT, secret_name

CHANGES = (
    "dynamodb:UpdateItem",
    "dynamodb:DeleteItem",
    "dynamodb:BatchWriteItem",
    "dynamodb:PartiQLInsert",
    "dynamodb:PartiQLUpdate",
    "dynamodb:PartiQLDelete",
)
"""All ways to write items but PutItem. Source: Service Authorization Reference, actions of Amazon DynamoDB."""


class AuditTrail(NamedTuple):
    """`secret`: None locally."""

    table: dynamodb.Table
    secret: secretsmanager.Secret | None


def audit_trail(scope: Construct, environment: Environment) -> AuditTrail:
    if environment.is_local:
        return AuditTrail(data_table(scope, "Audit", environment, resource_policy=None), None)
    # Not even an administrator of the account, before this policy is taken away, which CloudTrail records.
    # A table's own policy names the table by `*`: its ARN would need the table to be there first.
    nobody_changes_a_record = iam.PolicyStatement(
        sid="RecordsStay",
        effect=iam.Effect.DENY,
        principals=[iam.AnyPrincipal()],
        actions=list(CHANGES),
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
    return AuditTrail(table, key)

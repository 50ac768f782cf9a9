"""Adds a policy to a role that exists already. Roles here are closed: no construct adds to them by itself."""

from typing import cast

from aws_cdk import aws_iam as iam


def add_inline_policy(role: iam.CfnRole, name: str, *statements: iam.PolicyStatement) -> None:
    """Behind the role's own inline policies."""
    own = cast(list[iam.CfnRole.PolicyProperty], role.policies or [])
    document = iam.PolicyDocument(statements=list(statements))
    role.policies = [*own, iam.CfnRole.PolicyProperty(policy_name=name, policy_document=document)]

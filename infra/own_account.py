"""A statement for a resource's own policy: nobody of another account, whatever another policy allows some day."""

from collections.abc import Sequence

from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct


def deny_other_accounts(
    scope: Construct, actions: Sequence[str], resources: Sequence[str]
) -> iam.PolicyStatement:
    """Denies `actions` to principals of other accounts and to those without one, such as anonymous requests. Services
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

"""The account that an environment belongs to: where its stacks go, and a statement that keeps other accounts out."""

from collections.abc import Sequence

from aws_cdk import Environment as Where
from aws_cdk import Stack
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.environments import Environment


def place(environment: Environment) -> Where | None:
    """Where the stacks of a pinned environment go: plain `cdk` refuses other accounts, too. None: it is not pinned."""
    if environment.account is None:
        return None
    return Where(account=environment.account, region=environment.region)


def deny_other_accounts(
    scope: Construct, actions: Sequence[str], resources: Sequence[str]
) -> iam.PolicyStatement:
    """For a resource's own policy, whatever another policy allows some day.

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

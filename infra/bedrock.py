"""Claude on Amazon Bedrock: what `step` may invoke, where an environment's agents may name that provider.

A cross-region inference profile passes a request on to models of other regions, so both have to be allowed and the
region stays open. Nothing but Claude is: the adapter speaks its wire format.
"""

from aws_cdk import Stack
from constructs import Construct

ACTIONS = frozenset({"bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream"})
MODELS = "foundation-model/anthropic.claude-*"
PROFILES = "inference-profile/*.anthropic.claude-*"


def claude_arns(scope: Construct) -> tuple[str, str]:
    partition, account = Stack.of(scope).partition, Stack.of(scope).account
    return f"arn:{partition}:bedrock:*::{MODELS}", f"arn:{partition}:bedrock:*:{account}:{PROFILES}"

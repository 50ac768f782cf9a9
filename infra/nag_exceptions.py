"""Rules of cdk-nag's AwsSolutions pack that Acta does not follow as they are written, each with its reason."""

from collections.abc import Mapping
from types import MappingProxyType

from aws_cdk import Acknowledgment, Stack, Validations

from infra.lambdas.grants import CLAUDE_MODELS, CLAUDE_PROFILES, FILES, SESSIONS, TENANT_FUNCTIONS

PACK = "AwsSolutions"
BUCKET = "ExportsOutputFnGetAttFiles8E6940B8ArnD8EE6C03"
"""What CDK calls the bucket's ARN between the two stacks."""

STATEFUL: Mapping[str, str] = MappingProxyType(
    {
        "S1": "Functions are the bucket's only readers and writers, and they log what they do.",
        "SMG4": "Model providers' keys are issued by the providers; AWS cannot rotate them.",
        "COG2": "A second factor is offered; whether it is a must is the team's decision.",
        "COG8": "The plus plan costs per user; a team that wants it switches it on for its pool.",
    }
)
STATELESS: Mapping[str, str] = MappingProxyType(
    {
        "L1": "Python 3.13 on purpose: 3.14 starts slower today.",
        "SF1": "Errors only: Step Functions keeps each execution's history itself.",
        "SQS3": "A notification that is six hours old is of no use; an alarm tells much earlier.",
        "APIG4": "Only /healthz and the catch-all, which answers 404 and 405, are open.",
    }
)


def wildcards(stateful: Stack) -> Mapping[str, str]:
    """Resource with a `*` in a policy -> why."""
    machine = stateful.stack_name.removesuffix("-Stateful").lower()
    executions = f"arn:<AWS::Partition>:states:<AWS::Region>:<AWS::AccountId>:execution:{machine}:*"
    functions = f"arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:{TENANT_FUNCTIONS}"
    return {
        "*": "X-Ray and log delivery know no resource-level permissions.",
        executions: "Executions are named when they start.",
        functions: "Tenants' tools are named when they are deployed; nothing else is named like that.",
        f"arn:<AWS::Partition>:bedrock:*::{CLAUDE_MODELS}": "An agent's definition names the model.",
        f"arn:<AWS::Partition>:bedrock:*:<AWS::AccountId>:{CLAUDE_PROFILES}": "A profile spans regions.",
        **{
            f"{stateful.stack_name}:{BUCKET}/{keys}": "Tenants and sessions are named when they appear."
            for keys in (FILES, SESSIONS)
        },
    }


def acknowledge(stateful: Stack, stateless: Stack) -> None:
    for rule, reason in STATEFUL.items():
        _acknowledge(stateful, rule, reason)
    for rule, reason in STATELESS.items():
        _acknowledge(stateless, rule, reason)
    for resource, reason in wildcards(stateful).items():
        _acknowledge(stateless, f"IAM5[Resource::{resource}]", reason)


def _acknowledge(stack: Stack, rule: str, reason: str) -> None:
    Validations.of(stack).acknowledge(Acknowledgment(id=f"{PACK}::{PACK}-{rule}", reason=reason))

"""Rules of cdk-nag's AwsSolutions pack that Acta does not follow to the letter, each with its reason."""

from collections.abc import Mapping
from types import MappingProxyType

from aws_cdk import Acknowledgment, Stack, Token, Validations

from acta.infra.api.issuers import OwnPool
from acta.infra.environments import Environment
from acta.infra.lambdas.grants import CLAUDE_MODELS, CLAUDE_PROFILES, FILES, SESSIONS, own_bedrock
from acta.infra.names import (
    key_secrets,
    machine_name,
    notification_secrets,
    own_tool_secret,
    tenant_functions,
    tool_secrets,
)

PACK = "AwsSolutions"
FILES_BUCKET = "ExportsOutputFnGetAttFiles8E6940B8ArnD8EE6C03"
SESSION_BUCKET = "ExportsOutputFnGetAttTexts0AC1F062Arn6B678CA8"
"""The names of the exports through which CDK passes the buckets' ARNs from one stack to another."""

BUCKETS = {"S1": "Only functions read and write the bucket, and they log what they do."}
SESSIONS_STACK = {
    **BUCKETS,
    "SMG4": "With another key the audit trail's pseudonyms mean nothing; it is destroyed to forget everybody.",
}
STATEFUL: Mapping[str, str] = MappingProxyType(
    {
        **BUCKETS,
        "SMG4": "Model providers' keys are issued by the providers; AWS cannot rotate them.",
        "COG8": "The plus plan costs per user; a team can switch it on for its pool.",
    }
)
MACHINES = {"L1": "The runtime of all functions of Acta, on purpose."}
OPTIONAL_MFA = {"COG2": "A second factor is offered; only production requires it."}
STATELESS: Mapping[str, str] = MappingProxyType(
    {
        "L1": "Python 3.13 on purpose: 3.14 starts slower today.",
        "SF1": "The log holds errors only: Step Functions keeps the history of each execution.",
        "SQS3": "A notification is of no use after six hours, a span after a day; alarms are raised much earlier.",
        "APIG4": "Only /healthz and the catch-all route are open; a function without rights answers them.",
    }
)


def wildcards(environment: Environment, stateful: Stack, sessions: Stack) -> Mapping[str, str]:
    """Each resource that a policy names with a `*` -> the reason for the `*`."""
    region = "<AWS::Region>" if Token.is_unresolved(stateful.region) else stateful.region
    account = "<AWS::AccountId>" if Token.is_unresolved(stateful.account) else stateful.account
    name = environment.name

    def arn(service: str, resource: str) -> str:
        return f"arn:<AWS::Partition>:{service}:{region}:{account}:{resource}"

    return {
        arn(
            "secretsmanager", f"secret:{notification_secrets(name)}"
        ): "Tenants' admins set them; notify signs with all, a session policy narrows admin to its tenant's.",
        "*": "X-Ray, log delivery, network interfaces and the account's concurrency are not to be had narrower.",
        arn("states", f"execution:{machine_name(name)}:*"): "An execution gets its name when it starts.",
        arn(
            "secretsmanager", f"secret:{tool_secrets(name)}"
        ): "A tenant's admin names the secret; a session policy narrows the role to the tenant's own.",
        arn(
            "lambda", f"function:{tenant_functions(name)}"
        ): "A tenant names its tool's function with this prefix; no function of Acta has it.",
        f"arn:<AWS::Partition>:bedrock:*::{CLAUDE_MODELS}": "An agent's definition names the model.",
        f"arn:<AWS::Partition>:bedrock:*:{account}:{CLAUDE_PROFILES}": "A profile spans regions.",
        **{
            each.format(
                partition="<AWS::Partition>", account=account
            ): "The operator says which; profiles span regions."
            for arns in own_bedrock(environment.providers).values()
            for each in arns
        },
        **{
            arn(
                "secretsmanager", f"secret:{each}-??????"
            ): "An operator makes the secret, and AWS ends its ARN."
            for each in key_secrets(name, environment.providers).values()
        },
        **{
            f"{stack.stack_name}:{bucket}/{keys}": "Tenants and sessions get their names after the deployment."
            for stack, bucket, keys in ((stateful, FILES_BUCKET, FILES), (sessions, SESSION_BUCKET, SESSIONS))
        },
        **{
            arn(
                "secretsmanager", f"secret:{own_tool_secret(name, folder.name, each)}-??????"
            ): "An operator makes the secret, and AWS ends its ARN."
            for folder in environment.tool_folders
            for each in folder.secrets
        },
    }


EDGE: Mapping[str, str] = MappingProxyType(
    {
        "CFR1": "Who may use Acta is decided by tokens, not by countries.",
        "CFR3": "The firewall logs each request; CloudFront's own log would have paths, and so names of files.",
    }
)


def acknowledge(
    environment: Environment, stateful: Stack, sessions: Stack, stateless: Stack, edge: Stack | None = None
) -> None:
    """Tells cdk-nag all exceptions of the stacks."""
    auth = environment.auth
    optional = OPTIONAL_MFA if isinstance(auth, OwnPool) and auth.mfa == "optional" else {}
    machines = MACHINES if isinstance(auth, OwnPool) and auth.machines else {}
    resources = {
        f"IAM5[Resource::{resource}]": reason
        for resource, reason in wildcards(environment, stateful, sessions).items()
    }
    exceptions: list[tuple[Stack, Mapping[str, str]]] = [
        (stateful, {**STATEFUL, **optional, **machines}),
        (sessions, SESSIONS_STACK),
        (stateless, {**STATELESS, **resources}),
    ]
    if edge is not None:
        exceptions.append((edge, EDGE))
    for stack, rules in exceptions:
        for rule, reason in rules.items():
            Validations.of(stack).acknowledge(Acknowledgment(id=f"{PACK}::{PACK}-{rule}", reason=reason))

"""What who deploys needs, as IAM policies: from the types of the resources in the templates.

`cloudformation_actions.json` has for each type of resource the actions that CloudFormation's own handlers say they
call, with the version of the list, and what is left out of them. Where each action may be used stands here. None of
these policies was tried in a real account.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from acta_infra.environments import Environment
from acta_infra.options import EDGE_REGION

_DATA = json.loads(Path(__file__).with_name("cloudformation_actions.json").read_text(encoding="utf-8"))
PUBLISHED: Mapping[str, Sequence[str]] = _DATA["types"]
CUSTOM = "Custom::"
SERVICES = frozenset(_DATA["services"])
"""Of what Acta uses. Handlers also name services of properties that Acta never sets, such as S3 Tables."""
LEFT_OUT = frozenset(_DATA["left_out"])
"""They reach data, users or groups: for imports, replicas and the like, which Acta has none of."""
CODE = ("s3:GetObject", "s3:GetObjectVersion")
"""Of the bucket that `cdk bootstrap` makes: the functions' zips."""
WITHOUT_NAMES = frozenset(_DATA["without_names"])
"""Beside what lists and describes: actions that IAM lets nobody narrow to a resource."""
READS = ("List", "Describe", "list")
PASSED_TO = (
    "apigateway.amazonaws.com",
    "chatbot.amazonaws.com",
    "codedeploy.amazonaws.com",
    "events.amazonaws.com",
    "lambda.amazonaws.com",
    "management.chatbot.amazonaws.com",
    "states.amazonaws.com",
)
QUALIFIER = "hnb659fds"
"""Of `cdk bootstrap`, unless another one is chosen."""
LONGEST = 6_144
"""Characters of a managed policy, white space not counted. Source: IAM user guide, "IAM and AWS STS quotas"."""
SHORTENED = 24
"""CloudFormation shortens the names that it makes where they become too long. So many characters of the stack's name
are left at least (seen in roles, whose names have 64)."""

Statement = dict[str, Any]


class UnknownResource(LookupError):
    """A template has a resource of a type that no actions are known of. The message says what to do."""


class AccountRegion(NamedTuple):
    account: str
    region: str


def execution_policies(
    environment: Environment, place: AccountRegion, types: Iterable[str]
) -> tuple[Statement, ...]:
    """For the role that CloudFormation works with, which `cdk bootstrap` makes: documents of a managed policy each.

    `types`: of the resources in the templates. Raises UnknownResource.
    """
    actions = sorted({action for each in types for action in actions_of(each)})
    version = f"arn:aws:ssm:*:{place.account}:parameter/cdk-bootstrap/{QUALIFIER}/version"
    statements = [
        *_statements(environment, place, actions),
        _allow("BootstrapVersion", ["ssm:GetParameters"], version),
    ]
    return tuple(map(document, _packed(statements)))


def deployer_policy(environment: Environment, place: AccountRegion) -> Statement:
    """For who runs `acta deploy`: to take the roles of `cdk bootstrap`, to read what is deployed, and to delete
    versions of old releases.
    """
    account = place.account
    regions = sorted({place.region, *((EDGE_REGION,) if environment.edge is not None else ())})
    roles = [
        f"arn:aws:iam::{account}:role/cdk-{QUALIFIER}-{role}-role-{account}-{region}"
        for region in regions
        for role in ("deploy", "file-publishing", "lookup")
    ]
    stacks = [f"arn:aws:cloudformation:{each}:{account}:stack/Acta-{environment.name}-*" for each in regions]
    versions = [
        f"arn:aws:ssm:{each}:{account}:parameter/cdk-bootstrap/{QUALIFIER}/version" for each in regions
    ]
    on_functions = [
        "lambda:DeleteFunction",  # of versions of old releases; the role of cdk bootstrap may do it, too
        "lambda:GetAlias",
        "lambda:GetFunctionConcurrency",
        "lambda:ListVersionsByFunction",
    ]
    on_stacks = ["DescribeStacks", "GetTemplate", "ListStackResources"]
    statements = [
        _allow("Bootstrapped", ["sts:AssumeRole"], *roles),
        _allow("Stacks", [f"cloudformation:{each}" for each in on_stacks], *stacks),
        _allow("BootstrapVersion", ["ssm:GetParameter"], *versions),
        _allow("Quota", ["lambda:GetAccountSettings"], "*"),
        _allow(
            "Functions",
            on_functions,
            f"arn:aws:lambda:{place.region}:{account}:function:acta-{environment.name}-*",
        ),
    ]
    if not environment.retain:  # acta destroy empties the buckets that go
        bucket = f"arn:aws:s3:::{_generated(environment).lower()}*"
        statements += [
            _allow("Versions", ["s3:ListBucketVersions"], bucket),
            _allow("Empty", ["s3:DeleteObject", "s3:DeleteObjectVersion"], f"{bucket}/*"),
        ]
    return document(statements)


def _allow(sid: str, actions: Iterable[str], *resources: str) -> Statement:
    return {"Sid": sid, "Effect": "Allow", "Action": list(actions), "Resource": list(resources)}


def actions_of(resource_type: str) -> frozenset[str]:
    """What CloudFormation calls for one type. Raises UnknownResource."""
    if resource_type.startswith(CUSTOM):
        return frozenset(("lambda:InvokeFunction",))
    if resource_type not in PUBLISHED:
        raise UnknownResource(
            f"no actions are known of {resource_type}: add the permissions of its handlers, from AWS's resource "
            "provider schema, to infra/acta_infra/deployed/cloudformation_actions.json"
        )
    published = PUBLISHED[resource_type]
    return frozenset(each for each in published if each.split(":")[0] in SERVICES and each not in LEFT_OUT)


def document(statements: Sequence[Statement]) -> Statement:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def size(policy: Statement) -> int:
    """As IAM counts it."""
    return len(json.dumps(policy, separators=(",", ":")))


def _statements(
    environment: Environment, place: AccountRegion, actions: Sequence[str]
) -> Iterator[Statement]:
    """One for each service, and a few for what cannot be narrowed or has to be narrowed further."""
    yield _allow("Anywhere", filter(_is_anywhere, actions), "*")
    yield _allow("Code", CODE, f"arn:aws:s3:::cdk-{QUALIFIER}-assets-{place.account}-*/*")
    left = [each for each in actions if not _is_anywhere(each) and each not in CODE]
    for service in sorted({each.split(":")[0] for each in left} - {"iam"}):
        its_own = [each for each in left if each.startswith(f"{service}:")]
        yield _allow(service.replace("-", "").capitalize(), its_own, *_resources(environment, place)[service])
    yield from _roles(environment, place, [each for each in left if each.startswith("iam:")])


def _roles(environment: Environment, place: AccountRegion, actions: Sequence[str]) -> Iterator[Statement]:
    """With a boundary no role is made without it, and none loses it. Without one, who may make roles may do everything
    that a role may be given.
    """
    own, boundary = (
        f"arn:aws:iam::{place.account}:role/{_generated(environment)}*",
        environment.permissions_boundary,
    )
    bounded = {
        "iam:CreateRole",
        "iam:PutRolePermissionsBoundary",
        "iam:PutRolePolicy",
        "iam:AttachRolePolicy",
    }
    passed, linked = {"iam:PassRole"}, {"iam:CreateServiceLinkedRole"}
    never = {"iam:DeleteRolePermissionsBoundary"} if boundary else set()
    yield _allow("Roles", (each for each in actions if each not in bounded | passed | linked | never), own)
    made = _allow("MakeRoles", (each for each in actions if each in bounded), own)
    if boundary:
        made["Condition"] = {"StringEquals": {"iam:PermissionsBoundary": boundary}}
    yield made
    passes = {"Condition": {"StringEquals": {"iam:PassedToService": list(PASSED_TO)}}}
    yield {**_allow("PassRoles", passed, own), **passes}
    if linked & set(actions):
        yield _allow("ServiceRoles", linked, f"arn:aws:iam::{place.account}:role/aws-service-role/*")


def _resources(environment: Environment, place: AccountRegion) -> Mapping[str, Sequence[str]]:
    """Service -> where its actions may be used. Names that CloudFormation makes begin with the stack's; what has a
    random id is every one of the account and region.
    """
    made, given = _generated(environment), f"acta-{environment.name}"
    kinds = ("application", "deploymentgroup")
    log_groups = (f"/aws/lambda/{given}-", f"/aws/vendedlogs/*/{given}", f"aws-waf-logs-{given}")

    def arn(service: str, resource: str, region: str = place.region, account: str = place.account) -> str:
        return f"arn:aws:{service}:{region}:{account}:{resource}"

    return {
        "apigateway": [
            arn("apigateway", f"/{each}*", account="") for each in ("apis", "domainnames", "tags")
        ],
        "budgets": [arn("budgets", f"budget/{each}*", region="") for each in (given, made)],
        "chatbot": [arn("chatbot", f"chat-configuration/slack-channel/{given}", region="")],
        "cloudfront": [arn("cloudfront", "*", region="")],
        "cloudwatch": [
            *(arn("cloudwatch", f"alarm:{each}*") for each in (given, made)),
            *(arn("cloudwatch", f"dashboard/{each}*", region="") for each in (given, made)),
        ],
        "codedeploy": [
            *(arn("codedeploy", f"{kind}:{each}*") for kind in kinds for each in (given, made)),
            arn("codedeploy", "deploymentconfig:*"),
        ],
        "cognito-idp": [arn("cognito-idp", "userpool/*")],
        "dynamodb": [arn("dynamodb", f"table/{made}*")],
        "ec2": [arn("ec2", "*")],
        "events": [arn("events", f"rule/{made}*")],
        "kms": [arn("kms", "key/*"), arn("kms", f"alias/{given}")],
        "lambda": [arn("lambda", f"function:{given}-*"), arn("lambda", "event-source-mapping:*")],
        "logs": [arn("logs", f"log-group:{name}*", region="*") for name in log_groups],
        "s3": [f"arn:aws:s3:::{made.lower()}*"],
        "secretsmanager": [arn("secretsmanager", f"secret:acta/{environment.name}/*", region="*")],
        "sns": [arn("sns", f"{each}*") for each in (given, made)],
        "sqs": [arn("sqs", f"{given}-*")],
        "states": [arn("states", f"stateMachine:{given}")],
        "wafv2": [arn("wafv2", f"{scope}/*/*", region="*") for scope in ("regional", "global")]
        + [arn("cognito-idp", "userpool/*")],
    }


def _generated(environment: Environment) -> str:
    """How the names begin that CloudFormation makes of a stack's."""
    return f"Acta-{environment.name}-"[:SHORTENED]


def _is_anywhere(action: str) -> bool:
    return action.split(":")[1].startswith(READS) or action in WITHOUT_NAMES


def _packed(statements: Sequence[Statement]) -> Iterator[list[Statement]]:
    """As few documents as there have to be."""
    packed: list[Statement] = []
    for each in statements:
        if packed and size(document([*packed, each])) > LONGEST:
            yield packed
            packed = []
        packed.append(each)
    if packed:
        yield packed

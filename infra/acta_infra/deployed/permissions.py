"""What who deploys needs, as IAM policies: from the types of the resources in the templates.

`cloudformation_actions.json` has for each type of resource the actions that CloudFormation's own handlers say they
call: the `handlers` of AWS's resource provider schemas, as cfn-lint 1.58.0 ships them. What is left out of them, and
where each action may be used, stands here. None of these policies was tried in a real account.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from acta_infra.environments import Environment
from acta_infra.options import EDGE_REGION

PUBLISHED: Mapping[str, Sequence[str]] = json.loads(
    Path(__file__).with_name("cloudformation_actions.json").read_text(encoding="utf-8")
)
CUSTOM = "Custom::"
SERVICES = frozenset(
    (
        "apigateway", "budgets", "chatbot", "cloudfront", "cloudwatch", "codedeploy", "cognito-idp", "dynamodb", "ec2",
        "events", "iam", "kms", "lambda", "logs", "s3", "secretsmanager", "sns", "sqs", "states", "wafv2",
    )
)  # fmt: skip
"""Of what Acta uses. Handlers also name services of properties that Acta never sets, such as S3 Tables."""
LEFT_OUT = frozenset(
    (
        "dynamodb:BatchWriteItem", "dynamodb:DeleteItem", "dynamodb:GetItem", "dynamodb:ImportTable",
        "dynamodb:PutItem", "dynamodb:Query", "dynamodb:Scan", "dynamodb:UpdateItem",
        "iam:AttachGroupPolicy", "iam:AttachUserPolicy",
        "iam:DeleteGroupPolicy", "iam:DeleteUserPolicy", "iam:DescribeOrganization", "iam:DetachGroupPolicy",
        "iam:DetachUserPolicy", "iam:GetGroupPolicy", "iam:GetUserPolicy", "iam:PutGroupPolicy", "iam:PutUserPolicy",
        "logs:CreateLogStream", "logs:PutLogEvents", "s3:DeleteObject", "s3:GetObjectMetadata", "s3:PutObjectAcl",
        "s3:REST.PUT.OBJECT", "s3:getObject",
    )
)  # fmt: skip
"""They reach data, users or groups: for imports, replicas and the like, which Acta has none of."""
CODE = ("s3:GetObject", "s3:GetObjectVersion")
"""Of the bucket that `cdk bootstrap` makes: the functions' zips."""
WITHOUT_NAMES = frozenset(
    (
        "cloudfront:CreateConnectionGroup", "cognito-idp:CreateUserPool", "kms:CreateKey", "logs:CreateLogDelivery",
        "logs:DeleteLogDelivery", "logs:DeleteResourcePolicy", "logs:PutResourcePolicy", "logs:DeleteQueryDefinition",
        "logs:PutQueryDefinition", "secretsmanager:GetRandomPassword", "s3:ListAllMyBuckets",
    )
)  # fmt: skip
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


class Place(NamedTuple):
    account: str
    region: str


def execution_policies(environment: Environment, place: Place, types: Iterable[str]) -> tuple[Statement, ...]:
    """For the role that CloudFormation works with, which `cdk bootstrap` makes: documents of a managed policy each.

    `types`: of the resources in the templates. Raises UnknownResource.
    """
    actions = sorted({action for each in types for action in actions_of(each)})
    statements = [
        *_statements(environment, place, actions),
        Statement(
            Sid="BootstrapVersion",
            Effect="Allow",
            Action=["ssm:GetParameters"],
            Resource=[f"arn:aws:ssm:*:{place.account}:parameter/cdk-bootstrap/{QUALIFIER}/version"],
        ),
    ]
    return tuple(map(document, _packed(statements)))


def deployer_policy(environment: Environment, place: Place) -> Statement:
    """For who runs `acta deploy`: to take the roles of `cdk bootstrap`, to read what is deployed, and to delete
    versions of old releases.
    """
    regions = sorted({place.region, *((EDGE_REGION,) if environment.edge is not None else ())})
    own = f"Acta-{environment.name}-*"
    roles = ("deploy", "file-publishing", "lookup")
    statements = [
        Statement(
            Sid="Bootstrapped",
            Effect="Allow",
            Action=["sts:AssumeRole"],
            Resource=[
                f"arn:aws:iam::{place.account}:role/cdk-{QUALIFIER}-{role}-role-{place.account}-{region}"
                for region in regions
                for role in roles
            ],
        ),
        Statement(
            Sid="Stacks",
            Effect="Allow",
            Action=[
                "cloudformation:DescribeStacks",
                "cloudformation:GetTemplate",
                "cloudformation:ListStackResources",
            ],
            Resource=[f"arn:aws:cloudformation:{region}:{place.account}:stack/{own}" for region in regions],
        ),
        Statement(
            Sid="BootstrapVersion",
            Effect="Allow",
            Action=["ssm:GetParameter"],
            Resource=[
                f"arn:aws:ssm:{region}:{place.account}:parameter/cdk-bootstrap/{QUALIFIER}/version"
                for region in regions
            ],
        ),
        Statement(Sid="Quota", Effect="Allow", Action=["lambda:GetAccountSettings"], Resource=["*"]),
        Statement(
            Sid="Functions",
            Effect="Allow",
            Action=[
                "lambda:DeleteFunction",  # of versions of old releases; the role of cdk bootstrap may do it, too
                "lambda:GetAlias",
                "lambda:GetFunctionConcurrency",
                "lambda:ListVersionsByFunction",
            ],
            Resource=[f"arn:aws:lambda:{place.region}:{place.account}:function:acta-{environment.name}-*"],
        ),
    ]
    if not environment.retain:  # acta destroy empties the buckets that go
        bucket = f"arn:aws:s3:::{_generated(environment).lower()}*"
        statements += [
            Statement(Sid="Versions", Effect="Allow", Action=["s3:ListBucketVersions"], Resource=[bucket]),
            Statement(
                Sid="Empty",
                Effect="Allow",
                Action=["s3:DeleteObject", "s3:DeleteObjectVersion"],
                Resource=[f"{bucket}/*"],
            ),
        ]
    return document(statements)


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


def _statements(environment: Environment, place: Place, actions: Sequence[str]) -> Iterator[Statement]:
    """One for each service, and a few for what cannot be narrowed or has to be narrowed further."""
    anywhere = [each for each in actions if _is_anywhere(each)]
    yield Statement(Sid="Anywhere", Effect="Allow", Action=anywhere, Resource=["*"])
    yield Statement(
        Sid="Code",
        Effect="Allow",
        Action=list(CODE),
        Resource=[f"arn:aws:s3:::cdk-{QUALIFIER}-assets-{place.account}-*/*"],
    )
    left = [each for each in actions if not _is_anywhere(each) and each not in CODE]
    for service in sorted({each.split(":")[0] for each in left} - {"iam"}):
        yield Statement(
            Sid=service.replace("-", "").capitalize(),
            Effect="Allow",
            Action=[each for each in left if each.startswith(f"{service}:")],
            Resource=list(_resources(environment, place)[service]),
        )
    yield from _roles(environment, place, [each for each in left if each.startswith("iam:")])


def _roles(environment: Environment, place: Place, actions: Sequence[str]) -> Iterator[Statement]:
    """With a boundary no role is made without it, and none loses it. Without one, who may make roles may do everything
    that a role may be given.
    """
    own = [f"arn:aws:iam::{place.account}:role/{_generated(environment)}*"]
    bounded, passed, linked = (
        {"iam:CreateRole", "iam:PutRolePermissionsBoundary", "iam:PutRolePolicy", "iam:AttachRolePolicy"},
        {"iam:PassRole"},
        {"iam:CreateServiceLinkedRole"},
    )
    never = {"iam:DeleteRolePermissionsBoundary"} if environment.permissions_boundary else set()
    rest = [each for each in actions if each not in bounded | passed | linked | never]
    yield Statement(Sid="Roles", Effect="Allow", Action=rest, Resource=own)
    made = Statement(
        Sid="MakeRoles", Effect="Allow", Action=[each for each in actions if each in bounded], Resource=own
    )
    if environment.permissions_boundary:
        made["Condition"] = {"StringEquals": {"iam:PermissionsBoundary": environment.permissions_boundary}}
    yield made
    yield Statement(
        Sid="PassRoles",
        Effect="Allow",
        Action=["iam:PassRole"],
        Resource=own,
        Condition={"StringEquals": {"iam:PassedToService": list(PASSED_TO)}},
    )
    if linked & set(actions):
        yield Statement(
            Sid="ServiceRoles",
            Effect="Allow",
            Action=sorted(linked),
            Resource=[f"arn:aws:iam::{place.account}:role/aws-service-role/*"],
        )


def _resources(environment: Environment, place: Place) -> Mapping[str, Sequence[str]]:
    """Service -> where its actions may be used. Names that CloudFormation makes begin with the stack's; what has a
    random id is every one of the account and region.
    """
    made, given = _generated(environment), f"acta-{environment.name}"

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
            *(
                arn("codedeploy", f"{kind}:{each}*")
                for kind in ("application", "deploymentgroup")
                for each in (given, made)
            ),
            arn("codedeploy", "deploymentconfig:*"),
        ],
        "cognito-idp": [arn("cognito-idp", "userpool/*")],
        "dynamodb": [arn("dynamodb", f"table/{made}*")],
        "ec2": [arn("ec2", "*")],
        "events": [arn("events", f"rule/{made}*")],
        "kms": [arn("kms", "key/*"), arn("kms", f"alias/{given}")],
        "lambda": [arn("lambda", f"function:{given}-*"), arn("lambda", "event-source-mapping:*")],
        "logs": [
            *(
                arn("logs", f"log-group:{name}*", region="*")
                for name in (f"/aws/lambda/{given}-", f"/aws/vendedlogs/*/{given}", f"aws-waf-logs-{given}")
            )
        ],
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

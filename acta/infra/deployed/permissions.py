"""The IAM policies that a deployment needs, computed from the types of the resources in the templates.

`cloudformation_actions.json` lists, for each type of resource, the actions that CloudFormation's own handlers say they
call, with the version of the list and the actions to leave out. This module says on which resources each action may be
used. None of these policies was tried in a real account.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from acta.infra.environments import Environment
from acta.infra.options import EDGE_REGION, BucketObjects, BusEvents, QueueMessages

_DATA = json.loads(Path(__file__).with_name("cloudformation_actions.json").read_text(encoding="utf-8"))
PUBLISHED: Mapping[str, Sequence[str]] = _DATA["types"]
CUSTOM = "Custom::"
SERVICES = frozenset(_DATA["services"])
"""The services that Acta uses. Handlers also name services for properties that Acta never sets, such as S3 Tables."""
LEFT_OUT = frozenset(_DATA["left_out"])
"""Actions that reach data, users or groups. They are for imports, replicas and the like, none of which Acta has."""
CODE = ("s3:GetObject", "s3:GetObjectVersion")
"""Actions on the functions' zips, in the bucket that `cdk bootstrap` makes."""
WITHOUT_NAMES = frozenset(_DATA["without_names"])
"""Actions, besides those that list and describe, that IAM cannot narrow to a resource."""
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
LONGEST = 6_144
"""The most characters of a managed policy without white space. Source: IAM user guide, "IAM and AWS STS quotas"."""
SHORTENED = 24
"""CloudFormation shortens a generated name that would be too long. At least this many characters of the stack's name
are left (seen in names of roles, which have 64 characters)."""

Statement = dict[str, Any]


class UnknownResource(LookupError):
    """A template has a resource of a type whose actions are not known. The message says what to do."""


class AccountRegion(NamedTuple):
    account: str
    region: str


def execution_policies(
    environment: Environment, place: AccountRegion, types: Iterable[str]
) -> tuple[Statement, ...]:
    """Policies for the role that `cdk bootstrap` makes for CloudFormation. Each is the document of one managed policy.
    `types`: the types of the resources in the templates. Raises UnknownResource.
    """
    actions = sorted({action for each in types for action in actions_of(each)})
    version = (
        f"arn:aws:ssm:*:{place.account}:parameter/cdk-bootstrap/{environment.bootstrap_qualifier}/version"
    )
    statements = [
        *_statements(environment, place, actions),
        _allow("BootstrapVersion", ["ssm:GetParameters"], version),
    ]
    return tuple(map(document, _packed(statements)))


def deployer_policy(environment: Environment, place: AccountRegion) -> Statement:
    """For whoever runs `acta deploy`. It allows assuming the roles of `cdk bootstrap`, reading what is deployed, and
    deleting versions of old releases.
    """
    account = place.account
    regions = sorted({place.region, *((EDGE_REGION,) if environment.edge is not None else ())})
    roles = [
        f"arn:aws:iam::{account}:role/cdk-{environment.bootstrap_qualifier}-{role}-role-{account}-{region}"
        for region in regions
        for role in ("deploy", "file-publishing", "lookup")
    ]
    stacks = [f"arn:aws:cloudformation:{each}:{account}:stack/Acta-{environment.name}-*" for each in regions]
    versions = [
        f"arn:aws:ssm:{each}:{account}:parameter/cdk-bootstrap/{environment.bootstrap_qualifier}/version"
        for each in regions
    ]
    on_functions = [
        "lambda:DeleteFunction",  # of versions of old releases; the role of cdk bootstrap may do it, too
        "lambda:GetAlias",
        "lambda:GetFunctionConcurrency",
        "lambda:ListVersionsByFunction",
    ]
    on_stacks = ["DescribeStacks", "GetTemplate", "ListStackResources"]
    if (
        environment.deletion_protection
    ):  # of a stack whose creation failed; the role of cdk bootstrap may do it, too
        on_stacks.append("UpdateTerminationProtection")
    asked = ["cloudformation:ValidateTemplate", "lambda:GetAccountSettings"]
    if environment.bedrock:
        asked.append("bedrock:ListFoundationModels")
    if environment.tool_network:
        asked.append("ec2:DescribeVpcEndpoints")
    edge = environment.edge
    domains = [
        each for each in (environment.domain, edge.domain if edge is not None else None) if each is not None
    ]
    statements = [
        _allow("Bootstrapped", ["sts:AssumeRole"], *roles),
        _allow("Stacks", [f"cloudformation:{each}" for each in on_stacks], *stacks),
        _allow("BootstrapVersion", ["ssm:GetParameter"], *versions),
        _allow("Account", asked, "*"),
        _allow(
            "SecretsThere",
            ["secretsmanager:DescribeSecret"],
            *(
                f"arn:aws:secretsmanager:{each}:{account}:secret:acta/{environment.name}/*"
                for each in regions
            ),
        ),
        _allow(
            "Functions",
            on_functions,
            f"arn:aws:lambda:{place.region}:{account}:function:acta-{environment.name}-*",
        ),
    ]
    for sid, actions, arns in _looked_at(environment, place):
        statements.append(_allow(sid, actions, *arns))
    if domains:
        certificates = [each.certificate_arn for each in domains]
        statements.append(_allow("Certificates", ["acm:DescribeCertificate"], *certificates))
    if not environment.retain:  # acta destroy empties the buckets that it deletes
        bucket = f"arn:aws:s3:::{_generated(environment).lower()}*"
        statements += [
            _allow("Versions", ["s3:ListBucketVersions"], bucket),
            _allow("Empty", ["s3:DeleteObject", "s3:DeleteObjectVersion"], f"{bucket}/*"),
        ]
    return document(statements)


def _looked_at(
    environment: Environment, place: AccountRegion
) -> Iterator[tuple[str, Sequence[str], Sequence[str]]]:
    """What `acta deploy` reads of the operator's event sources: name of the statement, actions, resources."""
    sources = environment.event_sources.values()
    where = f"{place.region}:{place.account}"
    found = (
        (
            "Queues",
            ["sqs:GetQueueUrl", "sqs:GetQueueAttributes"],
            [f"arn:aws:sqs:{where}:{each.queue}" for each in sources if isinstance(each, QueueMessages)],
        ),
        (
            "Buckets",
            ["s3:GetBucketLocation", "s3:GetBucketNotification"],
            [f"arn:aws:s3:::{each.bucket}" for each in sources if isinstance(each, BucketObjects)],
        ),
        (
            "Buses",
            ["events:DescribeEventBus"],
            [f"arn:aws:events:{where}:event-bus/{bus}" for bus in _buses(environment)],
        ),
    )
    return (each for each in found if each[2])


def planner_policy(environment: Environment, place: AccountRegion) -> Statement:
    """For whoever runs only `acta diff`, such as a pull request: what the deployer may read of stacks and functions. It
    takes no role of the bootstrap, because the one for lookups may read the data of the account.
    """
    reads = (
        "cloudformation:Describe",
        "cloudformation:Get",
        "cloudformation:List",
        "lambda:Get",
        "lambda:List",
    )
    found = [
        {**each, "Action": [action for action in each["Action"] if action.startswith(reads)]}
        for each in deployer_policy(environment, place)["Statement"]
    ]
    return document([each for each in found if each["Action"]])


def _allow(sid: str, actions: Iterable[str], *resources: str) -> Statement:
    return {"Sid": sid, "Effect": "Allow", "Action": list(actions), "Resource": list(resources)}


def actions_of(resource_type: str) -> frozenset[str]:
    """What CloudFormation calls for one type. Raises UnknownResource."""
    if resource_type.startswith(CUSTOM):
        return frozenset(("lambda:InvokeFunction",))
    if resource_type not in PUBLISHED:
        raise UnknownResource(
            f"no actions are known of {resource_type}: add the permissions of its handlers, from AWS's resource "
            "provider schema, to acta/infra/deployed/cloudformation_actions.json"
        )
    published = PUBLISHED[resource_type]
    return frozenset(each for each in published if each.split(":")[0] in SERVICES and each not in LEFT_OUT)


def document(statements: Sequence[Statement]) -> Statement:
    return {"Version": "2012-10-17", "Statement": list(statements)}


def size(policy: Statement) -> int:
    """The policy's characters as IAM counts them."""
    return len(json.dumps(policy, separators=(",", ":")))


def _statements(
    environment: Environment, place: AccountRegion, actions: Sequence[str]
) -> Iterator[Statement]:
    """One statement for each service, and a few for actions that cannot be narrowed or must be narrowed further."""
    yield _allow("Anywhere", filter(_is_anywhere, actions), "*")
    yield _allow(
        "Code", CODE, f"arn:aws:s3:::cdk-{environment.bootstrap_qualifier}-assets-{place.account}-*/*"
    )
    left = [each for each in actions if not _is_anywhere(each) and each not in CODE]
    for service in sorted({each.split(":")[0] for each in left} - {"iam"}):
        its_own = [each for each in left if each.startswith(f"{service}:")]
        yield _allow(service.replace("-", "").capitalize(), its_own, *_resources(environment, place)[service])
    yield from _roles(environment, place, [each for each in left if each.startswith("iam:")])


def _roles(environment: Environment, place: AccountRegion, actions: Sequence[str]) -> Iterator[Statement]:
    """With a permissions boundary, no role can be made without it or lose it. Without a boundary, whoever may make
    roles may do everything that a role may be allowed.
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
    """Service -> the resources on which its actions may be used. Names that CloudFormation generates begin with the
    stack's name. Resources with a random id cannot be told apart, so all of the account and region are allowed.
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
        "events": [
            arn("events", f"rule/{made}*"),
            *(arn("events", f"rule/{bus}/{made}*") for bus in _buses(environment)),
        ],
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


def _buses(environment: Environment) -> list[str]:
    """The operator's own buses that event sources name. Rules of the default bus have no bus in their ARN."""
    named = {each.bus for each in environment.event_sources.values() if isinstance(each, BusEvents)}
    return sorted(named - {"default"})


def _generated(environment: Environment) -> str:
    """The prefix of the names that CloudFormation generates from a stack's name."""
    return f"Acta-{environment.name}-"[:SHORTENED]


def _is_anywhere(action: str) -> bool:
    return action.split(":")[1].startswith(READS) or action in WITHOUT_NAMES


def _packed(statements: Sequence[Statement]) -> Iterator[list[Statement]]:
    """Packs the statements, in their order, into documents that are as full as IAM allows."""
    packed: list[Statement] = []
    for each in statements:
        if packed and size(document([*packed, each])) > LONGEST:
            yield packed
            packed = []
        packed.append(each)
    if packed:
        yield packed

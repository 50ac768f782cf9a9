"""The IAM roles of one function: its entry in `GRANTS` with the ARNs of this deployment (ADR 48)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, cast

from aws_cdk import ArnFormat, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from acta.infra.data_stores import RECORD_CHANGES, AuditStore
from acta.infra.environments import Environment
from acta.infra.event_feeds import EventFeeds
from acta.infra.lambdas.grants import (
    ADMISSION,
    CHANGE,
    CLAUDE_MODELS,
    CLAUDE_PROFILES,
    DEPLOYMENT,
    EDIT_EARLIER,
    ERASE,
    FILES,
    GRANTS,
    INVOKE_CLAUDE,
    LEASES,
    MEASURE,
    ON_EXECUTIONS,
    READ_SECRETS,
    SESSIONS,
    USAGE,
    own_bedrock,
)
from acta.infra.names import LIVE_INDEX, OPEN_INDEX, called_name, key_secrets
from acta.infra.sizing import FunctionName
from acta.infra.stream import Delivery, Traces

LAMBDA = iam.ServicePrincipal("lambda.amazonaws.com")
WRITE_LOGS = frozenset({"logs:CreateLogStream", "logs:PutLogEvents"})
WITH_KEYS: Mapping[str, Mapping[str, object]] = {"Null": {"dynamodb:LeadingKeys": "false"}}
"""`ForAllValues` is true for a request without keys, such as a scan, so this condition has to accompany it."""


@dataclass(frozen=True)
class Resources:
    """What the functions use. `bucket`: of the files. `session_bucket`: of sessions' texts. `secrets`: model provider
    -> the secret with its key, empty locally. `url_secret`: what URLs are signed with; None locally. `execution_arns`,
    `tenant_function_arns` and those of secrets are patterns. `stream`: the statement for reading the table's stream.
    `own_tools`: the catalogue of Python tools; empty: there are none. `own_tool_versions`: folder -> the version of its
    function that `tool` calls.
    """

    table: dynamodb.ITable
    bucket: s3.IBucket
    session_bucket: s3.IBucket
    audit: AuditStore
    secrets: Mapping[str, secretsmanager.ISecret]
    url_secret: secretsmanager.ISecret | None
    state_machine_arn: str
    execution_arns: str
    tenant_function_arns: str
    tool_function_arn: str
    recover_function_arn: str
    tool_secret_arns: str
    receiver_secret_arns: str
    delivery: Delivery
    traces: Traces
    feeds: EventFeeds
    stream: iam.PolicyStatement
    own_tools: bytes = b""
    own_tool_versions: Mapping[str, str] = field(default_factory=dict)


class Roles(NamedTuple):
    """`own`: the role that the function runs with; no construct can add to it. `tenant_arn`: the ARN of the role for
    tenants' data; empty if `own` is the only role. `assume`: must exist before the function does.
    """

    own: iam.IRole
    tenant_arn: str = ""
    assume: Sequence[iam.Policy] = ()


def roles_of(
    scope: Construct,
    name: FunctionName,
    environment: Environment,
    resources: Resources,
    log_group: logs.ILogGroup,
) -> Roles:
    """Creates the roles in `scope`. `own` is used instead of AWS's managed basic role, which may write to every log."""
    stack = Stack.of(scope)
    own = [
        allow("Logs", WRITE_LOGS, log_group.log_group_arn),
        *_for_deployment(name, environment, resources, stack),
    ]
    if not environment.is_local:
        # X-Ray has no resource-level permissions for its two write actions.
        own.append(allow("Traces", {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, "*"))
    data = [*_data(name, resources)]
    if not GRANTS[name].by_tenant:
        return Roles(role_with(scope, "Role", [*own, *data], LAMBDA).without_policy_updates())

    base = role_with(scope, "BaseRole", own, LAMBDA)
    # Secrets of all tenants' tools and notifications: a session policy narrows this to one tenant's.
    if GRANTS[name].tool_secrets:
        data.append(allow("ToolSecrets", GRANTS[name].tool_secrets, resources.tool_secret_arns))
    if GRANTS[name].receiver_secrets:
        data.append(allow("ReceiverSecrets", GRANTS[name].receiver_secrets, resources.receiver_secret_arns))
    tenant = role_with(scope, "TenantRole", data, iam.ArnPrincipal(base.role_arn))
    # a policy apart from its role, because each of the two roles names the other
    statement = allow("Tenants", {"sts:AssumeRole"}, tenant.role_arn)
    assume = iam.Policy(scope, "AssumeTenantRole", roles=[base], statements=[statement])
    return Roles(base.without_policy_updates(), tenant.role_arn, [assume])


def role_with(
    scope: Construct, construct_id: str, statements: Sequence[iam.PolicyStatement], assumed_by: iam.IPrincipal
) -> iam.Role:
    policy = iam.PolicyDocument(statements=list(statements))
    return iam.Role(scope, construct_id, assumed_by=assumed_by, inline_policies={"acta": policy})


def _data(name: FunctionName, resources: Resources) -> Iterator[iam.PolicyStatement]:
    """The statements for tenants' items and objects."""
    grants = GRANTS[name]
    if grants.table:
        # the session policy says which keys these are
        conditions = WITH_KEYS if grants.by_tenant else None
        yield allow("Table", grants.table, resources.table.table_arn, conditions=conditions)
    if grants.leases:
        of_rates = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [LEASES]}, **WITH_KEYS}
        yield allow("Leases", CHANGE, resources.table.table_arn, conditions=of_rates)
    if grants.usage:
        of_usage = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [USAGE]}, **WITH_KEYS}
        yield allow("Usage", grants.usage, resources.table.table_arn, conditions=of_usage)
        yield resources.stream
    if grants.audit:
        yield allow("Records", grants.audit, resources.audit.table.table_arn, conditions=WITH_KEYS)
        # Nobody may change a record, even if another statement allows it some day.
        yield iam.PolicyStatement(
            sid="RecordsStay",
            effect=iam.Effect.DENY,
            actions=list(RECORD_CHANGES),
            resources=[resources.audit.table.table_arn],
        )
    if grants.index:
        yield allow("LiveSessions", grants.index, f"{resources.table.table_arn}/index/{LIVE_INDEX}")
    if grants.open_index:
        # its keys begin as the tenant's partitions do, so the session policy holds for them as well
        arn = f"{resources.table.table_arn}/index/{OPEN_INDEX}"
        yield allow("OpenIndex", {"dynamodb:Query"}, arn, conditions=WITH_KEYS)
    for sid, bucket, keys, actions in (
        ("Files", resources.bucket, FILES, grants.files),
        ("Sessions", resources.session_bucket, SESSIONS, grants.sessions),
    ):
        if actions:
            yield allow(sid, actions, bucket.arn_for_objects(keys))
            yield _list(f"List{sid}", "s3:ListBucket", bucket, keys)
        if actions >= ERASE or actions >= EDIT_EARLIER:
            yield _list(f"Versions{sid}", "s3:ListBucketVersions", bucket, keys)


def _for_deployment(
    name: FunctionName, environment: Environment, resources: Resources, stack: Stack
) -> Iterator[iam.PolicyStatement]:
    """The statements for everything else."""
    grants = GRANTS[name]
    if grants.deployment:
        conditions = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [DEPLOYMENT]}, **WITH_KEYS}
        yield allow("Deployment", grants.deployment, resources.table.table_arn, conditions=conditions)
    if grants.admission and environment.may_queue:
        of_lines = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [ADMISSION]}, **WITH_KEYS}
        yield allow("Admission", grants.admission, resources.table.table_arn, conditions=of_lines)
        yield allow("Dispatcher", {"lambda:InvokeFunction"}, resources.recover_function_arn)
    if grants.pseudonyms and resources.audit.secret is not None:
        yield allow("Pseudonyms", READ_SECRETS, resources.audit.secret.secret_arn)
    if grants.signs_urls and resources.url_secret is not None:
        yield allow("UrlKey", READ_SECRETS, resources.url_secret.secret_arn)
    on_executions = grants.engine & ON_EXECUTIONS
    if grants.engine - on_executions:
        yield allow("Engine", grants.engine - on_executions, resources.state_machine_arn)
    if on_executions:
        yield allow("Executions", on_executions, resources.execution_arns)
    if grants.secrets and resources.secrets:
        arns = [secret.secret_arn for secret in resources.secrets.values()]
        prefix = f"arn:{stack.partition}:secretsmanager:{stack.region}:{stack.account}:secret:"
        named = key_secrets(environment.name, environment.providers)
        theirs = [name for of, name in named.items() if of not in resources.secrets]
        # Secrets Manager ends each ARN with six characters of its own.
        yield allow("Keys", READ_SECRETS, *arns, *(f"{prefix}{name}-??????" for name in theirs))
    if grants.bedrock and environment.bedrock:
        # models belong to AWS, inference profiles to the account; both in any region
        models = f"arn:{stack.partition}:bedrock:*::{CLAUDE_MODELS}"
        profiles = f"arn:{stack.partition}:bedrock:*:{stack.account}:{CLAUDE_PROFILES}"
        yield allow("Bedrock", INVOKE_CLAUDE, models, profiles)
    if grants.bedrock:
        for actions, templates in own_bedrock(environment.providers).items():
            arns = [each.format(partition=stack.partition, account=stack.account) for each in templates]
            yield allow(f"Own{'Models' if actions == INVOKE_CLAUDE else 'Mantle'}", actions, *arns)
    if grants.notifications:
        yield from resources.delivery.statements
    if grants.hands_over:
        yield from resources.traces.hands_over
    if grants.traces:
        yield from resources.traces.statements
    if grants.events:
        yield from resources.feeds.statements
    if grants.load:
        # Neither action has resources.
        yield allow("Load", MEASURE, "*")
    if grants.tenant_functions:
        yield allow("TenantTools", {"lambda:InvokeFunction"}, resources.tenant_function_arns)
    if grants.asks_tool:
        yield allow("AskTool", {"lambda:InvokeFunction"}, resources.tool_function_arn)
    if grants.asks_itself:
        # by its name: the function itself depends on this role
        itself = stack.format_arn(
            service="lambda",
            resource="function",
            resource_name=called_name(environment.name, name),
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        yield allow("AskItself", {"lambda:InvokeFunction"}, itself)


def allow(
    sid: str,
    actions: frozenset[str] | set[str],
    *resources: str,
    conditions: Mapping[str, Mapping[str, object]] | None = None,
) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid, actions=sorted(actions), resources=list(resources), conditions=conditions
    )


def _list(sid: str, action: str, bucket: s3.IBucket, keys: str) -> iam.PolicyStatement:
    return allow(sid, {action}, bucket.bucket_arn, conditions={"StringLike": {"s3:prefix": keys}})


def add_inline_policy(role: iam.CfnRole, name: str, *statements: iam.PolicyStatement) -> None:
    """Adds a policy to an existing role, after its own inline policies, since no construct can add to these roles."""
    own = cast(list[iam.CfnRole.PolicyProperty], role.policies or [])
    document = iam.PolicyDocument(statements=list(statements))
    role.policies = [*own, iam.CfnRole.PolicyProperty(policy_name=name, policy_document=document)]

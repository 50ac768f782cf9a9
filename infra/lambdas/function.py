"""One Lambda function with its code, role, log group and environment variables. Every function of Acta is made here.

Memory, timeout and reserved concurrency of each: `SIZES` in `infra/environments.py`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.environments import Environment, FunctionName
from infra.lambdas.grants import (
    CLAUDE_MODELS,
    CLAUDE_PROFILES,
    ERASE,
    FILES,
    GRANTS,
    INVOKE_CLAUDE,
    MEASURE,
    ON_EXECUTIONS,
    SESSIONS,
)
from infra.log_retention import retention
from infra.names import LIVE_INDEX, function_name, metrics_namespace, secret_name, service_name
from infra.notifications import Delivery
from infra.packaging.asset import code_of
from shared.settings import PREFIX, Settings

KNOW_TENANT_TOOLS: frozenset[FunctionName] = frozenset(("admin", "tool"))
"""Functions that check which functions the tools of a tenant may call."""
ARCHITECTURES = {"arm64": lambda_.Architecture.ARM_64, "x86_64": lambda_.Architecture.X86_64}


@dataclass(frozen=True)
class Resources:
    """What the functions use. `bucket`: of the files, and of sessions' texts that releases before `session_bucket`
    wrote. `secrets`: model provider -> the secret with its key, empty locally. `execution_arns` and
    `tenant_function_arns` are patterns."""

    table: dynamodb.ITable
    bucket: s3.IBucket
    session_bucket: s3.IBucket
    secrets: Mapping[str, secretsmanager.ISecret]
    state_machine_arn: str
    execution_arns: str
    tenant_function_arns: str
    delivery: Delivery


class ActaFunction(Construct):
    """`self.function` is the Lambda; its handler is `functions.<name>.handler.handler`."""

    def __init__(
        self, scope: Construct, name: FunctionName, environment: Environment, resources: Resources
    ) -> None:
        super().__init__(scope, name.capitalize())
        self._environment = environment
        self._resources = resources
        full_name = function_name(environment.name, name)
        size = environment.sizes[name]
        log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/lambda/{full_name}",
            retention=retention(environment.log_retention_days),
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=full_name,
            runtime=lambda_.Runtime("python{}.{}".format(*environment.python), lambda_.RuntimeFamily.PYTHON),
            architecture=ARCHITECTURES[environment.architecture],
            code=code_of(name, environment),
            handler=f"functions.{name}.handler.handler",
            role=self._role(name, log_group),
            memory_size=size.memory,
            timeout=Duration.seconds(size.timeout),
            reserved_concurrent_executions=size.reserved_concurrency,
            log_group=log_group,
            tracing=lambda_.Tracing.DISABLED if environment.is_local else lambda_.Tracing.ACTIVE,
            environment={**self._powertools(name), **self._settings(name)},
        )

    def _role(self, name: FunctionName, log_group: logs.ILogGroup) -> iam.IRole:
        """A role that no construct can add to. It replaces AWS's managed basic role, which may write to every log."""
        statements = [
            _allow("Logs", {"logs:CreateLogStream", "logs:PutLogEvents"}, log_group.log_group_arn),
            *self._statements(name),
        ]
        if not self._environment.is_local:
            # X-Ray has no resource-level permissions for its two write actions.
            statements.append(_allow("Traces", {"xray:PutTelemetryRecords", "xray:PutTraceSegments"}, "*"))
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            inline_policies={"acta": iam.PolicyDocument(statements=statements)},
        )
        return role.without_policy_updates()

    def _statements(self, name: FunctionName) -> list[iam.PolicyStatement]:
        """What `GRANTS` says of the function, with ARNs."""
        grants, resources = GRANTS[name], self._resources
        statements = []
        if grants.table:
            statements.append(_allow("Table", grants.table, resources.table.table_arn))
        if grants.index:
            index_arn = f"{resources.table.table_arn}/index/{LIVE_INDEX}"
            statements.append(_allow("LiveSessions", grants.index, index_arn))
        for sid, bucket, keys, actions in (
            ("Files", resources.bucket, FILES, grants.files),
            ("Sessions", resources.session_bucket, SESSIONS, grants.sessions),
            ("FormerSessions", resources.bucket, SESSIONS, grants.sessions),
        ):
            if actions:
                statements.append(_allow(sid, actions, bucket.arn_for_objects(keys)))
                statements.append(_list(f"List{sid}", bucket, keys))
            if actions >= ERASE:
                statements.append(_list_versions(f"Versions{sid}", bucket, keys))
        on_executions = grants.engine & ON_EXECUTIONS
        if grants.engine - on_executions:
            statements.append(_allow("Engine", grants.engine - on_executions, resources.state_machine_arn))
        if on_executions:
            statements.append(_allow("Executions", on_executions, resources.execution_arns))
        if grants.secrets and resources.secrets:
            arns = [secret.secret_arn for secret in resources.secrets.values()]
            statements.append(_allow("Keys", {"secretsmanager:GetSecretValue"}, *arns))
        if grants.bedrock and self._environment.bedrock:
            statements.append(_allow("Bedrock", INVOKE_CLAUDE, *self._claude_arns()))
        if grants.notifications:
            statements += resources.delivery.statements
        if grants.load:
            # Neither action has resources.
            statements.append(_allow("Load", MEASURE, "*"))
        if grants.tenant_functions:
            statements.append(
                _allow("TenantTools", {"lambda:InvokeFunction"}, resources.tenant_function_arns)
            )
        return statements

    def _claude_arns(self) -> tuple[str, str]:
        """Models belong to AWS, inference profiles to the account; both in any region."""
        stack = Stack.of(self)
        models = f"arn:{stack.partition}:bedrock:*::{CLAUDE_MODELS}"
        return models, f"arn:{stack.partition}:bedrock:*:{stack.account}:{CLAUDE_PROFILES}"

    def _powertools(self, name: FunctionName) -> dict[str, str]:
        variables = {
            "POWERTOOLS_SERVICE_NAME": service_name(name),
            "POWERTOOLS_METRICS_NAMESPACE": metrics_namespace(self._environment.name),
            "POWERTOOLS_LOG_LEVEL": "INFO",
            "PYDANTIC_DISABLE_PLUGINS": "__all__",  # the search for plugins costs a cold start 5 ms and more
            "POWERTOOLS_LOGGER_LOG_EVENT": "false",  # events contain bodies and tokens
            "POWERTOOLS_TRACER_CAPTURE_RESPONSE": "false",  # responses contain prompts, plans and files
            "POWERTOOLS_TRACER_CAPTURE_ERROR": "false",
        }
        if self._environment.is_local:
            variables["POWERTOOLS_TRACE_DISABLED"] = "true"
        return variables

    def _settings(self, name: FunctionName) -> dict[str, str]:
        """The variables of `shared.settings.Settings`. A wrong name or value raises ValidationError at synthesis."""
        environment, resources = self._environment, self._resources
        values: dict[str, object] = {
            "env": environment.name,
            "table": resources.table.table_name,
            "bucket": resources.bucket.bucket_name,
            "session_bucket": resources.session_bucket.bucket_name,
            "tenant_claim": environment.tenant_claim,
            "roles_claim": environment.roles_claim,
            "longest_model_seconds": environment.longest_model_seconds,
            "longest_tool_seconds": environment.longest_tool_seconds,
            "write_version": environment.write_version,
            "origin_hashes": environment.origin_hashes,
            **environment.settings,
            "offline": environment.offline,  # what the zip contains, whatever the overrides say
        }
        if name in KNOW_TENANT_TOOLS and environment.tenant_tools:
            values["tenant_tools"] = environment.tenant_tools
        if GRANTS[name].load:
            values |= {
                "measure_load": not environment.is_local,  # the local AWS has no such metric
                "status_function": function_name(environment.name, "status"),
                "status_concurrency": environment.sizes["status"].reserved_concurrency or 0,
            }
        if GRANTS[name].engine:
            values["state_machine_arn"] = resources.state_machine_arn
        if GRANTS[name].secrets:
            values |= {
                f"{provider}_secret": secret_name(environment.name, provider)
                for provider in resources.secrets
            }
        if GRANTS[name].notifications:
            values |= resources.delivery.settings
        Settings.model_validate(values)
        return {f"{PREFIX}{field.upper()}": _text(value) for field, value in values.items()}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _allow(sid: str, actions: frozenset[str] | set[str], *resources: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid=sid, actions=sorted(actions), resources=list(resources))


def _list(sid: str, bucket: s3.IBucket, keys: str) -> iam.PolicyStatement:
    """Under the prefix only. How a missing key is told from a forbidden one all the same:
    `shared/adapters/s3/objects.py`.
    """
    return iam.PolicyStatement(
        sid=sid,
        actions=["s3:ListBucket"],
        resources=[bucket.bucket_arn],
        conditions={"StringLike": {"s3:prefix": keys}},
    )


def _list_versions(sid: str, bucket: s3.IBucket, keys: str) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=sid,
        actions=["s3:ListBucketVersions"],
        resources=[bucket.bucket_arn],
        conditions={"StringLike": {"s3:prefix": keys}},
    )

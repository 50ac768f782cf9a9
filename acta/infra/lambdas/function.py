"""The Lambda functions: Acta's own, each with its code, roles, log group, variables and alias; and one for each folder
of Python tools, whose role reaches nothing of Acta (ADR 87). Their code is built on this machine, without Docker.

The memory, timeout and reserved concurrency of Acta's own functions are in `acta/infra/sizing.py`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import (
    AssetHashType,
    BundlingOptions,
    DockerImage,
    Duration,
    ILocalBundling,
    RemovalPolicy,
    Stack,
)
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from acta.engine.recovery.store import SHARE
from acta.engine.settings import Settings
from acta.engine.store.schema import CURRENT
from acta.engine.tools.builtin import check_optional
from acta.infra.data_stores import new_log_group
from acta.infra.environments import SNAP_START_SINCE, Environment
from acta.infra.lambdas.grants import GRANTS, READ_SECRETS, gets
from acta.infra.lambdas.roles import LAMBDA, WRITE_LOGS, Resources, allow, role_with, roles_of
from acta.infra.lambdas.variables import EMPTY, as_variables, of_environment
from acta.infra.names import (
    ALIAS,
    AUDIT,
    URL_KEY,
    called_name,
    function_name,
    key_secrets,
    metrics_namespace,
    own_tool_function,
    own_tool_secret,
    secret_name,
    service_name,
)
from acta.infra.packaging.bundle import ROOT, Bundler, copy_tree
from acta.infra.packaging.install import target_of
from acta.infra.packaging.tool_catalogue import CATALOGUE, HANDLER, BuiltFolder
from acta.infra.release import release_of
from acta.infra.sizing import CALLED_BY_EVENTS, FunctionName, recovery_workers

KNOW_TOOLS: frozenset[FunctionName] = frozenset(
    ("start", "step", "tool", "intervene", "admin", "mcp", "wake")
)
"""Functions that know the tools of a tenant; a test compares this with what their code reaches."""
ARCHITECTURES = {"arm64": lambda_.Architecture.ARM_64, "x86_64": lambda_.Architecture.X86_64}
STS = {"AWS_STS_REGIONAL_ENDPOINTS": "regional"}
"""Without this, older SDKs ask the STS endpoint of us-east-1, and an outage there would stop Acta in every region."""


class ActaFunction(Construct):
    """`self.function` is the Lambda; its handler is `functions.<name>.handler.handler`. `self.called` is its alias, the
    one name under which it is called.

    In AWS each release publishes a version and moves the alias to it. Versions that a deployment replaces stay, so that
    the alias can go back to one; the versions of a deployment that is rolled back are deleted. Locally the alias names
    `$LATEST` until a rollback moves it (`acta/infra/deployed/releases.py`).
    """

    def __init__(
        self, scope: Construct, name: FunctionName, environment: Environment, resources: Resources
    ) -> None:
        super().__init__(scope, name.capitalize())
        self._environment = environment
        self._resources = resources
        full_name = function_name(environment.name, name)
        size = environment.sizes[name]
        log_group = new_log_group(self, "Logs", f"/aws/lambda/{full_name}", environment)
        roles = roles_of(self, name, environment, resources, log_group)
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=full_name,
            runtime=lambda_.Runtime(
                "python{}.{}".format(*environment.python),
                lambda_.RuntimeFamily.PYTHON,
                supports_snap_start=environment.python >= SNAP_START_SINCE,
            ),
            architecture=ARCHITECTURES[environment.architecture],
            current_version_options=lambda_.VersionOptions(
                removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
            ),
            code=code_of(
                name,
                environment,
                {CATALOGUE: resources.own_tools} if name in KNOW_TOOLS and resources.own_tools else {},
            ),
            handler=f"acta.functions.{name}.handler.handler",
            role=roles.own,
            memory_size=size.memory,
            timeout=Duration.seconds(size.timeout),
            reserved_concurrent_executions=environment.reserved(name),
            log_group=log_group,
            snap_start=(
                lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS
                if environment.snap_start and name not in CALLED_BY_EVENTS
                else None
            ),
            # Lambda's own traces: each invocation with its start and its end, and nothing of its contents (ADR 59).
            tracing=lambda_.Tracing.DISABLED if environment.is_local else lambda_.Tracing.ACTIVE,
            environment={
                "POWERTOOLS_SERVICE_NAME": service_name(name),
                "POWERTOOLS_METRICS_NAMESPACE": metrics_namespace(environment.name),
                "POWERTOOLS_LOG_LEVEL": "INFO",
                "PYDANTIC_DISABLE_PLUGINS": "__all__",  # the search for plugins costs a cold start 5 ms and more
                "POWERTOOLS_LOGGER_LOG_EVENT": "false",  # events contain bodies and tokens
                **self._settings(name, roles.tenant_arn),
                **(STS if roles.tenant_arn else {}),
            },
        )
        self.function.node.add_dependency(*roles.assume)
        version = self.function.latest_version if environment.is_local else self.function.current_version
        self.called = lambda_.Alias(self, "Live", alias_name=ALIAS, version=version)

    def _settings(self, name: FunctionName, tenant_role: str) -> dict[str, str]:
        """The variables of `acta.engine.settings.Settings`. A wrong name or value raises SettingsError at synthesis."""
        resources = self._resources
        given = {
            **of_environment(self._environment),
            "env": self._environment.name,
            "table": resources.table.table_name,
            "bucket": resources.bucket.bucket_name,
            "session_bucket": resources.session_bucket.bucket_name,
            "release": release_of(self._environment),
            "reads_version": CURRENT,
            "tool_versions": dict(resources.own_tool_versions or {}),
            "tenant_role": tenant_role,
        }
        values = {field: value for field, value in given.items() if value not in EMPTY}
        granted = {field: value for field, value in values.items() if gets(name, field)}
        values = {**granted, **self._of_grants(name, values)}
        check_optional(Settings(**values).offered_tools)
        return as_variables(values)

    def _of_grants(self, name: FunctionName, overrides: Mapping[str, object]) -> dict[str, object]:
        """The settings that a function needs to use what its grants allow."""
        environment, resources, grants = self._environment, self._resources, GRANTS[name]
        values: dict[str, object] = {}
        if grants.asks_tool:
            values["tool_function"] = called_name(environment.name, "tool")
        if grants.admission and environment.may_queue:
            values["recover_function"] = called_name(environment.name, "recover")
        if grants.load:
            values |= {
                "measure_load": not environment.is_local,  # the local AWS has no such metric
                "status_function": function_name(environment.name, "status"),
                "status_concurrency": environment.reserved("status") or 0,
            }
        if grants.asks_itself:
            values["recover_function"] = called_name(environment.name, name)
            if "recovery_workers" not in overrides:
                values["recovery_workers"] = recovery_workers(environment.region, SHARE)
        if grants.audit:
            values["audit_table"] = resources.audit.table.table_name
        if grants.pseudonyms and resources.audit.secret is not None:
            values["audit_secret"] = secret_name(environment.name, AUDIT)
        if grants.signs_urls and resources.url_secret is not None:
            values["url_secret"] = secret_name(environment.name, URL_KEY)
        if grants.engine:
            values["state_machine_arn"] = resources.state_machine_arn
        if grants.secrets and resources.secrets:
            values["provider_secrets"] = key_secrets(environment.name, environment.providers)
        if grants.notifications:
            values |= resources.delivery.settings
        if grants.hands_over:
            values |= resources.traces.hand_over_settings
        if grants.traces:
            values |= resources.traces.settings
        return values


SECRETS_VARIABLE = "ACTA_TOOL_SECRETS"
"""Read by `acta/tools/secrets.py`."""
PROCESSES_VARIABLE = "ACTA_TOOL_PROCESSES"
"""Read by `acta/tools/handler.py`."""


class ToolFolderFunction(Construct):
    """`self.version`: the published version of this release, which `tool` calls; None locally, where the newest code is
    called. The function has no URL, no alias and no resource policy: only roles allow invoking it, and of Acta's roles
    only that of `tool`.
    """

    def __init__(self, scope: Construct, environment: Environment, built: BuiltFolder) -> None:
        folder = built.folder
        super().__init__(scope, f"Tools-{folder.name}")
        name = own_tool_function(environment.name, folder.name)
        shared = environment.tool_processes == "shared"
        log_group = new_log_group(self, "Logs", f"/aws/lambda/{name}", environment)
        secrets = {each: own_tool_secret(environment.name, folder.name, each) for each in folder.secrets}
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=name,
            runtime=lambda_.Runtime("python{}.{}".format(*environment.python), lambda_.RuntimeFamily.PYTHON),
            architecture=ARCHITECTURES[environment.architecture],
            current_version_options=lambda_.VersionOptions(
                removal_policy=RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE
            ),
            code=lambda_.Code.from_asset(
                str(built.path), asset_hash=built.key, asset_hash_type=AssetHashType.CUSTOM
            ),
            handler=HANDLER,
            role=self._role(log_group, list(secrets.values())),
            memory_size=folder.memory,
            timeout=Duration.seconds(built.timeout_seconds),
            log_group=log_group,
            tracing=lambda_.Tracing.DISABLED,  # its role may write its logs and nothing else
            tenancy_config=None if shared else lambda_.TenancyConfig.PER_TENANT,
            environment={
                **(folder.variables or {}),
                **({SECRETS_VARIABLE: json.dumps(secrets, separators=(",", ":"))} if secrets else {}),
                "PYDANTIC_DISABLE_PLUGINS": "__all__",
                **({PROCESSES_VARIABLE: "shared"} if shared else {}),
            },
        )
        self.version = None if environment.is_local else self.function.current_version.version

    def _role(self, log_group: logs.ILogGroup, secrets: list[str]) -> iam.IRole:
        statements = [allow("Logs", WRITE_LOGS, log_group.log_group_arn)]
        if secrets:
            stack = Stack.of(self)
            prefix = f"arn:{stack.partition}:secretsmanager:{stack.region}:{stack.account}:secret:"
            # Secrets Manager ends each ARN with six characters of its own.
            arns = [f"{prefix}{name}-??????" for name in secrets]
            statements.append(allow("Secrets", READ_SECRETS, *arns))
        return role_with(self, "Role", statements, LAMBDA).without_policy_updates()


def code_of(
    function: FunctionName, environment: Environment, added: Mapping[Path, bytes] | None = None
) -> lambda_.Code:
    """The function's code. The asset's hash is the bundle's key, so CDK neither builds nor uploads an unchanged bundle
    again. `added`: see `Bundler.added`.
    """
    bundler = Bundler(target_of(environment), offline=environment.offline, added=added or {})
    return lambda_.Code.from_asset(
        str(ROOT / "acta" / "functions" / function),
        asset_hash=bundler.key(function),
        asset_hash_type=AssetHashType.CUSTOM,
        bundling=BundlingOptions(
            image=DockerImage.from_registry("acta-is-bundled-without-docker"), local=_Local(bundler, function)
        ),
    )


@jsii.implements(ILocalBundling)
class _Local:
    def __init__(self, bundler: Bundler, function: FunctionName) -> None:
        self._bundler = bundler
        self._function = function

    def try_bundle(self, output_dir: str, *_: Any, **__: Any) -> bool:
        copy_tree(self._bundler.build(self._function), Path(output_dir))
        return True

"""One Lambda function with its code, roles, log group, environment variables and alias. Every function of Acta is made
here.

Memory, timeout and reserved concurrency of each: `SIZES` in `infra/acta_infra/sizing.py`.
"""

import json
from collections.abc import Mapping

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from acta_engine.limits.tenant_limits import TenantLimits
from acta_engine.queue.places import LEARN, ProviderLimits
from acta_engine.recovery.store import SHARE
from acta_engine.settings import PREFIX, Settings
from acta_engine.store.versions import CURRENT
from acta_infra.api.machine_claims import ROLES_CLAIM, TENANT_CLAIM
from acta_infra.data_stores import new_log_group
from acta_infra.environments import SNAP_START_SINCE, Environment
from acta_infra.issuers import OwnPool
from acta_infra.lambdas.grants import CHANGE, GRANTS
from acta_infra.lambdas.quotas import recovery_workers
from acta_infra.lambdas.roles import Resources, roles_of
from acta_infra.names import (
    ALIAS,
    AUDIT,
    called_name,
    function_name,
    metrics_namespace,
    secret_name,
    service_name,
)
from acta_infra.packaging.asset import code_of
from acta_infra.packaging.tool_folders import CATALOGUE
from acta_infra.rollout.release import release_of
from acta_infra.sizing import FunctionName

KNOW_TENANT_TOOLS: frozenset[FunctionName] = frozenset(("admin", "tool"))
"""Functions that check which functions the tools of a tenant may call."""
KNOW_APPROVERS: frozenset[FunctionName] = frozenset(("step", "tool", "intervene", "admin", "mcp"))
"""Functions that ask people about calls, or say who is asked."""
KNOW_TOOLS: frozenset[FunctionName] = frozenset(("step", "tool", "intervene", "admin", "mcp"))
"""Functions that have a registry of tools; a test compares this with what their code reaches."""
KNOW_RECEIVERS: frozenset[FunctionName] = frozenset(("start", "admin", "notify", "mcp"))
"""Functions that check which hosts webhooks of tenants may have."""
KNOW_PROVIDER_LIMITS: frozenset[FunctionName] = frozenset(("step", "recover"))
"""Functions that ask providers, or admit who waits for one."""
START_SESSIONS: frozenset[FunctionName] = frozenset(("start", "mcp"))
SHOW_PRICES: frozenset[FunctionName] = frozenset(("status", "mcp"))
CALLED_BY_EVENTS: frozenset[FunctionName] = frozenset(("notify", "usage", "traces", "recover"))
"""Functions that nobody waits for."""
ARCHITECTURES = {"arm64": lambda_.Architecture.ARM_64, "x86_64": lambda_.Architecture.X86_64}
STS = {"AWS_STS_REGIONAL_ENDPOINTS": "regional"}
"""Older SDKs would ask the one of us-east-1, and an outage there would be ours."""


class ActaFunction(Construct):
    """`self.function` is the Lambda; its handler is `functions.<name>.handler.handler`. `self.called` is its alias, the
    one name under which it is called.

    In AWS each release publishes a version and moves the alias to it. Versions that a deployment leaves behind stay, so
    that the alias can go back to one; those of a deployment that is undone go. Locally the alias names `$LATEST`, until
    a rollback moves it (`infra/acta_infra/rollout/`).
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
            handler=f"functions.{name}.handler.handler",
            role=roles.own,
            memory_size=size.memory,
            timeout=Duration.seconds(size.timeout),
            reserved_concurrent_executions=size.reserved_concurrency,
            log_group=log_group,
            snap_start=(
                lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS
                if environment.snap_start and name not in CALLED_BY_EVENTS
                else None
            ),
            # Lambda's own: each invocation with its start and its end. Nothing of what is in it is traced (ADR 59).
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
        """The variables of `acta_engine.settings.Settings`. A wrong name or value raises ValidationError at
        synthesis."""
        environment, resources = self._environment, self._resources
        values: dict[str, object] = {
            "env": environment.name,
            "table": resources.table.table_name,
            "bucket": resources.bucket.bucket_name,
            "session_bucket": resources.session_bucket.bucket_name,
            "tenant_claim": environment.tenant_claim,
            "roles_claim": environment.roles_claim,
            "roles_have_no_spaces": environment.roles_have_no_spaces,
            "longest_model_seconds": environment.longest_model_seconds,
            "longest_tool_seconds": environment.longest_tool_seconds,
            "write_version": environment.write_version,
            "release": release_of(environment),
            "reads_version": CURRENT,
            "origin_hashes": environment.origin_hashes,
            **environment.caps.settings,
            **environment.settings,
            "is_local": environment.is_local,
            "offline": environment.offline,  # what the zip contains, whatever the overrides say
        }
        if isinstance(environment.auth, OwnPool) and environment.auth.machines:
            values |= {"machine_tenant_claim": TENANT_CLAIM, "machine_roles_claim": ROLES_CLAIM}
        if environment.role_map:
            values["role_map"] = environment.role_map
        if environment.allowed_models:
            values["allowed_models"] = ",".join(environment.allowed_models)
        if name == "step":
            values.setdefault("turns_per_step", environment.turns_per_step)
        if name == "mcp":
            values["cors_origins"] = ",".join(environment.cors_origins)
        if name in START_SESSIONS:
            values.setdefault("default_visibility", environment.default_visibility)
        if name in SHOW_PRICES:
            values["step_memory_mb"] = environment.sizes["step"].memory
            values["tool_memory_mb"] = environment.sizes["tool"].memory
            if environment.aws_prices is not None:
                values["aws_prices"] = {
                    field: price for field, price in vars(environment.aws_prices).items() if price is not None
                }
        if name in KNOW_TENANT_TOOLS and environment.tenant_tools:
            values["tenant_tools"] = environment.tenant_tools
        if name == "tool" and resources.own_tool_versions:
            values["tool_versions"] = dict(resources.own_tool_versions)
        if name in KNOW_APPROVERS and environment.tool_approvers:
            values["tool_approvers"] = environment.tool_approvers
        if GRANTS[name].leases or GRANTS[name].table >= CHANGE:
            limits = _named(environment.limits_by_tenant)
            if limits:
                values.setdefault("tenant_limits", limits)
        if name in KNOW_PROVIDER_LIMITS and environment.provider_limits:
            learns = (name for name, each in environment.provider_limits.items() if each == LEARN)
            limits_of_providers = {**_named(environment.provider_limits), **dict.fromkeys(learns, "learn")}
            values.setdefault("provider_limits", limits_of_providers)
        if name in KNOW_RECEIVERS and environment.notify_hosts:
            values["notify_hosts"] = ",".join(environment.notify_hosts)
        if tenant_role:
            values["tenant_role"] = tenant_role
        if GRANTS[name].asks_tool:
            values["tool_function"] = called_name(environment.name, "tool")
        if GRANTS[name].admission and environment.may_queue:
            values["recover_function"] = called_name(environment.name, "recover")
        if GRANTS[name].load:
            values |= {
                "measure_load": not environment.is_local,  # the local AWS has no such metric
                "status_function": function_name(environment.name, "status"),
                "status_concurrency": environment.sizes["status"].reserved_concurrency or 0,
            }
        if name == "recover":
            values["ended_sessions_days"] = environment.retention.ended_sessions
        if GRANTS[name].asks_itself:
            values["recover_function"] = called_name(environment.name, name)
            values.setdefault("recovery_workers", recovery_workers(environment.region, SHARE))
        if GRANTS[name].audit:
            values |= {
                "audit_table": resources.audit.table.table_name,
                "audit_retention_days": environment.audit_retention_days,
            }
        if GRANTS[name].pseudonyms and resources.audit.secret is not None:
            values["audit_secret"] = secret_name(environment.name, AUDIT)
        if GRANTS[name].engine:
            values["state_machine_arn"] = resources.state_machine_arn
        if GRANTS[name].secrets and resources.secrets:
            values["provider_secrets"] = {
                provider: secret_name(environment.name, provider) for provider in resources.secrets
            }
        if GRANTS[name].notifications:
            values |= resources.delivery.settings
        if GRANTS[name].hands_over:
            values |= resources.traces.hand_over_settings
        if GRANTS[name].traces:
            values |= resources.traces.settings
        Settings.model_validate(values)
        return {f"{PREFIX}{field.upper()}": _text(value) for field, value in values.items()}


def _named(
    limits: Mapping[str, TenantLimits] | Mapping[str, ProviderLimits],
) -> dict[str, dict[str, int]]:
    """Without those that are none. Who has none at all stands there as such, unless nobody has any."""
    named = {
        tenant: {name: most for name, most in each._asdict().items() if most is not None}
        for tenant, each in limits.items()
    }
    return named if any(named.values()) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))

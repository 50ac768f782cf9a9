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
from acta_engine.settings import Settings
from acta_engine.store.schema import CURRENT
from acta_engine.usage.aws_prices import AwsPrices
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

KNOW_TOOLS: frozenset[FunctionName] = frozenset(("step", "tool", "intervene", "admin", "mcp"))
"""Functions that have a registry of tools; a test compares this with what their code reaches."""
EMPTY: tuple[object, ...] = ("", None, {})
"""Values that say no more than a variable that is not there."""
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
        """The variables of `acta_engine.settings.Settings`. A wrong name or value raises SettingsError at synthesis."""
        resources = self._resources
        given = {
            **_of_environment(self._environment),
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
        values = {**_granted_to(name, values), **self._of_grants(name, values)}
        Settings(**values)
        return {Settings.fields[field].variable: _text(value) for field, value in values.items()}

    def _of_grants(self, name: FunctionName, overrides: Mapping[str, object]) -> dict[str, object]:
        """What a function has to know to use what it may use."""
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
                "status_concurrency": environment.sizes["status"].reserved_concurrency or 0,
            }
        if grants.asks_itself:
            values["recover_function"] = called_name(environment.name, name)
            if "recovery_workers" not in overrides:
                values["recovery_workers"] = recovery_workers(environment.region, SHARE)
        if grants.audit:
            values["audit_table"] = resources.audit.table.table_name
        if grants.pseudonyms and resources.audit.secret is not None:
            values["audit_secret"] = secret_name(environment.name, AUDIT)
        if grants.engine:
            values["state_machine_arn"] = resources.state_machine_arn
        if grants.secrets and resources.secrets:
            values["provider_secrets"] = {
                provider: secret_name(environment.name, provider) for provider in resources.secrets
            }
        if grants.notifications:
            values |= resources.delivery.settings
        if grants.hands_over:
            values |= resources.traces.hand_over_settings
        if grants.traces:
            values |= resources.traces.settings
        return values


def _granted_to(name: FunctionName, values: Mapping[str, object]) -> dict[str, object]:
    """The settings that this function gets: those of every function, those whose field names it, and those that say
    how something is used that it may use.
    """
    grants = GRANTS[name]
    needs = {
        "audit_retention_days": bool(grants.audit),
        "tenant_limits": grants.leases or grants.table >= CHANGE,
    }
    return {
        field: value
        for field, value in values.items()
        if needs.get(field, True) and (field not in Settings.fields or Settings.fields[field].is_for(name))
    }


def _of_environment(environment: Environment) -> dict[str, object]:
    """The settings that an environment decides about (`acta_engine/settings.py`): its fields of the same names, what
    follows from its others, and its overrides.
    """
    named = {
        name: _plain(getattr(environment, name)) for name in Settings.fields if hasattr(environment, name)
    }
    own_pool_lists_machines = isinstance(environment.auth, OwnPool) and bool(environment.auth.machines)
    return {
        **named,
        "tenant_limits": _limits(environment.limits_by_tenant),
        "provider_limits": _limits(environment.provider_limits),
        "ended_sessions_days": environment.retention.ended_sessions,
        "step_memory_mb": environment.sizes["step"].memory,
        "tool_memory_mb": environment.sizes["tool"].memory,
        "machine_tenant_claim": TENANT_CLAIM if own_pool_lists_machines else "",
        "machine_roles_claim": ROLES_CLAIM if own_pool_lists_machines else "",
        **environment.caps.settings,
        **environment.settings,
        "is_local": environment.is_local,
        "offline": environment.offline,  # what the zip contains, whatever the overrides say
    }


def _plain(value: object) -> object:
    """As a setting has it."""
    if isinstance(value, AwsPrices):
        return {name: price for name, price in vars(value).items() if price is not None}
    return ",".join(value) if isinstance(value, tuple) else value


def _limits(limits: Mapping[str, TenantLimits] | Mapping[str, ProviderLimits]) -> dict[str, object]:
    """Without those that are none. Who has none at all stands there as such, unless nobody has any."""
    named: dict[str, object] = {
        name: "learn"
        if each == LEARN
        else {limit: most for limit, most in each._asdict().items() if most is not None}
        for name, each in limits.items()
    }
    return named if any(named.values()) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))

"""The environments Acta is deployed to, as data. Everything that differs between them stands here.

`cdk … -c env=<name>` selects one. A team with its own identity provider replaces `OwnPool()` by an `ExternalIssuer`
(`acta/infra/api/issuers.py`). An operator may keep environments in a file of their own, so that a checkout of
Acta stays as it was released, and the next release is checked out over it without a conflict.
"""

import json
import platform
import re
import runpy
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import permutations
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args

from acta.engine.limits.tenant_limits import NO_LIMITS, TenantLimits
from acta.engine.models.own_providers import own_providers
from acta.engine.queue.places import LEARN, ProviderLimits
from acta.engine.store.schema import CURRENT, OLDEST_WRITTEN
from acta.engine.tools.tool import EVERY_TENANT, MAX_TOOL_SECONDS
from acta.engine.usage.aws_prices import AwsPrices
from acta.infra.api.issuers import NAME_PATTERN, ORIGIN_PATTERN, ExternalIssuer, IssuerParameters, OwnPool
from acta.infra.api.issuers import Machine as Machine  # operators' own files import it from here
from acta.infra.options import (
    AT_ONCE,
    EVENTS_CONCURRENCY,
    FIREWALL_SECONDS,
    USUAL_QUALIFIER,
    BusEvents,
    Canary,
    CustomerKey,
    Domain,
    Edge,
    Network,
    OperatorsSource,
    QueueMessages,
    SignInFirewall,
    Watch,
    Way,
    WrittenFiles,
    check_boundary,
    check_place,
    check_qualifier,
    check_sources,
    check_tags,
)
from acta.infra.posture import Posture, settled, with_decisions
from acta.infra.retention import Retention
from acta.infra.sizing import LOCAL_SIZES, MARGIN, SIZES, FunctionName, Sizing
from acta.infra.tool_folders import DEFAULT_DIR, BadFolder, ToolFolder, folders_in
from acta.repository import FILE, repository

Architecture = Literal["arm64", "x86_64"]
SettingValue = str | int | float


CONTEXT = (
    "retry_base_seconds", "park_after_seconds", "provider_limits", "write_version", "roll_out", "tools_dir",
    "notifications", "traces", "decided",
)  # fmt: skip
"""The context values that change an environment: `acta/infra/app.py` says what each does."""


class UnusableValue(ValueError):
    """A value given on the command line cannot be used; the message says what can."""


class UnknownEnvironment(UnusableValue):
    """No environment has this name; the message lists those that exist."""


WITHOUT_TENANT_ISOLATION = ("ap-southeast-6", "cn-", "us-gov-", "us-iso", "eu-iso", "eusc-")
"""Beginnings of the regions' names. Source: AWS Lambda developer guide, "Tenant isolation"."""
SNAP_START_SINCE = (3, 12)
"""Source: AWS Lambda developer guide, "Improving startup performance with Lambda SnapStart"."""


@dataclass(frozen=True)
class Webhook:
    """Notifications are POSTed to `url` (https), signed with the secret `acta/<env>/notifications`."""

    url: str


@dataclass(frozen=True)
class Topic:
    """Notifications are published to the SNS topic `acta-<env>-notifications`."""


@dataclass(frozen=True)
class LocalWebhook:
    """URL and secret are variables of the local stack. Without them `is_listening` is False and nothing is sent."""

    is_listening: bool = False


@dataclass(frozen=True)
class Otlp:
    """Spans are POSTed to `url`, the whole URL of an OTLP/HTTP endpoint. It is https and at a public address, such as
    `https://otlp.example.com/v1/traces`. `headers_secret`: the name of a secret in Secrets Manager whose text is a JSON
    object of headers, such as `{"Authorization": "Bearer …"}`; None: the endpoint needs none. `content`: whether spans
    also have what people, models and tools said; they never have it of private sessions.
    """

    url: str
    headers_secret: str | None = None
    content: bool = False


@dataclass(frozen=True)
class XRay:
    """Spans go to the OTLP endpoint of AWS X-Ray in the deployment's region, and so to CloudWatch. The account needs
    Transaction Search. `content`: as in `Otlp`.
    """

    content: bool = False


@dataclass(frozen=True)
class LocalOtlp:
    """URL and headers are variables of the local stack. Without them `is_listening` is False and nothing is sent."""

    is_listening: bool = False


LONGEST_NAME = 32
"""The limit leaves a tenant's tool, `acta-<env>-tool-…`, room in the 64 characters of a Lambda's name. A name with a
part `tool` is refused: this environment's functions could have the names of another environment's tools."""


@dataclass(frozen=True)
class SessionCaps:
    """The most that anybody, an admin too, may give one session. None: the default in `acta/engine/settings.py`,
    and for dollars as the posture says. An agent may have lower caps of its own, which its tenant's admins set and may
    exceed.
    """

    max_steps: int | None = None
    token_budget: int | None = None
    cost_budget_usd: float | None = None
    max_output_tokens: int | None = None
    """Of one model call."""

    @property
    def settings(self) -> Mapping[str, "SettingValue"]:
        return {f"cap_{name}": value for name, value in vars(self).items() if value is not None}


USUAL_LIMITS = TenantLimits(starts_per_minute=120, open_sessions=500, requests_per_second=50, long_polls=200)
"""The limits of one tenant. They allow it half of the requests that the gateway lets through to one route from all
tenants, and long polls on a fifth of an ordinary account's concurrent executions."""


def usual_but(**different: int | None) -> TenantLimits:
    """The usual limits with the values named here instead of theirs."""
    return USUAL_LIMITS._replace(**different)


@dataclass(frozen=True)
class Environment:
    """Everything that may differ between two deployments. Rate limits count requests per second to one route, and burst
    limits requests at once; beyond them the gateway answers 429.
    """

    name: str
    auth: OwnPool | ExternalIssuer | IssuerParameters
    posture: Posture = "strict"
    """Gives the points of `acta/infra/posture.py` their values where this environment leaves them out. Nothing
    else reads it."""
    python: tuple[int, int] = (3, 13)
    architecture: Architecture = "arm64"
    sizes: Mapping[FunctionName, Sizing] = field(default_factory=lambda: SIZES)

    reserved_concurrency: Mapping[FunctionName, int] | None = None
    """Function -> how many of the account's concurrent executions are for it alone; it never gets more. A function that
    is not named shares what none has reserved. None: as the posture says. `acta deploy` checks that the account has so
    many."""
    tenant_share: float | None = None
    """The part of what is reserved for `step` and for `status` that one tenant may use at once, 1 at most. Its open
    sessions and its long polls are limited to that part, unless `tenant_limits` names the tenant. None: as the posture
    says."""

    is_local: bool = False
    """Deployed to the local AWS: no TLS, no tracing, no secrets; model keys come from the developer's environment."""
    retain: bool = True
    """The table, the bucket, the secrets and the users stay when the stack is deleted."""
    deletion_protection: bool = False
    point_in_time_recovery: bool = True
    versioned_files: bool = True
    alarms: bool = True
    watch: Watch = field(default_factory=Watch)
    """Who is told of alarms, and what a month may cost."""
    dashboard: bool = True
    """A page of graphs, `acta-<env>` in CloudWatch."""
    retention: Retention = field(default_factory=Retention)
    """How long data is kept that nobody deletes."""

    tenant_claim: str = "tenant"
    roles_claim: str = "roles"
    role_map: Mapping[str, str] = field(default_factory=dict)
    """A name in the roles claim -> the role that it grants; "" grants none, but makes the name known. Without a map
    each name grants the role of the same name."""
    cors_origins: tuple[str, ...] = ()
    """Web pages of these origins, such as `https://app.example.com`, may call the API from a browser. `*` alone allows
    every origin. Pages send the token in a header and never a cookie, so no answer allows credentials."""
    rate_limit: int = 100
    burst_limit: int = 200
    open_rate_limit: int = 10
    open_burst_limit: int = 20
    """The open limits hold for `/healthz` and for every path without a route, which callers reach without a token."""
    bedrock: bool = False
    """Agents may name the provider `bedrock`: the role of `step` may invoke Claude on Amazon Bedrock."""
    offline: bool = False
    """The zip of `step` contains the rule-based stand-in for a model. Agents may name the stand-in, and it answers
    where no provider has a key. In other environments a session that has no provider's key fails at once."""
    tenant_tools: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Tenant -> names of the functions, `acta-<env>-tool-…`, that its tools of kind `lambda` may call; `*`: those of
    every tenant. Empty: no tenant has such tools."""
    tool_processes: Literal["per_tenant", "shared"] | None = None
    """Whether a process of a Python tool serves one tenant. `shared` is for regions and accounts in which Lambda has no
    tenant isolation (ADR 140). None: as the posture says."""
    tools_dir: str = DEFAULT_DIR
    """Where the folders of Python tools are (docs/own-tools.md): a path relative to the operator's file of
    environments, or else to the repository or the folder where the command is run. A directory that does not exist has
    no folders."""
    tool_approvers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Tenant, or `*` for every tenant -> name of a tool, built-in or the tenant's own -> the role that decides on its
    calls, whatever its definition says. Whoever asked for such a call may not approve it."""
    event_sources: Mapping[str, OperatorsSource] = field(default_factory=dict)
    """Name -> events from outside that triggers may be written on: `{"invoices": WrittenFiles("invoices/")}`
    (docs/options.md)."""
    notifications: Webhook | Topic | LocalWebhook | None = None
    """Who is told of interventions and ended sessions. None: nobody, and no function, queue or topic is deployed."""
    notify_hosts: tuple[str, ...] = ()
    """Hosts that the webhooks of tenants and sessions may name, exactly, as `host` or `host:port`. Empty: no such
    webhooks."""
    traces: Otlp | XRay | LocalOtlp | None = None
    """Where the spans of sessions go (docs/traces.md). None: nowhere, and no function or queue is deployed."""
    console_url: str | None = None
    """The base URL of the operator's own console. Notifications link to `<base>/sessions/{id}` there, or for an
    intervention to `<base>/sessions/{id}/interventions/{iid}`. None: they link to the deployment's own page."""
    default_visibility: Literal["private", "tenant"] | None = None
    """Who may see a session whose start does not say so: its owner alone, or every member of its tenant. None: as the
    posture says."""
    high_stakes_approver: str | None = None
    """Who approves a call of high stakes whose tool names no role: "anyone" who may decide, "another" than those who
    asked for it, or the name of a role, whose people approve what they have not asked for. None: as the posture
    says."""
    programs_decide: bool | None = None
    """Whether programs (client credentials) may decide what sessions ask: with an option, a message, a resume or more
    budget. None: as the posture says."""
    file_change_role: str | None = None
    """The role that replaces, restores and deletes shared files over the API; "": every member does (ADR 152). None: as
    the posture says."""
    record_reads: bool | None = None
    """Whether the audit trail also records reads of what is somebody else's, once for each person, thing and hour (ADR
    142). None: as the posture says."""
    mcp_decisions: Literal["form", "link", "off"] | None = None
    """How people decide questions at `/mcp`: in a form of their client, or else on the page for people (`form`), on the
    page alone (`link`), or not from there at all (`off`). A client's model decides in none of them.
    None: as the posture says."""
    usd_per_day: Mapping[str, float] | None = None
    """Tenant, or `*` for every other tenant -> the US dollars that its sessions may cost in a day: `{"*": 100, "acme":
    1_000}`. Sessions beyond it wait for the next day. None: as the posture says."""
    caps: SessionCaps = SessionCaps()
    limits: TenantLimits = USUAL_LIMITS
    """The limits of each tenant that `tenant_limits` does not name. A limit that is None does not exist."""
    tenant_limits: Mapping[str, TenantLimits] = field(default_factory=dict)
    """Tenant -> all of its limits: `{"acme": usual_but(open_sessions=1_000)}` changes one of the usual ones."""
    provider_limits: Mapping[str, ProviderLimits] = field(default_factory=dict)
    """Provider -> what its key takes in a minute from all tenants together: `{"anthropic":
    ProviderLimits(tokens_per_minute=400_000, requests_per_minute=1_000), "openai": LEARN}`. `LEARN` takes the limits
    from the provider's answers. Sessions beyond the limits wait in a queue. A provider that is not named is asked
    without a limit until it answers 429."""
    allowed_models: tuple[str, ...] = ()
    """Exact names of the models that agents may have; name the deployment's own, too. Empty: every model that is called
    like one of its provider's (`acta/engine/models/providers.py`)."""
    providers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Providers of your own: name -> an endpoint that speaks a protocol which Acta knows, `{"gateway": {"url":
    "https://llm.example.com/v1", "protocol": "chat", "secret": True}}` (docs/models.md). With `"secret": True` its key
    is in the secret `acta/<env>/<name>`; a text names a secret of yours instead."""
    models: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    """Provider -> model -> what Acta should know of it: `{"openai": {"my-model": {"input": 0.5, "output": 2, "window":
    128_000, "source": "contract, 2026-11"}}}`, with prices in US dollars per million tokens (docs/options.md)."""
    aws_prices: AwsPrices | None = None
    """The AWS prices that sessions' receipts use. None: the region's price list
    (`acta/engine/usage/aws_prices.py`); in a region without a list, receipts give no dollars for AWS."""
    retry_base_seconds: int = 2
    """The first pause before the state machine retries; later pauses double. Whole seconds, at least 1."""
    park_after_seconds: int = 600
    """A session that has waited for a person for longer than this, or is going to wait for anything else for longer, is
    parked: it has no execution meanwhile (ADR 104). Whole seconds, at least 1."""
    write_version: int = CURRENT
    """The schema version that the Lambdas write. `acta deploy` chooses the version before it while Lambdas of the
    previous release may still run or be deployed again."""
    roll_out: Way = AT_ONCE
    """How the functions of a new release are taken into use."""
    turns_per_step: int = 8
    """The most turns that one invocation of `step` makes (ADR 57). With 1, each turn and each tool call is a state of
    the engine that one can look at."""
    settings: Mapping[str, SettingValue] = field(default_factory=dict)
    """More of `acta.engine.settings.Settings`, by field name: those that no option of the environment decides."""

    # What an operator may add in AWS: docs/options.md.
    account: str | None = None
    """The AWS account, twelve digits; the environment is never deployed to another one. Needs `region`."""
    region: str | None = None
    """The AWS region, such as `eu-west-1`, whatever region the shell has. Needs `account`."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Set on every resource that takes tags, in addition to `service` and `environment`."""
    snap_start: bool = False
    """Functions that somebody waits for start from a snapshot of their memory, made when a version is published."""
    log_callers: bool = True
    """Whether the access log says who asked: the token's subject, and the address that the request came from."""
    key: CustomerKey | None = None
    domain: Domain | None = None
    """The API's own name; its own address at AWS is switched off."""
    edge: Edge | None = None
    sign_in_firewall: SignInFirewall | None = None
    tool_network: Network | Literal[False] | None = None
    """Where Python tools and calls to other servers run. False: in no network of yours. None: as the posture says."""
    bootstrap_qualifier: str = USUAL_QUALIFIER
    """Names the roles and the bucket that `acta bootstrap` makes. Environments of one account with different qualifiers
    are deployed by different roles."""
    permissions_boundary: str | None = None
    """The ARN of a managed policy that bounds every role."""

    def __post_init__(self) -> None:
        fits = re.fullmatch(NAME_PATTERN, self.name) and len(self.name) <= LONGEST_NAME
        if not fits or "tool" in self.name.split("-"):
            raise ValueError(
                "an environment's name is of lower-case letters, digits and single hyphens, "
                f"{LONGEST_NAME} at most, and no part of it is tool"
            )
        try:
            check_place(self.account, self.region)
            check_tags(self.tags)
            check_sources(self.event_sources)
            self._check_origins()
            self._check_options()
        except ValueError as error:
            raise ValueError(f"environment {self.name}: {error}") from None

    @property
    def limits_by_tenant(self) -> Mapping[str, TenantLimits]:
        """`Settings.tenant_limits`, as values. A session has one worker of `step` at a time at most."""

        def shared(limit: int | None, name: FunctionName) -> int | None:
            reserved = self.reserved(name)
            if reserved is None or self.tenant_share is None:
                return limit
            most = max(1, int(self.tenant_share * reserved))
            return most if limit is None else min(limit, most)

        of_each = self.limits._replace(
            open_sessions=shared(self.limits.open_sessions, "step"),
            long_polls=shared(self.limits.long_polls, "status"),
        )
        return {EVERY_TENANT: of_each, **self.tenant_limits}

    def reserved(self, name: FunctionName) -> int | None:
        """The function's reserved concurrency. None: it has none."""
        return (self.reserved_concurrency or {}).get(name)

    def _check_origins(self) -> None:
        """Raises ValueError. `*` next to other origins, or a path or slash at the end, would silently let nobody in."""
        for origin in self.cors_origins:
            if origin == "*" and len(self.cors_origins) == 1:
                continue
            if not re.fullmatch(ORIGIN_PATTERN, origin):
                raise ValueError(
                    f"an origin is https://host or https://host:port, http for localhost alone, not {origin!r}"
                )

    def _check_options(self) -> None:
        """Raises ValueError for options that do not go together."""
        added = (
            self.key,
            self.domain,
            self.edge,
            self.sign_in_firewall,
            self.tool_network,
            self.permissions_boundary,
            self.account,
        )
        if self.tenant_share is not None and not 0 < self.tenant_share <= 1:
            raise ValueError("tenant_share is more than 0, and 1 at most")
        for name, number in (self.reserved_concurrency or {}).items():
            if name not in self.sizes or number < 1:
                raise ValueError(
                    f"reserved_concurrency has functions and numbers of at least 1, not {name}: {number}"
                )
        own_queues = sum(isinstance(each, QueueMessages) for each in self.event_sources.values())
        queues = own_queues + (len(self.event_sources) > own_queues)
        least, wake = EVENTS_CONCURRENCY * (queues + 1), self.reserved("wake")
        if queues and wake is not None and wake < least:
            raise ValueError(
                f"reserved_concurrency of wake is at least {least}: events come from {queues} queues, with up to "
                f"{EVENTS_CONCURRENCY} invocations for each, and webhooks and callbacks need some, too"
            )
        if self.snap_start and (self.is_local or self.python < SNAP_START_SINCE):
            raise ValueError("snap_start is for functions in AWS with Python 3.12 or a later one")
        if self.is_local and any(added):
            raise ValueError(
                "the local environment takes no key, domain, edge, firewall, network, boundary or account"
            )
        if self.is_local and self.roll_out != AT_ONCE:
            raise ValueError("the local environment takes a release into use at once")
        if self.edge is not None and self.domain is None:
            raise ValueError("edge needs a domain of the API, which CloudFront passes requests on to")
        if self.edge is not None and self.domain is not None and self.edge.domain.name == self.domain.name:
            raise ValueError(
                "edge.domain and domain are two names: people use the first, CloudFront the second"
            )
        most = self.open_rate_limit * FIREWALL_SECONDS // 2
        if self.edge is not None and not self.edge.web_acl_arn and self.edge.requests_per_address > most:
            raise ValueError(
                f"edge.requests_per_address is {most} at most, or open_rate_limit higher: one address must not use up "
                "what a route takes that needs no token"
            )
        if self.sign_in_firewall is not None and not isinstance(self.auth, OwnPool):
            raise ValueError("sign_in_firewall is for Acta's own user pool")
        if self.permissions_boundary is not None:
            check_boundary(self.permissions_boundary)
        check_qualifier(self.bootstrap_qualifier)
        own_providers(self.providers)

    def with_context(self, name: str, value: str) -> "Environment":
        """This environment with one value of `CONTEXT`. Raises UnusableValue for one that cannot be used."""
        match name:
            case "retry_base_seconds" | "park_after_seconds":
                if not value.isdecimal() or int(value) < 1:
                    raise UnusableValue(f"{name} is a whole number of seconds, at least 1, not {value!r}")
                seconds: dict[str, Any] = {name: int(value)}
                return replace(self, **seconds)
            case "write_version":
                possible = [str(each) for each in range(OLDEST_WRITTEN, CURRENT + 1)]
                if value not in possible:
                    raise UnusableValue(f"{name} is {' or '.join(possible)} in this release, not {value!r}")
                return replace(self, write_version=int(value))
            case "roll_out":
                if value != "at_once":
                    raise UnusableValue(f"roll_out is at_once or left out, not {value!r}")
                return replace(self, roll_out=AT_ONCE)
            case "provider_limits":
                try:
                    limits = {
                        name: LEARN if each == "learn" else ProviderLimits(**each)
                        for name, each in json.loads(value).items()
                    }
                except (AttributeError, TypeError, ValueError):
                    raise UnusableValue(f"{name} is JSON as in docs/options.md, not {value!r}") from None
                return replace(self, provider_limits=limits)
            case "notifications" | "traces" if not self.is_local:
                raise UnusableValue(f"{name} of an environment in AWS are set in environments.py")
            case "notifications":
                return replace(self, notifications=LocalWebhook(is_listening=True))
            case "traces":
                return replace(self, traces=LocalOtlp(is_listening=True))
            case "decided":
                try:
                    return with_decisions(self, json.loads(value))
                except (TypeError, ValueError) as error:
                    raise UnusableValue(
                        f"{name} is JSON with a value for each undecided point: {error}"
                    ) from None
            case "tools_dir":
                return replace(self, tools_dir=value)
            case _:
                raise UnusableValue(f"there is no context value {name}")

    @property
    def tool_folders(self) -> tuple[ToolFolder, ...]:
        """Empty while `tools_dir` is still relative, since nobody has said what it is relative to. Raises BadFolder."""
        path = Path(self.tools_dir)
        folders = folders_in(path if path.is_absolute() else None, self.name)
        lacks = (self.region or "").startswith(WITHOUT_TENANT_ISOLATION)
        if folders and lacks and self.tool_processes != "shared":
            raise BadFolder(
                f'{path}: Lambda has no tenant isolation in {self.region}. Set tool_processes="shared" in the '
                f"environment {self.name} to deploy Python tools there whose processes all tenants share."
            )
        return folders

    @property
    def roles_have_no_spaces(self) -> bool:
        """Whether no role's name has a space. Names of Cognito groups have none; the local issuer's may have some."""
        if isinstance(self.auth, ExternalIssuer):
            return self.auth.roles_have_no_spaces
        return isinstance(self.auth, OwnPool)

    @property
    def roles_are_json(self) -> bool:
        """Whether the roles claim is a list as JSON. The local issuer's is."""
        if isinstance(self.auth, ExternalIssuer):
            return self.auth.roles_are_json
        return isinstance(self.auth, IssuerParameters)

    @property
    def may_queue(self) -> bool:
        """Whether sessions may wait in a provider's queue. A local stack may be given limits later."""
        return self.is_local or bool(self.provider_limits)

    @property
    def longest_model_seconds(self) -> int:
        """How long a model call may take: 14 minutes where `step` has the longest timeout that Lambda allows."""
        return self.sizes["step"].timeout - MARGIN

    @property
    def longest_tool_seconds(self) -> int:
        """How long a tool call may take."""
        return min(MAX_TOOL_SECONDS, self.sizes["tool"].timeout - MARGIN)

    @property
    def origin_hashes(self) -> str:
        """`Settings.origin_hashes`."""
        return ",".join(self.edge.origin_hashes) if self.edge is not None else ""

    @property
    def functions(self) -> tuple[FunctionName, ...]:
        """The environment's functions: `notify` only if notifications are sent, `traces` only if spans are exported."""
        left_out = {"notify"} if self.notifications is None and not self.notify_hosts else set()
        left_out |= {"traces"} if self.traces is None else set()
        return tuple(name for name in get_args(FunctionName) if name not in left_out)


def _own_pool(name: str, **different: object) -> Environment:
    """An environment in AWS with Acta's user pool. The claims are those of the pool's ID tokens."""
    values: dict[str, object] = {
        "auth": OwnPool(),
        "tenant_claim": "custom:tenant",
        "roles_claim": "cognito:groups",
        **different,
    }
    return Environment(name=name, **values)  # type: ignore[arg-type]


LOCAL = Environment(
    name="local",
    auth=IssuerParameters(),
    posture="open",
    python=(sys.version_info.major, sys.version_info.minor),
    architecture="arm64" if platform.machine().lower() in ("arm64", "aarch64") else "x86_64",
    sizes=LOCAL_SIZES,
    is_local=True,
    retain=False,
    point_in_time_recovery=False,
    retention=Retention(logs=1),
    alarms=False,
    cors_origins=("*",),
    offline=True,
    settings={"optional_tools": "get_weather"},  # it calls a public service, open-meteo.com
    rate_limit=10_000,
    burst_limit=5_000,
    open_rate_limit=100,
    open_burst_limit=1_000,
    notifications=LocalWebhook(),
    traces=LocalOtlp(),
    event_sources={
        "inbox": WrittenFiles("inbox/"),
        "events": BusEvents({"source": ["acta.local"]}, id="detail.id", tenant="detail.tenant"),
    },
    retry_base_seconds=1,
    turns_per_step=1,
    limits=NO_LIMITS,
)
DEV = _own_pool(
    "dev",
    posture="open",
    retain=False,
    point_in_time_recovery=False,
    retention=Retention(logs=7),
    alarms=False,
    turns_per_step=1,
)
STAGING = _own_pool("staging", roll_out=Canary(5))
PROD = _own_pool(
    "prod",
    deletion_protection=True,
    retention=Retention(logs=365),
    roll_out=Canary(30),
    rate_limit=500,
    burst_limit=1_000,
    limits=usual_but(requests_per_second=100),
)

ENVIRONMENTS: Mapping[str, Environment] = MappingProxyType(
    {environment.name: environment for environment in (LOCAL, DEV, STAGING, PROD)}
)


def select(name: str | None, among: Mapping[str, Environment] = ENVIRONMENTS) -> Environment:
    """The environment called `name`, settled by its posture. Raises UnknownEnvironment with one line for a person."""
    known = ", ".join(among)
    if not name:
        raise UnknownEnvironment(f"no environment selected: add -c env=<name>, one of {known}")
    if name not in among:
        raise UnknownEnvironment(f"unknown environment {name!r}: -c env=<name> is one of {known}")
    return settled(among[name])


APART = 19
"""Names of environments differ within so many characters: CloudFormation shortens the names that it makes from them."""
VARIABLE = "ACTA_ENVIRONMENTS"
"""The variable with the path of the operator's file, which binds `ENVIRONMENTS` to a list or tuple of `Environment`."""


def operators_file(environ: Mapping[str, str]) -> str:
    """The file that the variable names, or else `environments.py` of the repository here. Empty: there is none."""
    if environ.get(VARIABLE):
        return environ[VARIABLE]
    here = repository()
    return str(here / FILE) if here is not None else ""


def every_environment(environ: Mapping[str, str]) -> Mapping[str, Environment]:
    """All environments, by name. The operator's replace Acta's. Runs the operator's file. Raises UnusableValue for an
    unusable one.
    """
    path = operators_file(environ)
    if not path:
        return ENVIRONMENTS
    return MappingProxyType({**ENVIRONMENTS, **{each.name: each for each in _in_file(path)}})


def _in_file(path: str) -> tuple[Environment, ...]:
    try:
        found = runpy.run_path(path).get("ENVIRONMENTS")
    except Exception as error:  # whatever the file does
        raise UnusableValue(f"{path}{_line(error, path)}: {type(error).__name__}: {error}") from None
    if not isinstance(found, (list, tuple)) or not all(isinstance(each, Environment) for each in found):
        raise UnusableValue(f"{path}: the file has to bind ENVIRONMENTS to a list of Environment")
    if any(each.name == LOCAL.name for each in found):
        raise UnusableValue(f"{path}: {LOCAL.name} is the environment of the local stack")
    for each, other in permutations(found, 2):
        is_elsewhere = each.account and other.account and each.account != other.account
        if not is_elsewhere and f"{other.name}-".startswith(f"{each.name}-"[:APART]):
            raise UnusableValue(
                f"{path}: {other.name} begins like {each.name}, so the policies for {each.name} would reach "
                "both: choose other names, or give both their accounts"
            )
    beside = Path(path).absolute().parent
    return tuple(replace(each, tools_dir=str(beside / each.tools_dir)) for each in found)


def _line(error: Exception, path: str) -> str:
    """The line of the file where the error was raised; empty if none of the file's lines had run."""
    lines = [each.lineno for each in traceback.extract_tb(error.__traceback__) if each.filename == path]
    return f", line {lines[-1]}" if lines else ""

"""The settings of the Lambdas, read once from the environment.

The field `x` is the variable `ACTA_X`. `infra/` sets the variables, and a test compares both. A missing variable is a
mistake of the deployment: the cold start fails with a `SettingsError` that names it.
No setting is a key: settings have the *names* of secrets. Locally, keys come from the variables that the providers'
SDKs read.
"""

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from acta_engine.limits.caps import MAX_COST_BUDGET_USD, MAX_MAX_STEPS, MAX_TOKEN_BUDGET, Caps
from acta_engine.limits.tenant_limits import LimitsByTenant, TenantLimits
from acta_engine.models.providers import OFFLINE, PROVIDERS, AllowedModels
from acta_engine.people.options_and_defaults import ROLE_PATTERN
from acta_engine.queue.places import LEARN, ProviderLimits
from acta_engine.recovery.outage import OutageLimits
from acta_engine.store.versions import CURRENT, OLDEST_WRITTEN
from acta_engine.tools.tool import EVERY_TENANT, FUNCTION_PATTERN, MAX_FUNCTION_CHARS, function_prefix
from acta_engine.turn.answer_time import MOST_SECONDS, AnswerTime
from acta_engine.usage.aws_prices import AwsPrices

PREFIX = "ACTA_"

MAX_JSON_CHARS = {"tenant_tools": 2_048, "tool_approvers": 512, "tenant_limits": 640, "provider_limits": 400}
"""All variables of a Lambda have 4 KB together."""
AS_JSON = {
    "tenant_tools": '{"acme": ["acta-prod-tool-refund"]}',
    "tool_approvers": '{"*": {"delete_file": "records"}}',
    "tenant_limits": '{"*": {"starts_per_minute": 60, "open_sessions": 100}}',
    "provider_limits": '{"anthropic": {"tokens_per_minute": 400000, "requests_per_minute": 1000}}',
    "provider_secrets": '{"anthropic": "acta/prod/anthropic"}',
    "role_map": '{"Billing admin": "finance", "Everyone": ""}',
    "aws_prices": '{"region": "eu-central-1", "as_of": "2026-11-20", "source": "contract", "transition": 25000000}',
}
"""Settings that are JSON in their variable, with an example of each."""

Seconds = Annotated[float, Field(gt=0)]


class SettingsError(RuntimeError):
    """Variables are missing or have a value that cannot be used. The message names them."""


class Settings(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    env: str
    is_local: bool = False
    """It runs in a local AWS, which has no secrets and whose receivers speak HTTP. Set by templates alone."""
    table: str
    bucket: str
    """Files."""
    session_bucket: str = ""
    """Texts of sessions; it keeps no versions. Empty: the process stores none."""
    tenant_role: str = ""
    """The ARN of the function's second role, which a session policy narrows to one tenant's data (ADR 48). Empty: the
    function has one role, and acts for all tenants with it.
    """
    audit_table: str = ""
    """Who did what (ADR 54). Empty: what would have to be recorded is refused."""
    audit_secret: str = ""
    """The name of the secret with the key of the people's pseudonyms. A local stack has none."""
    audit_retention_days: Annotated[int, Field(ge=0)] = 0
    """After which a record is deleted. 0: never."""
    ended_sessions_days: Annotated[int, Field(ge=0)] = 0
    """After which a session that has ended is deleted. 0: never."""
    state_machine_arn: str = ""
    origin_hashes: Annotated[str, Field(pattern=r"^([0-9a-f]{64}(,[0-9a-f]{64})*)?$")] = ""
    """SHA-256 of the secrets that CloudFront may send along, separated by commas. Empty: the API has no front."""
    cors_origins: str = ""
    """Origins of web pages that may ask `/mcp`, beside the deployment's own, separated by commas; `*`: any."""
    token_issuer: str = ""
    """The issuer of the API's tokens, which `/.well-known/oauth-protected-resource` names. Empty: nobody is told."""
    public_url: str = ""
    """Where people reach the API, without a slash at the end."""
    console_issuer: str = ""
    """The OpenID issuer that the page sends people to. Empty: nobody can sign in on the page."""
    console_client: str = ""
    """The page's client there."""
    console_scopes: str = "openid"
    """What it asks for, separated by spaces."""
    console_takes: Literal["access_token", "id_token"] = "id_token"
    """Which token of a sign-in the API takes."""
    console_connects: str = ""
    """Origins that the page may ask beside its own, separated by spaces: the issuer's, and that of its tokens."""
    tenant_claim: str = "tenant"
    roles_claim: str = "roles"
    machine_tenant_claim: str = ""
    machine_roles_claim: str = ""
    """What stands for the two in tokens of programs that the own pool lists (ADR 81). Empty: it lists none."""
    role_map: Mapping[str, Annotated[str, Field(pattern=rf"^$|{ROLE_PATTERN}")]] = Field(default_factory=dict)
    """A name in the claim of the roles -> the role that it grants, or nothing; names that it does not have grant none.
    Empty: every name is the role of that name. As JSON.
    """
    roles_have_no_spaces: bool = False
    """The issuer has no role whose name has a space in it, so `[a b]` can only be two
    (`shared/acta_engine/api/roles.py`).
    """

    write_version: Annotated[int, Field(ge=OLDEST_WRITTEN, le=CURRENT)] = CURRENT
    """The schema version that is written: the one before `CURRENT` while Lambdas that write it may run."""
    release: str = ""
    """What the release is called (`infra/acta_infra/rollout/release.py`). Read by whoever rolls back, from the
    versions of the functions, as the next one is."""
    reads_version: int = CURRENT
    """The newest schema version that the release knows."""

    offline: bool = False
    """The offline stand-in is in the zip of `step`. Agents may name it, and it answers where no provider has a key."""
    provider: str = ""
    """One of `shared/acta_engine/models/providers.py`; `offline` only where `offline` is true. Empty: the first one
    with a key."""
    model: str = ""
    """Empty: the provider's default model."""
    provider_secrets: Mapping[str, str] = Field(default_factory=dict)
    """Provider -> the name of the secret that holds its key. As JSON. Empty locally, where keys are variables."""
    openai_api: Literal["", "responses", "chat"] = ""
    """Empty: Responses for OpenAI itself, Chat Completions for other servers (`OPENAI_BASE_URL`)."""
    optional_tools: str = ""
    """Names of the optional built-in tools that are offered, separated by commas. Empty: none."""

    http_tool_hosts: str = ""
    """Hosts that tools of kind `http` may call: `host` or `host:port`, separated by commas. Empty: none."""
    http_tool_allow: str = ""
    """`host:port`, separated by commas: tools may call these with http and at private addresses. Local only."""
    tool_secrets_key: str = ""
    """The ARN of the KMS key that new secrets of tools are encrypted with. Empty: AWS's own for secrets."""
    tenant_tools: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    """Tenant -> names of functions that its tools of kind `lambda` may call; `*`: those of every tenant. As JSON."""
    tool_versions: Mapping[str, str] = Field(default_factory=dict)
    """Folder of Python tools -> the version of its function that belongs to this release (ADR 87). As JSON. A folder
    that is not named is called at its newest code: locally, where that may change without a deployment.
    """
    tool_approvers: Mapping[str, Mapping[str, str]] = Field(default_factory=dict)
    """Tenant, or `*` for every tenant -> name of a tool -> the role that decides on its calls. As JSON."""

    tenant_limits: Mapping[str, Mapping[str, Annotated[int, Field(ge=1)] | None]] = Field(
        default_factory=dict
    )
    """Tenant, or `*` for every other tenant -> its limits (`shared/acta_engine/limits/tenant_limits.py`); one that is
    not named or null is none. As JSON.
    """

    provider_limits: Mapping[str, Mapping[str, Annotated[int, Field(ge=1)]] | Literal["learn"]] = Field(
        default_factory=dict
    )
    """Provider -> what it takes in a minute (`shared/acta_engine/queue/places.py`); `learn`: what its answers say. As
    JSON. A provider that is not named takes whatever comes.
    """

    notify_webhook_url: str = ""
    """The URL that gets notifications, with https unless local. Empty: none."""
    notify_topic_arn: str = ""
    notify_queue_url: str = ""
    """The queue for notifications that were not delivered and are sent again."""
    notify_secret_name: str = ""
    """The name of the secret that signs notifications. Locally the secret itself is ACTA_NOTIFY_SECRET."""

    notify_hosts: str = ""
    """Hosts that webhooks of tenants and sessions may have: `host` or `host:port`, separated by commas. Empty: none."""
    notify_allow: str = ""
    """`host:port`, separated by commas: such webhooks may have these with http and at private addresses. Local only."""
    notify_api_url: str = ""
    """The API's base URL, which links of notifications begin with. Empty: they are paths."""
    notify_console_url: str = ""
    """The base URL of a console of the operator's, which notifications link to. Empty: they link to the deployment's
    own page, below `notify_api_url`."""

    traces_url: str = ""
    """The whole URL of the OTLP/HTTP endpoint that spans are sent to, with https unless local. Empty: none."""
    traces_xray: bool = False
    """Spans go to X-Ray's own endpoint of the region, signed with the function's role."""
    traces_content: bool = False
    """Spans have what people, models and tools said."""
    traces_queue_url: str = ""
    """The queue of commits that become spans. Empty: the environment exports no traces."""
    traces_secret_name: str = ""
    """The name of the secret with the endpoint's headers, a JSON object. Locally the object itself is
    ACTA_TRACES_HEADERS."""

    max_message_chars: Annotated[int, Field(ge=1, le=500_000)] = 10_000
    max_file_bytes: Annotated[int, Field(ge=1, le=4_194_304)] = 4_194_304
    max_output_tokens: Annotated[int, Field(ge=1)] = 4_096
    context_window_tokens: Annotated[int, Field(ge=0)] = 0
    """Tokens of a request and its answer together. 0: as much as the model is known to have."""
    token_budget: Annotated[int, Field(ge=1)] = 300_000
    """Of a session, in each window of time. Enough for 50 turns (ADR 38)."""
    token_window_seconds: Annotated[float, Field(ge=0)] = 3_600
    """After which a session's token budget renews. 0: it never does."""
    cost_budget_usd: Annotated[float, Field(ge=0, le=MAX_COST_BUDGET_USD)] = 0
    """US dollars that a session may cost where nobody names a limit. 0: none; its tokens are limited all the same."""
    tenant_tokens_per_hour: Annotated[int, Field(ge=0)] = 5_000_000
    """Tokens that all sessions of a tenant may use in an hour. 0: no such limit."""
    default_visibility: Literal["private", "tenant"] = "tenant"
    """Who may see a session whose start does not say so."""
    cap_max_steps: Annotated[int, Field(ge=1, le=MAX_MAX_STEPS)] = MAX_MAX_STEPS
    """The most that anybody, an admin too, may give one session; agents may have lower caps of their own. So the next
    three.
    """
    cap_token_budget: Annotated[int, Field(ge=1, le=MAX_TOKEN_BUDGET)] = 5_000_000
    cap_cost_budget_usd: Annotated[float, Field(gt=0, le=MAX_COST_BUDGET_USD)] = 1_000
    cap_max_output_tokens: Annotated[int, Field(ge=1)] = 128_000
    """Of one model call."""
    allowed_models: str = ""
    """Names of the models that agents may have, exact, separated by commas; `model` is allowed anyhow. Empty: those
    that are called like a provider's own (`shared/acta_engine/models/providers.py`), locally any.
    """
    step_deadline_seconds: Seconds = 120
    """The least that a model call may take. It gets more where its output limit needs more."""
    first_token_seconds: Seconds = 30
    """How long a model may take to begin."""
    output_tokens_per_second: Annotated[float, Field(ge=0)] = 0
    """How fast the models write. 0: each as it is rated (`shared/acta_engine/turn/answer_time.py`)."""
    longest_model_seconds: Seconds = 840
    """The most that a model call may take. The deployment sets it from the timeout of `step`."""
    background_seconds: Annotated[float, Field(ge=0, le=MOST_SECONDS)] = 3_600
    """The most that a model call in the background may take, for which no function waits
    (`shared/acta_engine/turn/answer_time.py`). 0: no agent may ask for one.
    """
    longest_tool_seconds: Annotated[int, Field(ge=1)] = 600
    """The most that a call of a tool may take. The deployment sets it from the timeout of `tool`."""
    approval_timeout_seconds: Seconds = 1_800
    intervention_warn_seconds: Seconds = 300
    aws_read_seconds: Annotated[float, Field(gt=0, le=6)] = 6
    """How long one attempt at a request to AWS waits for bytes. Three attempts that time out take less than the 30 s
    that an API request has.
    """
    turns_per_step: Annotated[int, Field(ge=1, le=100)] = 1
    """The most turns that one invocation of `step` makes, with the calls between that it may make itself (ADR 57)."""
    roll_over_events: Annotated[int, Field(ge=100, le=22_000)] = 20_000
    outage_patience_seconds: Annotated[float, Field(ge=0)] = 86_400
    """How long an outage lasts before a person is asked whether to try on. 0: nobody is ever asked."""
    outage_longest_pause_seconds: Annotated[float, Field(ge=1)] = 900
    """The longest time between two tries in an outage."""
    recovery_grace_seconds: Seconds = 60
    """Recovery looks at a session only this long after it became active or its wait ended: a worker may just be
    slow.
    """
    recover_function: str = ""
    recovery_workers: Annotated[int, Field(ge=0)] = 0
    """The function `recover` and its alias, and how many more invocations of it may be at work where very many sessions
    have lost their executions; 0: none (ADR 108).
    """
    erase_again_seconds: Seconds = 1_200
    """A deleted session is erased once more after this: longer than any Lambda runs."""
    measure_load: bool = False
    """Recovery measures the functions' concurrency each minute, and long polls give way to it."""
    tool_function: str = ""
    """The function `tool` and its alias, which does for the API what needs the network (ADR 96). Empty: what needs
    it is refused.
    """
    status_function: str = ""
    status_concurrency: Annotated[int, Field(ge=0)] = 0
    """The name of the function `status` and what is reserved for it; 0: nothing."""
    aws_prices: AwsPrices | None = None
    """What receipts count with, as JSON. None: the list of the region that the function is in."""
    step_memory_mb: Annotated[int, Field(ge=128)] = 512
    tool_memory_mb: Annotated[int, Field(ge=128)] = 512
    """What these functions have, for receipts: their time is billed by it."""
    poll_after_ms: Annotated[int, Field(ge=50)] = 1_000
    partial_text_ms: Annotated[int, Field(ge=0)] = 0
    """The shortest time between two writes of the text that a model is still writing. 0: it is never written."""

    @field_validator("provider")
    @classmethod
    def _is_there(cls, value: str, info: ValidationInfo) -> str:
        if value and value not in PROVIDERS:
            raise ValueError(f"a provider is one of {', '.join(PROVIDERS)}")
        if value == OFFLINE and not info.data.get("offline"):
            raise ValueError("this environment has no offline stand-in: see infra/acta_infra/environments.py")
        return value

    @field_validator("http_tool_allow", "notify_allow")
    @classmethod
    def _local_only(cls, value: str, info: ValidationInfo) -> str:
        if value and not info.data.get("is_local"):
            raise ValueError("only an environment of the local kind may make this exception")
        return value

    @field_validator(*AS_JSON, mode="before")
    @classmethod
    def _from_json(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise ValueError(f"JSON such as {AS_JSON[str(info.field_name)]}") from None

    @field_validator("tool_approvers")
    @classmethod
    def _names_roles(
        cls, value: Mapping[str, Mapping[str, str]], info: ValidationInfo
    ) -> Mapping[str, Mapping[str, str]]:
        from acta_engine.tools.tool import check_approvers

        check_approvers(value)
        _check_size(value, info)
        return value

    @field_validator("tenant_limits")
    @classmethod
    def _names_limits(
        cls, value: Mapping[str, Mapping[str, int | None]], info: ValidationInfo
    ) -> Mapping[str, Mapping[str, int | None]]:
        for name in (name for limits in value.values() for name in limits):
            if name not in TenantLimits._fields:
                raise ValueError(f"a limit is one of {', '.join(TenantLimits._fields)}, not {name}")
        _check_size(value, info)
        return value

    @field_validator("provider_limits")
    @classmethod
    def _names_provider_limits(
        cls, value: Mapping[str, Mapping[str, int] | str], info: ValidationInfo
    ) -> Mapping[str, Mapping[str, int] | str]:
        for name in (name for limits in value.values() if not isinstance(limits, str) for name in limits):
            if name not in ProviderLimits._fields:
                raise ValueError(f"a limit is one of {', '.join(ProviderLimits._fields)}, not {name}")
        _check_size(value, info)
        return value

    @field_validator("tenant_tools")
    @classmethod
    def _of_this_environment(
        cls, value: Mapping[str, tuple[str, ...]], info: ValidationInfo
    ) -> Mapping[str, tuple[str, ...]]:
        prefix = function_prefix(info.data.get("env", ""))
        for name in (name for names in value.values() for name in names):
            usable = re.fullmatch(FUNCTION_PATTERN, name) and len(name) <= MAX_FUNCTION_CHARS
            if not usable or not name.startswith(prefix):
                raise ValueError(f"a function of a tool is called {prefix}… here, not {name}")
        _check_size(value, info)
        return value

    @field_validator("notify_webhook_url", "notify_api_url", "notify_console_url", "traces_url")
    @classmethod
    def _plain_url(cls, value: str, info: ValidationInfo) -> str:
        try:
            parts = urlsplit(value)
            usable = bool(parts.hostname) and (parts.port or 443) > 0
        except ValueError:
            usable = False
        plain = value.isascii() and value.isprintable() and not set(value) & set(' \\"<>^`{|}#')
        if value and not (usable and plain and parts.scheme in ("http", "https") and "@" not in parts.netloc):
            raise ValueError("a URL is https://host/path, without credentials or a fragment")
        if value and parts.scheme != "https" and not info.data.get("is_local"):
            raise ValueError("only an environment of the local kind may use http")
        return value

    @model_validator(mode="after")
    def _within_caps(self) -> "Settings":
        for name in ("token_budget", "cost_budget_usd", "max_output_tokens"):
            if getattr(self, name) > getattr(self, f"cap_{name}"):
                raise ValueError(f"{name} is above cap_{name}, which is {getattr(self, f'cap_{name}')}")
        return self

    @property
    def caps(self) -> Caps:
        """What one session may be given at most."""
        return Caps.model_construct(
            max_steps=self.cap_max_steps,
            token_budget=self.cap_token_budget,
            cost_budget_usd=self.cap_cost_budget_usd,
        )

    @property
    def limits(self) -> LimitsByTenant:
        """What tenants may use."""
        return LimitsByTenant({tenant: TenantLimits(**each) for tenant, each in self.tenant_limits.items()})

    @property
    def limits_of_providers(self) -> Mapping[str, ProviderLimits]:
        """What providers take, of those whose calls wait for it."""
        return {
            name: LEARN if isinstance(each, str) else ProviderLimits(**each)
            for name, each in self.provider_limits.items()
            if each
        }

    @property
    def tells_tenants(self) -> bool:
        """Whether webhooks of tenants and sessions are possible at all."""
        return bool(self.notify_hosts or self.notify_allow)

    @property
    def traces_hosts(self) -> str:
        """The one host that spans may go to."""
        parts = urlsplit(self.traces_url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        port = parts.port or (80 if parts.scheme == "http" else 443)
        return f"{host}:{port}" if host else ""

    @property
    def traces_allow(self) -> str:
        """A local stack's receiver is on the same machine."""
        return self.traces_hosts if self.is_local else ""

    @property
    def allowed(self) -> AllowedModels:
        """The models that agents may have."""
        names = (name.strip() for name in self.allowed_models.split(","))
        return AllowedModels(frozenset(filter(None, names)), self.model, self.is_local)

    @property
    def offered_tools(self) -> frozenset[str]:
        """The optional built-in tools that are offered."""
        return frozenset(filter(None, (name.strip() for name in self.optional_tools.split(","))))

    @property
    def outage_limits(self) -> OutageLimits:
        """How long an outage is waited out."""
        return OutageLimits(self.outage_patience_seconds, self.outage_longest_pause_seconds)

    @property
    def answer_time(self) -> AnswerTime:
        """How long model calls may take."""
        return AnswerTime(
            least=self.step_deadline_seconds,
            most=self.longest_model_seconds,
            first_token=self.first_token_seconds,
            tokens_per_second=self.output_tokens_per_second,
        )

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Settings":
        values = {
            name: environ[PREFIX + name.upper()]
            for name in cls.model_fields
            if environ.get(PREFIX + name.upper(), "") != ""
        }
        try:
            return cls.model_validate(values)
        except ValidationError as error:
            wrong = ", ".join(
                f"{PREFIX}{str(e['loc'][0]).upper()} ({e['msg']})" if e["loc"] else e["msg"]
                for e in error.errors()
            )
            raise SettingsError(f"environment variables missing or not usable: {wrong}") from None


def _check_size(value: Mapping[str, Any], info: ValidationInfo) -> None:
    most = MAX_JSON_CHARS[str(info.field_name)]
    if len(json.dumps(value, separators=(",", ":"))) > most:
        raise ValueError(f"at most {most:,} characters; name what is for every tenant under {EVERY_TENANT}")


@cache
def settings() -> Settings:
    return Settings.from_environ(os.environ)

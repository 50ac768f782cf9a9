"""The settings of the Lambdas, read once from the environment.

A setting is one field of `Settings`: its default, its bounds, what it is for, who may set it and which functions get
it. The field `x` is the variable `ACTA_X`. An operator sets it in `Environment.settings`, or in the field of the same
name where the environment has one (`acta/infra/environments.py`); a developer sets the variable for the local
stack. A variable that is missing or cannot be used is a mistake of the deployment: the cold start fails with a
`SettingsError` that names it.

No setting is a key: settings have the *names* of secrets. Locally, keys come from the variables that the providers'
SDKs read.

Every cold start of every function reads this file, so it imports nothing that costs time and has no model of pydantic.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

from acta.engine.store.schema import CURRENT, OLDEST_WRITTEN

if TYPE_CHECKING:
    from acta.engine.limits.caps import Caps
    from acta.engine.limits.tenant_limits import LimitsByTenant
    from acta.engine.models.providers import AllowedModels, AnswerTime
    from acta.engine.queue.places import ProviderLimits
    from acta.engine.recovery.outage import OutageLimits
    from acta.engine.triggers.sources import EventSource
    from acta.engine.usage.aws_prices import AwsPrices

PREFIX = "ACTA_"
EVERY_TENANT = "*"
"""Stands for all tenants in settings that are by tenant."""

MAX_MAX_STEPS = 1_000
MAX_TOKEN_BUDGET = 100_000_000
MAX_COST_BUDGET_USD = 1_000_000

PATTERNS = {
    "origin_hashes": r"^([0-9a-f]{64}(,[0-9a-f]{64})*)?$",
    "file_change_role": r"^([A-Za-z0-9][A-Za-z0-9._:-]{0,63})?$",
}
"""Setting -> the pattern that its text has to match."""
REQUIRED: Final = object()
NOTHING: Mapping[str, Any] = MappingProxyType({})
TRUE, FALSE = ("true", "1"), ("false", "0")

SetBy = Literal["person", "templates"]


class SettingsError(ValueError):
    """A variable is missing or its value cannot be used. The message names each of them."""


class Setting:
    """One field of `Settings`: its default, its bounds, who sets it and which functions get it.

    `default`: its type is also the type of the value. `least`, `most`: inclusive bounds. `above`: an exclusive lower
    bound. `check`: gets the value and all settings, and returns the value or raises ValueError. `json`: an example, for
    a value that is JSON in its variable. `chars`: the most characters of that JSON; all variables of a Lambda together
    have 4 KB. `by`: whether a person may set it or only the templates; in the latter case a variable of the same name
    in a person's shell does not reach the Lambdas. `to`: the functions that get it; empty: all.
    """

    def __init__(
        self,
        default: Any,
        *,
        least: float | None = None,
        most: float | None = None,
        above: float | None = None,
        pattern: str = "",
        one_of: tuple[str, ...] = (),
        check: Callable[[Any, Settings], Any] | None = None,
        json: str = "",
        chars: int = 0,
        by: SetBy = "person",
        to: tuple[str, ...] = (),
    ) -> None:
        self.default = default
        self.least, self.most, self.above = least, most, above
        self.pattern, self.one_of, self.check = pattern, one_of, check
        self.json, self.chars = json, chars
        self.by: SetBy = by
        self.to = to
        self.name = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, settings: Settings | None, owner: type) -> Any:
        return self if settings is None else self.default

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()

    def is_for(self, function: str) -> bool:
        return not self.to or function in self.to

    def read(self, given: Any) -> Any:
        """The value of `given`, which is a text from a variable or already a value. Raises ValueError."""
        if self.json:
            value = _from_json(given, self.json) if isinstance(given, str) else given
            if self.chars and len(json.dumps(value, separators=(",", ":"))) > self.chars:
                raise ValueError(
                    f"at most {self.chars:,} characters, because all variables of a Lambda have 4 KB"
                )
            return value
        value = self._typed(given)
        if self.one_of and value not in self.one_of:
            raise ValueError(f"one of {', '.join(each or 'nothing' for each in self.one_of)}")
        if self.pattern and not re.fullmatch(self.pattern, value):
            raise ValueError(f"it has to match {self.pattern}")
        if self.least is not None and value < self.least:
            raise ValueError(f"at least {self.least:,}")
        if self.above is not None and value <= self.above:
            raise ValueError(f"more than {self.above:,}")
        if self.most is not None and value > self.most:
            raise ValueError(f"at most {self.most:,}")
        return value

    def _typed(self, given: Any) -> Any:
        kind: Any = str if self.default is REQUIRED else type(self.default)
        if kind is bool:
            text = str(given).lower()
            if text not in (*TRUE, *FALSE):
                raise ValueError("true or false")
            return text in TRUE
        if kind is str:
            if not isinstance(given, str):
                raise ValueError("a text")
            return given
        try:
            value = kind(given)
        except (TypeError, ValueError):
            raise ValueError("a whole number" if kind is int else "a number") from None
        if isinstance(given, bool) or value != value or (not isinstance(given, str) and value != given):
            raise ValueError("a whole number" if kind is int else "a number")
        return value


def _from_json(text: str, example: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"JSON such as {example}") from None


def setting(default: Any, **facts: Any) -> Any:
    """A field of `Settings`; the arguments are those of `Setting`. The type checker sees the field's annotation."""
    return Setting(default, **facts)


def _local_only(value: str, settings: Settings) -> str:
    if value and not settings.is_local:
        raise ValueError("only an environment of the local kind may make this exception")
    return value


def _provider(value: str, settings: Settings) -> str:
    from acta.engine.models.providers import BUILT_IN, OFFLINE

    known = [*(each.name for each in BUILT_IN), *settings.providers]
    if value and value not in known:
        raise ValueError(f"a provider is one of {', '.join(known)}")
    if value == OFFLINE and not settings.offline:
        raise ValueError("this environment has no offline stand-in: see acta/infra/environments.py")
    return value


def _texts(value: Any, settings: Settings) -> Any:
    if not isinstance(value, Mapping) or not all(isinstance(each, str) for each in value.values()):
        raise ValueError("an object of texts")
    return value


def _by_name(value: Any, kind: type) -> Any:
    """Raises ValueError unless the value is an object whose members all have this type."""
    if not isinstance(value, Mapping) or not all(isinstance(each, kind) for each in value.values()):
        raise ValueError("an object by name, as in the example of docs/options.md")
    return value


def _role_map(value: Any, settings: Settings) -> Any:
    from acta.engine.people.policies import ROLE_PATTERN

    for role in _texts(value, settings).values():
        if role and not re.fullmatch(ROLE_PATTERN, role):
            raise ValueError(f"{role!r} is not the name of a role")
    return value


def _approvers(value: Any, settings: Settings) -> Any:
    from acta.engine.tools.tool import check_approvers

    for roles in _by_name(value, Mapping).values():
        _texts(roles, settings)
    check_approvers(value)
    return value


def _high_stakes_approver(value: str, settings: Settings) -> str:
    from acta.engine.people.policies import ROLE_PATTERN

    if not re.fullmatch(ROLE_PATTERN, value):
        raise ValueError("anyone, another, or the name of a role")
    return value


def _limits(value: Any, names: tuple[str, ...], *, may_be_none: bool) -> Any:
    for name, most in ((name, most) for limits in value.values() for name, most in limits.items()):
        if name not in names:
            raise ValueError(f"a limit is one of {', '.join(names)}, not {name}")
        fits = isinstance(most, int) and not isinstance(most, bool) and most >= 1
        if not fits and not (may_be_none and most is None):
            raise ValueError(f"the limit {name} is a whole number from 1")
    return value


def _tenant_limits(value: Any, settings: Settings) -> Any:
    from acta.engine.limits.tenant_limits import TenantLimits

    return _limits(_by_name(value, Mapping), TenantLimits._fields, may_be_none=True)


def _usd_per_day(value: Any, settings: Settings) -> Any:
    if not isinstance(value, Mapping) or not all(
        isinstance(usd, int | float) and 0 < usd <= MAX_COST_BUDGET_USD for usd in value.values()
    ):
        raise ValueError(f"an object by tenant, with dollars above 0 and at most {MAX_COST_BUDGET_USD:,}")
    return value


def _provider_limits(value: Any, settings: Settings) -> Any:
    from acta.engine.queue.places import ProviderLimits

    if not isinstance(value, Mapping):
        raise ValueError("an object by name, as in the example of docs/options.md")
    named = {name: each for name, each in value.items() if each != "learn"}
    _limits(_by_name(named, Mapping), ProviderLimits._fields, may_be_none=False)
    return value


def _models(value: Any, settings: Settings) -> Any:
    from acta.engine.models.providers import read_models

    read_models(_by_name(value, Mapping), settings.providers)
    return value


def _tenant_tools(value: Any, settings: Settings) -> Any:
    from acta.engine.tools.tool import FUNCTION_PATTERN, MAX_FUNCTION_CHARS, function_prefix

    tools = {tenant: tuple(names) for tenant, names in _by_name(value, (list, tuple)).items()}  # type: ignore[arg-type]
    prefix = function_prefix(settings.env)
    for name in (name for names in tools.values() for name in names):
        usable = isinstance(name, str) and re.fullmatch(FUNCTION_PATTERN, name)
        if not usable or len(name) > MAX_FUNCTION_CHARS or not name.startswith(prefix):
            raise ValueError(f"a function of a tool is called {prefix}… here, not {name}")
    return tools


def _aws_prices(value: Any, settings: Settings) -> Any:
    from acta.engine.usage.aws_prices import AwsPrices

    if not isinstance(value, Mapping):
        return value
    try:
        return AwsPrices(**value)
    except TypeError:
        raise ValueError("the fields of AwsPrices in acta/engine/usage/aws_prices.py") from None


def _event_sources(value: Any, settings: Settings) -> Any:
    from acta.engine.triggers.sources import read_sources

    return read_sources(_by_name(value, Mapping))


def _own_providers(value: Any, settings: Settings) -> Any:
    from acta.engine.models.own_providers import own_providers

    for name, row in own_providers(_by_name(value, Mapping)).items():
        try:
            _url(row.address or "", settings)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return value


def _url(value: str, settings: Settings) -> str:
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(value)
        usable = bool(parts.hostname) and (parts.port or 443) > 0
    except ValueError:
        usable = False
    plain = value.isascii() and value.isprintable() and not set(value) & set(' \\"<>^`{|}#')
    if value and not (usable and plain and parts.scheme in ("http", "https") and "@" not in parts.netloc):
        raise ValueError("a URL is https://host/path, without credentials or a fragment")
    if value and parts.scheme != "https" and not settings.is_local:
        raise ValueError("only an environment of the local kind may use http")
    return value


class Settings:
    """`Settings(env="test", …)` takes values, or texts in the form that they have in variables. Raises
    SettingsError."""

    fields: Mapping[str, Setting] = NOTHING
    """Name -> field."""

    env: str = setting(REQUIRED, by="templates")
    """The name of the environment."""
    is_local: bool = setting(False, by="templates")
    """Whether it runs in a local AWS, which has no secrets and whose receivers may use plain HTTP."""
    table: str = setting(REQUIRED, by="templates")
    """The name of the DynamoDB table."""
    bucket: str = setting(REQUIRED, by="templates")
    """The name of the bucket of files."""
    session_bucket: str = setting("", by="templates")
    """The name of the bucket for long texts of sessions; it keeps no versions. Empty: this function stores none."""
    tenant_role: str = setting("", by="templates")
    """The ARN of a second role, which a session policy narrows to one tenant's data (ADR 48). Empty: the function has
    one role and acts for all tenants with it."""
    audit_table: str = setting("", by="templates")
    """The name of the audit table (ADR 54). Empty: requests that would have to be recorded are refused."""
    audit_secret: str = setting("", by="templates")
    """The name of the secret with the key from which people's pseudonyms are made. A local stack has none."""
    audit_retention_days: int = setting(0, least=0)
    """The number of days after which an audit record is deleted. 0: never."""
    file_change_role: str = setting("", pattern=PATTERNS["file_change_role"], to=("status", "admin", "mcp"))
    """The role that replaces, restores and deletes shared files over the API (ADR 152). Empty: every member."""
    record_reads: bool = setting(False, to=("status", "admin", "mcp"))
    """Whether the audit trail also records reads of what is somebody else's: private questions, shared files, usage of
    single people, all prompts, and the trail itself (ADR 142)."""
    ended_sessions_days: int = setting(0, least=0, to=("recover",))
    """The number of days after which an ended session is deleted. 0: never."""
    state_machine_arn: str = setting("", by="templates")
    """The state machine whose executions the function starts, wakes and stops. Empty: none."""
    origin_hashes: str = setting("", pattern=PATTERNS["origin_hashes"])
    """SHA-256 of the secrets that CloudFront may send along, separated by commas. Empty: there is no CloudFront."""
    cors_origins: str = setting("", to=("mcp",))
    """Origins of web pages that may call `/mcp`, beside the deployment's own, separated by commas; `*`: all."""
    mcp_decisions: Literal["form", "link", "off"] = setting(
        "form", one_of=("form", "link", "off"), to=("mcp",)
    )
    """How people decide questions at `/mcp` (ADR 138). `form`: in a form that their client shows them, or else on the
    page for people, to which the answer links. `link`: on the page alone. `off`: not from there at all."""
    url_secret: str = setting("", by="templates")
    """The name of the secret with the key that URLs for programs without a token are signed with (ADR 214). A local
    stack has none."""
    token_issuer: str = setting("", by="templates")
    """The issuer of the API's tokens, which `/.well-known/oauth-protected-resource` names. Empty: it names none."""
    public_url: str = setting("", by="templates")
    """The address at which people reach the API, without a slash at the end."""
    console_issuer: str = setting("", by="templates")
    """The OpenID issuer with which people sign in on the page. Empty: nobody can sign in there."""
    console_client: str = setting("", by="templates")
    """The page's client id at that issuer."""
    console_scopes: str = setting("openid", by="templates")
    """The scopes that the page asks for, separated by spaces."""
    console_takes: Literal["access_token", "id_token"] = setting(
        "id_token", one_of=("access_token", "id_token"), by="templates"
    )
    """Which token of a sign-in the page sends to the API."""
    console_connects: str = setting("", by="templates")
    """Origins of the issuer and its token endpoint, which the page may connect to, separated by spaces."""
    tenant_claim: str = setting("tenant", by="templates")
    """The token's claim that names the tenant."""
    roles_claim: str = setting("roles", by="templates")
    """The token's claim that lists the roles."""
    machine_tenant_claim: str = setting("", by="templates")
    """The claim that names the tenant in tokens of programs that the deployment's own user pool lists (ADR 81).
    Empty: the pool lists none."""
    machine_roles_claim: str = setting("", by="templates")
    """The claim that lists the roles in tokens of programs that the deployment's own user pool lists (ADR 81). Empty:
    the pool lists none."""
    role_map: Mapping[str, str] = setting(
        NOTHING, check=_role_map, json='{"Billing admin": "finance", "Everyone": ""}'
    )
    """Name in the roles claim -> the role that it grants, or an empty text for none. Names that are not in the map
    grant nothing. Empty map: every name is the role of that name. As JSON."""
    roles_have_no_spaces: bool = setting(False, by="templates")
    """No role of the issuer has a space in its name, so `[a b]` in a claim means two roles
    (`acta/engine/api/role_claims.py`)."""
    roles_are_json: bool = setting(False, by="templates")
    """The issuer's roles claim is a text that holds a list as JSON. No other claim is read as JSON."""

    write_version: int = setting(CURRENT, least=OLDEST_WRITTEN, most=CURRENT)
    """The schema version that is written. It is the version before `CURRENT` while Lambdas that can read only that
    one may still run."""
    release: str = setting("", by="templates")
    """The name of the release (`acta/infra/release.py`). A rollback reads it from the versions of the
    functions."""
    reads_version: int = setting(CURRENT, by="templates")
    """The newest schema version that the release can read. A rollback reads it from the versions of the functions."""

    offline: bool = setting(False, by="templates")
    """The rule-based stand-in for a model is in the zip of `step`. It may be named, and answers if no provider has a
    key."""
    provider: str = setting("", check=_provider)
    """The default provider, a name in `acta/engine/models/providers.py`; `offline` only if the setting
    `offline` is true. Empty: the first provider that has a key."""
    model: str = setting("")
    """The default model. Empty: the provider's default."""
    provider_secrets: Mapping[str, str] = setting(
        NOTHING, check=_texts, json='{"anthropic": "acta/prod/anthropic"}', by="templates"
    )
    """Provider -> the name of the secret that holds its key. As JSON. Empty locally, where keys are variables."""
    providers: Mapping[str, Mapping[str, Any]] = setting(
        NOTHING,
        check=_own_providers,
        json='{"gateway": {"url": "https://llm.example.com/v1", "protocol": "chat", "secret": true}}',
        chars=1_024,
    )
    """Providers of the deployment's own: name -> endpoint (`acta/engine/models/own_providers.py`). As JSON."""
    openai_api: Literal["", "responses", "chat"] = setting("", one_of=("", "responses", "chat"))
    """The API of OpenAI. Empty: Responses for OpenAI itself, Chat Completions for other servers (`OPENAI_BASE_URL`).
    """
    optional_tools: str = setting("")
    """Names of the optional built-in tools that agents may have, separated by commas. Empty: none."""
    direct_tools: int = setting(40, least=1, most=100, to=("step", "admin"))
    """The most tools, of 600 bytes on average, that requests offer a model. An agent with more is offered the built-in
    ones and the first that it names, and finds the others (ADR 199)."""

    http_tool_hosts: str = setting("")
    """Hosts that tools of kind `http` may call: `host` or `host:port`, separated by commas. Empty: none."""
    http_tool_allow: str = setting("", check=_local_only)
    """`host:port` of servers that tools may call with plain HTTP and at private addresses, separated by commas. Local
    stack only."""
    tool_secrets_key: str = setting("")
    """The ARN of the KMS key for new secrets of tools. Empty: AWS's own key for secrets."""
    tenant_tools: Mapping[str, tuple[str, ...]] = setting(
        NOTHING,
        check=_tenant_tools,
        json='{"acme": ["acta-prod-tool-refund"]}',
        chars=2_048,
        to=("admin", "tool"),
    )
    """Tenant, or `*` for every tenant -> names of the functions that its tools of kind `lambda` may call. As JSON."""
    tool_processes: Literal["per_tenant", "shared"] = setting(
        "per_tenant", one_of=("per_tenant", "shared"), by="templates", to=("tool",)
    )
    """Whether an execution environment of a Python tool serves one tenant or all (ADR 140)."""
    tool_versions: Mapping[str, str] = setting(NOTHING, check=_texts, json='{"orders": "7"}', to=("tool",))
    """Folder of Python tools -> the version of its function that belongs to this release (ADR 87). As JSON. For a
    folder that is not named, the newest code is called; so it is locally, where code may change without a deployment.
    """
    event_sources: Mapping[str, EventSource] = setting(
        NOTHING,
        check=_event_sources,
        json='{"invoices": {"kind": "files", "prefix": "invoices/"}}',
        chars=1_536,
        by="templates",
        to=("admin", "wake"),
    )
    """The operator's event sources by name, which triggers may be written on (`acta/engine/triggers/sources.py`). As
    JSON."""
    tool_approvers: Mapping[str, Mapping[str, str]] = setting(
        NOTHING,
        check=_approvers,
        json='{"*": {"delete_file": "records"}}',
        chars=512,
        to=("start", "step", "tool", "intervene", "admin", "mcp"),
    )
    """Tenant, or `*` for every tenant -> name of a tool -> the role that decides on its calls. As JSON."""
    high_stakes_approver: str = setting(
        "anyone", check=_high_stakes_approver, to=("start", "step", "tool", "intervene", "admin", "mcp")
    )
    """Who approves a call of high stakes whose tool names no role: `anyone` who may decide, `another` than those who
    asked for it, or the name of a role, which implies another person (ADR 147)."""
    programs_decide: bool = setting(True, to=("start", "intervene", "status", "mcp"))
    """Whether tokens of programs (client credentials) may decide what sessions ask: with an option, a message, a
    `resume`, or more budget (ADR 147)."""

    tenant_limits: Mapping[str, Mapping[str, int | None]] = setting(
        NOTHING,
        check=_tenant_limits,
        json='{"*": {"starts_per_minute": 60, "open_sessions": 100}}',
        chars=640,
    )
    """Tenant, or `*` for every other tenant -> its limits (`acta/engine/limits/tenant_limits.py`). A limit
    that is missing or null does not apply. As JSON."""

    provider_limits: Mapping[str, Mapping[str, int] | Literal["learn"]] = setting(
        NOTHING,
        check=_provider_limits,
        json='{"anthropic": {"tokens_per_minute": 400000, "requests_per_minute": 1000}}',
        chars=400,
        to=("step", "recover"),
    )
    """Provider -> its limits for a minute (`acta/engine/queue/places.py`), or `learn` to take them from its
    answers. As JSON. Calls of a provider that is not named are not limited."""

    models: Mapping[str, Mapping[str, Mapping[str, Any]]] = setting(
        NOTHING,
        check=_models,
        json='{"openai": {"my-model": {"input": 0.5, "output": 2, "window": 128000, "source": "contract, 2026-11"}}}',
        chars=1_536,
        to=("step", "intervene", "admin", "recover", "mcp"),
    )
    """Provider -> model -> its prices, window and parameters, where Acta does not know them or knows them wrongly
    (`read_models` in `acta/engine/models/providers.py`). As JSON."""

    notify_webhook_url: str = setting("", check=_url, to=("notify",))
    """The URL that notifications are sent to, with https unless local. Empty: none."""
    notify_topic_arn: str = setting("", by="templates")
    """The SNS topic that notifications are published to. Empty: none."""
    notify_queue_url: str = setting("", by="templates")
    """The queue of notifications that were not delivered and are sent again."""
    notify_secret_name: str = setting("", by="templates")
    """The name of the secret that signs notifications. Locally the secret itself is ACTA_NOTIFY_SECRET."""

    notify_hosts: str = setting("", to=("start", "admin", "notify", "mcp"))
    """Hosts that webhooks of tenants and sessions may have: `host` or `host:port`, separated by commas."""
    notify_allow: str = setting("", check=_local_only, to=("start", "admin", "notify", "mcp"))
    """`host:port` of servers that such webhooks may have with plain HTTP and at private addresses, separated by
    commas. Local stack only."""
    notify_api_url: str = setting("", check=_url, to=("notify",))
    """The API's base URL, with which links in notifications begin. Empty: links are paths."""
    notify_console_url: str = setting("", check=_url)
    """The base URL of an operator's own console, to which notifications link. Empty: they link to the deployment's
    page, below `notify_api_url`."""

    traces_url: str = setting("", check=_url, to=("traces",))
    """The whole URL of the OTLP/HTTP endpoint that spans are sent to, with https unless local. Empty: none."""
    traces_xray: bool = setting(False)
    """Send spans to X-Ray's endpoint in the region, signed with the function's role."""
    traces_content: bool = setting(False)
    """Spans include what people, models and tools said."""
    traces_queue_url: str = setting("", by="templates")
    """The queue of commits whose spans are still to be sent. Empty: the environment exports no traces."""
    traces_secret_name: str = setting("", by="templates")
    """The name of the secret with the endpoint's headers, a JSON object. Locally the object itself is
    ACTA_TRACES_HEADERS."""

    max_message_chars: int = setting(10_000, least=1, most=500_000)
    """The longest goal or message, in characters."""
    max_file_bytes: int = setting(4_194_304, least=1, most=4_194_304)
    """The largest file over the API."""
    max_output_tokens: int = setting(4_096, least=1)
    """The most tokens that a model may write in one call, unless its agent says otherwise."""
    context_tokens: int = setting(0, least=0)
    """The tokens that a request and its answer may have together before a conversation is shortened, unless its agent
    says otherwise. 0: up to the model's step of price, or 200,000. It is never more than the model's window."""
    token_budget: int = setting(300_000, least=1)
    """The tokens that a session may use in each time window. The default is enough for 50 turns (ADR 38)."""
    token_window_seconds: float = setting(3_600.0, least=0)
    """The length of the time window after which a session's token budget renews. 0: it never renews."""
    cost_budget_usd: float = setting(0.0, least=0, most=MAX_COST_BUDGET_USD)
    """The US dollars that a session may cost, unless somebody names a limit. 0: only its tokens are limited."""
    tenant_tokens_per_hour: int = setting(5_000_000, least=0)
    """The tokens that all sessions of a tenant together may use in an hour. 0: no such limit."""
    usd_per_day: Mapping[str, float] = setting(
        NOTHING, check=_usd_per_day, json='{"*": 100, "acme": 1000}', chars=400, to=("step",)
    )
    """Tenant, or `*` for every other tenant -> the US dollars that its sessions may cost in a day, UTC. A tenant that
    is not named has no such limit. As JSON."""
    default_visibility: Literal["private", "tenant"] = setting(
        "tenant", one_of=("private", "tenant"), to=("start", "mcp", "wake", "admin", "recover")
    )
    """Who may see a session whose start does not say."""
    cap_max_steps: int = setting(MAX_MAX_STEPS, least=1, most=MAX_MAX_STEPS)
    """The most turns that anybody, also an admin, may give a run of one session. Agents may have lower caps of their
    own."""
    cap_token_budget: int = setting(5_000_000, least=1, most=MAX_TOKEN_BUDGET)
    """The most tokens that anybody may give one session in each time window."""
    cap_cost_budget_usd: float = setting(1_000.0, above=0, most=MAX_COST_BUDGET_USD)
    """The most US dollars that anybody may give one session."""
    cap_max_output_tokens: int = setting(128_000, least=1)
    """The most output tokens that anybody may allow for one model call."""
    allowed_models: str = setting("")
    """Exact names of the models that agents may have, separated by commas; `model` is always allowed. Empty: all
    names that look like models of the provider (`acta/engine/models/providers.py`), and locally any."""
    step_deadline_seconds: float = setting(120.0, above=0)
    """The time that every model call may take. A call gets more if its output limit needs more."""
    first_token_seconds: float = setting(30.0, above=0)
    """How long a model may take until it begins to write."""
    output_tokens_per_second: float = setting(0.0, least=0)
    """How fast the models write. 0: each model's assumed speed (`acta/engine/models/providers.py`)."""
    longest_model_seconds: float = setting(840.0, above=0)
    """The most time that a model call may take. The deployment derives it from the timeout of `step`."""
    background_seconds: float = setting(3_600.0, least=0, most=7_200)
    """The most time that a model call in the background may take; no function waits for it
    (`acta/engine/models/providers.py`). 0: no agent may ask for background answers."""
    longest_tool_seconds: int = setting(600, least=1)
    """The most time that a call of a tool may take. The deployment derives it from the timeout of `tool`."""
    approval_timeout_seconds: float = setting(1_800.0, above=0)
    """How long an approval waits before its default is applied."""
    intervention_warn_seconds: float = setting(300.0, above=0)
    """How long before a question expires people are warned."""
    aws_read_seconds: float = setting(6.0, above=0, most=6)
    """How long one attempt at a request to AWS waits for data. Three attempts that time out take less than the 30 s
    that an API request has."""
    turns_per_step: int = setting(1, least=1, most=100, to=("step",))
    """The most turns that one invocation of `step` makes, including the tool calls between them that it may make
    itself (ADR 57)."""
    roll_over_events: int = setting(20_000, least=100, most=22_000)
    """The number of entries in an execution's history after which the run goes on in another execution."""
    outage_patience_seconds: float = setting(86_400.0, least=0)
    """How long an outage lasts before a person is asked whether to keep trying. 0: nobody is ever asked."""
    outage_longest_pause_seconds: float = setting(900.0, least=1)
    """The longest pause between two tries in an outage."""
    recovery_grace_seconds: float = setting(60.0, above=0)
    """Recovery looks at a session only this long after it became active or its wait ended, because a worker may just
    be slow."""
    recover_function: str = setting("", by="templates")
    """The function `recover` with its alias."""
    recovery_workers: int = setting(0, least=0)
    """How many further invocations of `recover` may work at the same time when very many sessions have lost their
    executions. 0: none (ADR 108)."""
    erase_again_seconds: float = setting(1_200.0, above=0)
    """After this time a deleted session is erased a second time. It is longer than any Lambda runs."""
    measure_load: bool = setting(False)
    """Recovery measures the functions' concurrency each minute, and long polls become shorter under load."""
    tool_function: str = setting("", by="templates")
    """The function `tool` with its alias. It does for the API what needs the network (ADR 96). Empty: such requests
    are refused."""
    status_function: str = setting("", by="templates")
    """The name of the function `status`. Empty: its load is not measured."""
    status_concurrency: int = setting(0, least=0, by="templates")
    """The concurrency that is reserved for the function `status`. 0: none."""
    aws_prices: AwsPrices | None = setting(
        None,
        check=_aws_prices,
        json='{"region": "eu-central-1", "as_of": "2026-11-20", "source": "contract", "transition": 25000000}',
        to=("status", "mcp"),
    )
    """The prices for receipts, as JSON. None: the list of the function's region."""
    step_memory_mb: int = setting(512, least=128, to=("status", "mcp"))
    """The memory of `step`, for receipts: Lambda bills time by memory."""
    tool_memory_mb: int = setting(512, least=128, to=("status", "mcp"))
    """The memory of `tool`, for receipts: Lambda bills time by memory."""
    poll_after_ms: int = setting(1_000, least=50)
    """How long a client that polls is asked to wait before its next request."""
    partial_text_ms: int = setting(0, least=0)
    """The shortest time between two writes of the text that a model is still writing. 0: it is not written."""

    def __init__(self, **given: Any) -> None:
        values = vars(self)
        wrong = [
            f"{PREFIX}{name.upper()} (there is no such setting)" for name in given.keys() - self.fields.keys()
        ]
        for name, field in self.fields.items():
            try:
                if name in given:
                    values[name] = field.read(given[name])
                elif field.default is REQUIRED:
                    raise ValueError("it is missing")
            except ValueError as error:
                wrong.append(f"{field.variable} ({error})")
        for name in () if wrong else given:
            field = self.fields[name]
            try:
                if field.check is not None:
                    values[name] = field.check(values[name], self)
            except ValueError as error:
                wrong.append(f"{field.variable} ({error})")
        for name in () if wrong else ("token_budget", "cost_budget_usd", "max_output_tokens"):
            if getattr(self, name) > getattr(self, f"cap_{name}"):
                wrong.append(f"{name} is above cap_{name}, which is {getattr(self, f'cap_{name}')}")
        if wrong:
            raise SettingsError(f"environment variables missing or not usable: {', '.join(wrong)}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("settings do not change")

    def but(self, **different: Any) -> Settings:
        """The same settings with other values, which are not checked."""
        changed = object.__new__(Settings)
        vars(changed).update({**vars(self), **different})
        return changed

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> Settings:
        """An empty variable counts as missing."""
        variables = ((name, environ.get(field.variable, "")) for name, field in cls.fields.items())
        return cls(**{name: text for name, text in variables if text})

    @property
    def caps(self) -> Caps:
        """The most that anybody may give one session."""
        from acta.engine.limits.caps import Caps

        return Caps.model_construct(
            max_steps=self.cap_max_steps,
            token_budget=self.cap_token_budget,
            cost_budget_usd=self.cap_cost_budget_usd,
        )

    @property
    def limits(self) -> LimitsByTenant:
        """The limits of each tenant."""
        from acta.engine.limits.tenant_limits import LimitsByTenant, TenantLimits

        return LimitsByTenant({tenant: TenantLimits(**each) for tenant, each in self.tenant_limits.items()})

    @property
    def limits_of_providers(self) -> Mapping[str, ProviderLimits]:
        """The limits of each provider that has some."""
        from acta.engine.queue.places import LEARN, ProviderLimits

        return {
            name: LEARN if isinstance(each, str) else ProviderLimits(**each)
            for name, each in self.provider_limits.items()
            if each
        }

    @property
    def tells_tenants(self) -> bool:
        """Whether tenants and sessions may have webhooks at all."""
        return bool(self.notify_hosts or self.notify_allow)

    @property
    def traces_hosts(self) -> str:
        """The host that spans may be sent to."""
        from urllib.parse import urlsplit

        parts = urlsplit(self.traces_url)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        port = parts.port or (80 if parts.scheme == "http" else 443)
        return f"{host}:{port}" if host else ""

    @property
    def traces_allow(self) -> str:
        """Spans may go to a private address in a local stack, whose receiver is on the same machine."""
        return self.traces_hosts if self.is_local else ""

    @property
    def allowed(self) -> AllowedModels:
        """The models that agents may have."""
        from acta.engine.models.providers import AllowedModels

        names = (name.strip() for name in self.allowed_models.split(","))
        return AllowedModels(frozenset(filter(None, names)), self.model, self.is_local)

    @property
    def offered_tools(self) -> frozenset[str]:
        """The optional built-in tools that are offered."""
        return frozenset(filter(None, (name.strip() for name in self.optional_tools.split(","))))

    def sources_for(self, tenant: str) -> list[str]:
        """The names of the operator's event sources that the tenant's triggers may name."""
        return sorted(name for name, each in self.event_sources.items() if each.is_for(tenant))

    @property
    def outage_limits(self) -> OutageLimits:
        """How long an outage is waited out."""
        from acta.engine.recovery.outage import OutageLimits

        return OutageLimits(self.outage_patience_seconds, self.outage_longest_pause_seconds)

    @property
    def answer_time(self) -> AnswerTime:
        """How long model calls may take."""
        from acta.engine.models.providers import AnswerTime

        return AnswerTime(
            least=self.step_deadline_seconds,
            most=self.longest_model_seconds,
            first_token=self.first_token_seconds,
            tokens_per_second=self.output_tokens_per_second,
        )


Settings.fields = {name: field for name, field in vars(Settings).items() if isinstance(field, Setting)}


@cache
def settings() -> Settings:
    return Settings.from_environ(os.environ)

"""Agents, tools and their secrets, prompts and memories, and which models there are."""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from acta_engine.agents.agent import Protocol, Provider
from acta_engine.api.formats import Counter, Instant
from acta_engine.memories.memory import MemoryKind, Origin
from acta_engine.people.options_and_defaults import InterventionType
from acta_engine.tools.tool import Effect, Method, Risk, ToolKind


class ModelsByPurpose(TypedDict):
    """Models for purposes of their own; the agent's `model` has the others."""

    plan: NotRequired[str]
    think: NotRequired[str]
    final: NotRequired[str]
    summary: NotRequired[str]


class FallbackModel(TypedDict):
    provider: NotRequired[Provider]
    """Absent: the agent's."""
    model: str


class SessionLimits(TypedDict):
    """Of the agent's sessions, where their start names none. Absent: the deployment's."""

    max_steps: NotRequired[int]
    token_budget: NotRequired[int]
    cost_budget_usd: NotRequired[float]
    max_output_tokens: NotRequired[int]
    approval_timeout_seconds: NotRequired[int]
    at_token_limit: NotRequired[Literal["wait", "ask"]]


class SessionCaps(TypedDict):
    """The most that members may give the agent's sessions. Absent: no cap but the deployment's."""

    max_steps: NotRequired[int]
    token_budget: NotRequired[int]
    cost_budget_usd: NotRequired[float]


class AskingPolicy(TypedDict):
    """How people are asked. Absent: as usual for the type."""

    timeout_seconds: NotRequired[int]
    default_action: NotRequired[str]
    role: NotRequired[str]
    approver_must_differ: NotRequired[bool]


class AppliedFrom(TypedDict):
    """The files that `acta apply` has made a definition from."""

    set: str
    """The name of the set of files that owns the definition."""
    digest: str
    """Of the definition as its file had it. A definition that has another one was changed by hand since."""


class Agent(TypedDict):
    agent_id: str
    name: str
    system_prompt: str
    goal: str
    """What the agent is there for."""
    provider: Provider | None
    """null: the deployment's."""
    model: str | None
    """null: the deployment's."""
    models: ModelsByPurpose
    fallbacks: list[FallbackModel]
    """Asked in this order where the model is overloaded or away."""
    tools: list[str]
    """Empty: every tool of the registry."""
    limits: SessionLimits
    caps: SessionCaps
    high_stakes: list[str]
    """Tools that a person must approve, beside those that the registry marks."""
    start_roles: list[str]
    """One of them is needed to start a session and to write to it. Empty: any member may."""
    protocol: Protocol
    background: bool
    """The provider makes its answers by itself and keeps them until they are fetched."""
    interventions: dict[InterventionType, AskingPolicy]
    warnings: list[str]
    """Of its `tools`, those that were deleted since."""
    output_schema: dict[str, Any] | None
    """JSON Schema of the final answers of its sessions, where their start names none. null: they are free text."""
    applied: AppliedFrom | None
    """null: no set of files owns it."""
    version: Counter
    """0: the built-in agent."""
    created_at: Instant | None
    updated_at: Instant | None


class SecretReference(TypedDict):
    secret: str
    """Its name."""


ToolParameter = TypedDict(
    "ToolParameter", {"in": Literal["path", "query", "header", "body"], "name": NotRequired[str]}
)
ToolParameter.__doc__ = "Where an argument goes, and under which name where that is another one."


class HttpToolConfig(TypedDict):
    """Of kind `http`."""

    url: str
    """`{name}` in its path is an argument."""
    method: Method
    headers: dict[str, str | SecretReference]
    """A value that is not a reference is shown as `***`."""
    parameters: NotRequired[dict[str, ToolParameter]]
    """By argument. All others go into the query of a GET, else into a JSON body."""


class LambdaToolConfig(TypedDict):
    """Of kind `lambda`."""

    function: str


class WhoApproves(TypedDict):
    """What a tool's own definition says of its approval."""

    high_stakes: bool
    approver_role: str | None
    approver_must_differ: bool


class Tool(TypedDict):
    """A tool of the registry. Built-in ones have no `config`, version or times."""

    name: str
    description: str
    input_schema: dict[str, Any]
    """JSON Schema 2020-12 of an object."""
    kind: ToolKind
    effect: Effect
    """What becomes of a call whose end is not known: it runs again, under the same id, or never without a person."""
    risk: Risk
    high_stakes: bool
    """A person approves each call."""
    approver_role: str | None
    approver_must_differ: bool
    repeatable: bool
    timeout_seconds: int
    result_limit_bytes: int
    config: NotRequired[HttpToolConfig | LambdaToolConfig]
    as_defined: NotRequired[WhoApproves]
    """Where an operator says who approves: what the definition says."""
    applied: NotRequired[AppliedFrom | None]
    """null: no set of files owns it."""
    version: NotRequired[int]
    created_at: NotRequired[Instant]
    updated_at: NotRequired[Instant]


class ToolCallError(TypedDict):
    """Why a trial call did not succeed."""

    message: str
    """What a model is told."""
    remedy: str | None
    """What an admin or the operator can do about it."""


class ToolTrial(TypedDict):
    """A call that was made outside a session."""

    name: str
    effect_id: str
    """The idempotency key that the tool got."""
    outcome: Literal["succeeded", "failed", "not_run", "unknown"]
    """`failed`: it ran and failed. `not_run`: nothing was done. `unknown`: no answer came."""
    result: str | None
    """What the tool answered, its first 65,536 bytes; of a failure, too."""
    bytes: int
    """Of the whole answer."""
    truncated: bool
    status: int | None
    """Of the HTTP answer."""
    error: ToolCallError | None
    duration_ms: int


class ClientCredentials(TypedDict):
    """OAuth 2.0 client credentials."""

    client_id: str
    secret: str
    """The name of the one that is the client's secret."""
    token_url: str | None
    """null: the server's metadata say where tokens come from."""
    issuer: str | None
    scope: str | None


class McpCredentials(TypedDict):
    """Tokens by OAuth 2.0 client credentials."""

    client_credentials: ClientCredentials


class ConfirmedMcpTool(TypedDict):
    """As the server described it when it was confirmed."""

    tool: str
    """The server's name for it."""
    name: str
    """What agents call it."""
    description: str
    input_schema: dict[str, Any]
    pin: str
    """The hash of what the server said of it when it was confirmed."""
    confirmed_read: bool
    high_stakes: bool
    approver_role: str | None
    confirmed_at: Instant
    confirmed_by: str


class McpServer(TypedDict):
    """A server whose tools agents may have, where an admin has confirmed them."""

    name: str
    url: str
    auth: SecretReference | McpCredentials | None
    timeout_seconds: int
    tools: list[ConfirmedMcpTool]
    """Those that agents may have."""
    applied: AppliedFrom | None
    """null: no set of files owns it."""
    version: int
    created_at: Instant
    updated_at: Instant


class ListedMcpTool(TypedDict):
    """What the server says of a tool now, in its own words."""

    tool: str
    name: str
    """What agents call it, once it is confirmed."""
    state: Literal["new", "confirmed", "changed", "gone", "unusable"]
    """`changed`: calls are refused until it is confirmed anew. `gone`: the server lists it no longer."""
    reason: str | None
    """Why it is unusable."""
    title: str
    description: str
    input_schema: dict[str, Any]
    annotations: dict[str, bool]
    pin: str
    confirmed: ConfirmedMcpTool | None
    """What was confirmed."""


class ListedMcpTools(TypedDict):
    """All of a server's tools."""

    items: list[ListedMcpTool]


class ToolSecret(TypedDict):
    """A secret without its value, which nobody is shown."""

    name: str
    hosts: list[str]
    """Where tools may send it; empty: wherever tools may go."""
    created_at: Instant
    updated_at: Instant
    updated_by: str


class Notifications(TypedDict):
    """Where the tenant is told. The secret is there and is not shown to anybody."""

    url: str | None
    """Of the tenant's webhook. null: only sessions have webhooks, those with a `notify_url`."""
    created_at: Instant
    updated_at: Instant
    updated_by: str


class Prompt(TypedDict):
    """A version of a managed prompt."""

    name: str
    description: str
    """What the prompt is for."""
    active: bool
    """Whether this version is in force. One is."""
    draft: bool
    """It was written to be tried, and nobody has put it in force."""
    version: Annotated[int, Field(ge=1)]
    content: str
    comment: str | None
    created_by: str
    """The subject of its author; `acta`: a release brought it."""
    created_at: Instant | None
    """null: the release's own text, which was never stored."""
    applied: AppliedFrom | None
    """null: no set of files owns it."""
    warnings: list[str]
    """Words that Acta reads in a model's replies, and that the text does not have."""


class PromptInForce(Prompt):
    authors: list[str]
    """Who wrote its newest 100 versions, the latest first."""
    seed_content: str
    """The release's own text, to compare with or to go back to."""


class MemorySource(TypedDict):
    session_id: NotRequired[str]
    user: NotRequired[str]


class Memory(TypedDict):
    memory_id: str
    agent_id: str
    kind: MemoryKind
    text: str
    tags: list[str]
    source: MemorySource
    origin: Origin
    """null: a release that did not know it wrote the memory."""
    shared: bool
    """false: it is for its user's sessions alone."""
    created_at: Instant
    updated_at: Instant


class ModelUse(TypedDict):
    agent_id: str | None
    """null: the deployment's default."""
    purpose: str


class LongPrice(TypedDict):
    """What a request with a longer prompt costs as a whole."""

    prompt_tokens: int
    input: float
    cached_input: float
    cache_write: float
    output: float


class ModelPrice(TypedDict):
    """US dollars per million tokens."""

    input: float
    cached_input: float
    cache_write: float
    output: float
    above: LongPrice | None


class ConfiguredModel(TypedDict):
    provider: str
    model: str
    used_by: list[ModelUse]
    context_window_tokens: int
    usd_per_million_tokens: ModelPrice | None
    """null: not known. A session with a cost budget cannot use the model."""


class DefaultModel(TypedDict):
    provider: str
    model: str


class ProviderKey(TypedDict):
    provider: str
    key: Literal["present", "missing", "unreadable", "not_needed"]


class ConfiguredModels(TypedDict):
    default: DefaultModel
    providers: list[ProviderKey]
    models: list[ConfiguredModel]
    priced_at: str
    """The day of the price list."""


class CheckedKey(TypedDict):
    provider: str
    status: Literal["works", "refused", "missing", "unreachable", "unchecked"]


class CheckedKeys(TypedDict):
    providers: list[CheckedKey]

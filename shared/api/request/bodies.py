"""The bodies of POST and PUT requests. Unknown fields are refused, and so are values of another JSON type."""

from math import isfinite
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from shared.domain.definitions import agent, memory, prompt, tool, tool_secret
from shared.domain.errors import ValidationFailed
from shared.domain.interventions import options_and_defaults
from shared.domain.rules import caps
from shared.domain.untrusted.visible import is_blank
from shared.domain.validation_messages import too_long


def _readable(text: str) -> str:
    if "\0" in text:
        raise ValueError("The text has a NUL character.")
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise ValueError("The text has half of a surrogate pair, which is not valid Unicode.")
    return text


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("The text is blank.")
    if is_blank(text):
        raise ValueError("The text has no visible character.")
    return text


def _usable_throughout(value: dict[str, Any]) -> dict[str, Any]:
    """JSON can write numbers that are infinite in Python (1e999). Stored, they would come back as null."""
    waiting: list[Any] = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            waiting += item
        elif isinstance(item, str):
            _readable(item)
        elif isinstance(item, float) and not isfinite(item):
            raise ValueError("A number is too large.")
    return value


# Markers for `Annotated`. They come after the bounds, so that a bound is reported first.
READABLE = AfterValidator(_readable)
NOT_BLANK = AfterValidator(_not_blank)
JsonObject = Annotated[dict[str, Any], AfterValidator(_usable_throughout)]


def refuse_default(_: object) -> None:
    """A default in a tool's definition could approve the tool's calls."""
    raise ValueError(
        "A tool has no default of its own: no default approves a call, and a call that nobody decides on is rejected. "
        "Deadlines and roles are in an agent's interventions."
    )


def refuse_longer(field: str, text: str | None, limit: int) -> None:
    """Checks the configured limit, in characters. The models below have a fixed one."""
    if text is not None and len(text) > limit:
        raise ValidationFailed(f"{field} is too long.", {field: [too_long(text, limit)]})


LONGEST_MESSAGE = 500_000
"""Characters. What a deployment allows is `Settings.max_message_chars`, see `refuse_longer`."""

Message = Annotated[str, Field(max_length=LONGEST_MESSAGE), READABLE, NOT_BLANK]
Name = Annotated[str, Field(min_length=1, max_length=64), READABLE]
NoDefault = Annotated[None, BeforeValidator(refuse_default)]
Metadata = Annotated[dict[Name, Annotated[str, Field(max_length=256), READABLE]], Field(max_length=16)]


class RequestBody(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True, allow_inf_nan=False)


class StartSession(RequestBody):
    """`POST /v1/sessions`. Without `message` the session stays idle; absent limits are the deployment's."""

    message: Message | None = None
    agent_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$")] | None = None
    max_steps: Annotated[int, Field(ge=1, le=caps.MAX_MAX_STEPS)] | None = None
    token_budget: Annotated[int, Field(ge=1, le=caps.MAX_TOKEN_BUDGET)] | None = None
    cost_budget_usd: Annotated[float, Field(gt=0, le=caps.MAX_COST_BUDGET_USD)] | None = None
    review_every: Annotated[int, Field(ge=0, le=1_000)] | None = None
    metadata: Metadata | None = None
    visibility: Literal["private", "tenant"] | None = None


class PostMessage(RequestBody):
    """`POST /v1/sessions/{id}/messages`."""

    content: Message


class Resolve(RequestBody):
    """`POST …/interventions/{iid}/resolve`. Which `option` and `input` fit depends on the intervention's type."""

    option: Name
    input: JsonObject | None = None
    comment: Annotated[str, Field(max_length=2_000), READABLE] | None = None


class Models(agent.Models):
    model_config = ConfigDict(strict=True)


class Fallback(agent.Fallback):
    model_config = ConfigDict(strict=True)


class Limits(agent.Limits):
    model_config = ConfigDict(strict=True)


class Caps(caps.Caps):
    model_config = ConfigDict(strict=True)


class Policy(options_and_defaults.Policy):
    model_config = ConfigDict(strict=True)


class AgentBody(RequestBody):
    """A whole definition. Absent fields take their defaults."""

    name: Annotated[str, Field(max_length=agent.MAX_NAME_CHARS), READABLE, NOT_BLANK]
    system_prompt: Annotated[str, Field(max_length=agent.MAX_SYSTEM_PROMPT_CHARS), READABLE, NOT_BLANK] = (
        agent.SYSTEM
    )
    goal: Annotated[str, Field(max_length=agent.MAX_GOAL_CHARS), READABLE] = ""
    provider: agent.Provider | None = None
    model: agent.ModelName | None = None
    models: Models = Field(default_factory=Models)
    fallbacks: Annotated[list[Fallback], Field(max_length=agent.MAX_FALLBACKS)] = []
    tools: Annotated[list[Name], Field(max_length=agent.MAX_TOOLS)] = []
    limits: Limits = Field(default_factory=Limits)
    caps: Caps = Field(default_factory=Caps)
    high_stakes: Annotated[list[Name], Field(max_length=agent.MAX_TOOLS)] = []
    start_roles: Annotated[list[options_and_defaults.RoleName], Field(max_length=agent.MAX_START_ROLES)] = []
    protocol: agent.Protocol = "native"
    interventions: dict[options_and_defaults.InterventionType, Policy] = {}


class PutAgent(AgentBody):
    """`PUT /v1/agents/{id}`. `version`: the version that it replaces."""

    version: Annotated[int, Field(ge=0)] | None = None


class CreateAgent(AgentBody):
    """`POST /v1/agents`. Without `agent_id` Acta makes one."""

    agent_id: Annotated[str, Field(pattern=agent.AGENT_ID_PATTERN)] | None = None


class PutPrompt(RequestBody):
    """`PUT /v1/admin/prompts/{name}`: a new version. `expected_version`: the version that it follows."""

    content: Annotated[str, Field(max_length=prompt.MAX_CONTENT_CHARS), READABLE, NOT_BLANK]
    comment: Annotated[str, Field(max_length=prompt.MAX_COMMENT_CHARS), READABLE] | None = None
    expected_version: Annotated[int, Field(ge=1)] | None = None


class RestorePrompt(RequestBody):
    """`POST …/versions/{n}/restore`."""

    comment: Annotated[str, Field(max_length=prompt.MAX_COMMENT_CHARS), READABLE] | None = None
    expected_version: Annotated[int, Field(ge=1)] | None = None


class MemoryBody(RequestBody):
    kind: memory.MemoryKind
    text: Annotated[str, Field(max_length=memory.MAX_TEXT_CHARS), READABLE, NOT_BLANK]
    tags: Annotated[list[Annotated[memory.Tag, READABLE, NOT_BLANK]], Field(max_length=memory.MAX_TAGS)] = []


class PutMemory(MemoryBody):
    """`PUT /v1/memories/{id}`: the whole memory. `shared`: everybody's sessions may be reminded of it from now on, also
    where an agent had noted it after reading text from outside.
    """

    shared: Literal[True] | None = None


class CreateMemory(MemoryBody):
    """`POST /v1/memories`. What a person writes is for everybody's sessions."""

    agent_id: Annotated[str, Field(pattern=agent.AGENT_ID_PATTERN)] = agent.DEFAULT_AGENT


class PutTool(RequestBody):
    """`PUT /v1/tools/{name}`: the whole tool. `config` depends on `kind`; `version`: the version that it replaces.

    `high_stakes` absent: by its name, effect and risk (`is_high_stakes_unless_said` in
    `shared/domain/definitions/tool.py`). `default_action` and `interventions` are fields so that they are refused with
    the reason, and so is the kind `mcp`.
    """

    description: Annotated[str, Field(max_length=tool.MAX_DESCRIPTION_CHARS), READABLE, NOT_BLANK]
    input_schema: JsonObject
    kind: Literal["http", "lambda", "mcp"]
    config: JsonObject
    effect: tool.Effect = "once"
    risk: tool.Risk = "network"
    high_stakes: bool | None = None
    approver_role: options_and_defaults.RoleName | None = None
    approver_must_differ: bool | None = None
    repeatable: bool = False
    timeout_seconds: Annotated[int, Field(ge=1, le=tool.MAX_TIMEOUT_SECONDS)] = 60
    result_limit_bytes: Annotated[int, Field(ge=256, le=tool.MAX_RESULT_LIMIT_BYTES)] = 65_536
    version: Annotated[int, Field(ge=1)] | None = None
    default_action: NoDefault = None
    interventions: NoDefault = None


class CreateTool(PutTool):
    """`POST /v1/tools`."""

    name: Annotated[str, Field(pattern=tool.TOOL_NAME_PATTERN)]
    version: None = None


def _usable_value(value: str) -> str:
    if not tool_secret.is_usable_value(value):
        raise ValueError(tool_secret.VALUE_RULE)
    return value


class PutToolSecret(RequestBody):
    """`PUT /v1/tool-secrets/{name}`."""

    value: Annotated[str, AfterValidator(_usable_value)] = Field(repr=False)

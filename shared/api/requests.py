"""The bodies of POST and PUT requests. Unknown fields are refused, and so are values of another JSON type."""

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from shared.api.text import NOT_BLANK, READABLE, JsonObject, refuse_default
from shared.domain import agent, intervention, memory, prompt, tool

LONGEST_MESSAGE = 500_000
"""Characters; what a deployment allows is `Settings.max_message_chars` (`shared.api.text.refuse_longer`)."""

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
    max_steps: Annotated[int, Field(ge=1, le=1_000)] | None = None
    token_budget: Annotated[int, Field(ge=1, le=100_000_000)] | None = None
    cost_budget_usd: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    review_every: Annotated[int, Field(ge=0, le=1_000)] | None = None
    metadata: Metadata | None = None


class PostMessage(RequestBody):
    """`POST /v1/sessions/{id}/messages`."""

    content: Message


class Resolve(RequestBody):
    """`POST …/interventions/{iid}/resolve`. Which `option` and `input` fit depends on its type."""

    option: Name
    input: JsonObject | None = None
    comment: Annotated[str, Field(max_length=2_000), READABLE] | None = None


class Models(agent.Models):
    model_config = ConfigDict(strict=True)


class Fallback(agent.Fallback):
    model_config = ConfigDict(strict=True)


class Limits(agent.Limits):
    model_config = ConfigDict(strict=True)


class Policy(intervention.Policy):
    model_config = ConfigDict(strict=True)


class AgentBody(RequestBody):
    """A whole definition; what is absent takes its default."""

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
    high_stakes: Annotated[list[Name], Field(max_length=agent.MAX_TOOLS)] = []
    protocol: agent.Protocol = "native"
    interventions: dict[intervention.InterventionType, Policy] = {}


class PutAgent(AgentBody):
    """`PUT /v1/agents/{id}`. `version`: the one it is to replace."""

    version: Annotated[int, Field(ge=0)] | None = None


class CreateAgent(AgentBody):
    """`POST /v1/agents`: without `agent_id` one is given."""

    agent_id: Annotated[str, Field(pattern=agent.AGENT_ID_PATTERN)] | None = None


class PutPrompt(RequestBody):
    """`PUT /v1/admin/prompts/{name}`: a new version; `expected_version`: the one it is to follow."""

    content: Annotated[str, Field(max_length=prompt.MAX_CONTENT_CHARS), READABLE, NOT_BLANK]
    comment: Annotated[str, Field(max_length=prompt.MAX_COMMENT_CHARS), READABLE] | None = None
    expected_version: Annotated[int, Field(ge=1)] | None = None


class RestorePrompt(RequestBody):
    """`POST …/versions/{n}/restore`."""

    comment: Annotated[str, Field(max_length=prompt.MAX_COMMENT_CHARS), READABLE] | None = None
    expected_version: Annotated[int, Field(ge=1)] | None = None


class PutMemory(RequestBody):
    """`PUT /v1/memories/{id}`: the whole of it."""

    kind: memory.MemoryKind
    text: Annotated[str, Field(max_length=memory.MAX_TEXT_CHARS), READABLE, NOT_BLANK]
    tags: Annotated[list[Annotated[memory.Tag, READABLE, NOT_BLANK]], Field(max_length=memory.MAX_TAGS)] = []


class CreateMemory(PutMemory):
    """`POST /v1/memories`."""

    agent_id: Annotated[str, Field(pattern=agent.AGENT_ID_PATTERN)] = agent.DEFAULT_AGENT


class PutTool(RequestBody):
    """`PUT /v1/tools/{name}`: the whole of it. `config` is that of its kind; `version`: the one it is to replace.

    `default_action` and `interventions` are there to be refused with the reason.
    """

    description: Annotated[str, Field(max_length=tool.MAX_DESCRIPTION_CHARS), READABLE, NOT_BLANK]
    input_schema: JsonObject
    kind: Literal["http", "lambda", "mcp"]
    config: JsonObject
    effect: tool.Effect = "once"
    risk: tool.Risk = "network"
    high_stakes: bool = False
    repeatable: bool = False
    timeout_seconds: Annotated[int, Field(ge=1, le=tool.MAX_TIMEOUT_SECONDS)] = 60
    result_limit_bytes: Annotated[int, Field(ge=256, le=tool.MAX_RESULT_LIMIT_BYTES)] = 65_536
    cache_seconds: Annotated[int, Field(ge=0, le=tool.MAX_CACHE_SECONDS)] = 0
    version: Annotated[int, Field(ge=1)] | None = None
    default_action: NoDefault = None
    interventions: NoDefault = None


class CreateTool(PutTool):
    """`POST /v1/tools`."""

    name: Annotated[str, Field(pattern=tool.TOOL_NAME_PATTERN)]
    version: None = None

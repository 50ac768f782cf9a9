"""The bodies of requests about definitions: agents, prompts, memories, tools and their secrets."""

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from acta_engine.agents import agent
from acta_engine.agents.applied import Applied
from acta_engine.api.json_body import RequestBody
from acta_engine.limits import caps
from acta_engine.memories import memory
from acta_engine.notifications import receiver
from acta_engine.people import options_and_defaults
from acta_engine.prompts import prompt
from acta_engine.sessions.bodies import NOT_BLANK, READABLE, JsonObject, Name, NotifyUrl
from acta_engine.tools import tool, tool_secret
from acta_engine.tools.mcp import server as mcp_server


def refuse_default(_: object) -> None:
    """A default in a tool's definition could approve the tool's calls."""
    raise ValueError(
        "A tool has no default of its own: no default approves a call, and a call that nobody decides on is rejected. "
        "Deadlines and roles are in an agent's interventions."
    )


NoDefault = Annotated[None, BeforeValidator(refuse_default)]


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


class Applicable(RequestBody):
    """What files may define. `applied` absent: as it was, also where a person changes the definition by hand; null: no
    set of files owns the definition any more.
    """

    applied: Applied | None = None


class AgentBody(Applicable):
    """A whole definition. Absent fields take their defaults."""

    name: Annotated[str, Field(max_length=agent.MAX_NAME_CHARS), READABLE, NOT_BLANK]
    system_prompt: Annotated[str, Field(max_length=agent.MAX_SYSTEM_PROMPT_CHARS), READABLE, NOT_BLANK] = (
        agent.SYSTEM
    )
    goal: Annotated[str, Field(max_length=agent.MAX_GOAL_CHARS), READABLE] = ""
    provider: agent.Provider | None = None
    model: agent.ModelName | None = None
    models: Models = Field(default_factory=Models)
    fallbacks: Annotated[list[Fallback], Field(max_length=agent.MAX_FALLBACKS)] = Field(default_factory=list)
    tools: Annotated[list[Name], Field(max_length=agent.MAX_TOOLS)] = Field(default_factory=list)
    limits: Limits = Field(default_factory=Limits)
    caps: Caps = Field(default_factory=Caps)
    high_stakes: Annotated[list[Name], Field(max_length=agent.MAX_TOOLS)] = Field(default_factory=list)
    start_roles: Annotated[list[options_and_defaults.RoleName], Field(max_length=agent.MAX_START_ROLES)] = (
        Field(default_factory=list)
    )
    protocol: agent.Protocol = "native"
    background: bool = False
    interventions: dict[options_and_defaults.InterventionType, Policy] = Field(default_factory=dict)
    output_schema: JsonObject | None = None


class PutAgent(AgentBody):
    """`PUT /v1/agents/{id}`. `version`: the version that it replaces."""

    version: Annotated[int, Field(ge=0)] | None = None


class CreateAgent(AgentBody):
    """`POST /v1/agents`. Without `agent_id` Acta makes one."""

    agent_id: Annotated[str, Field(pattern=agent.AGENT_ID_PATTERN)] | None = None


class PutPrompt(Applicable):
    """`PUT /v1/admin/prompts/{name}`: a new version. `expected_version`: the version in force that it was made from.
    `active`: whether it is in force from now on, or a draft to be tried.
    """

    content: Annotated[str, Field(max_length=prompt.MAX_CONTENT_CHARS), READABLE, NOT_BLANK]
    comment: Annotated[str, Field(max_length=prompt.MAX_COMMENT_CHARS), READABLE] | None = None
    expected_version: Annotated[int, Field(ge=1)] | None = None
    active: bool = True


class RestorePrompt(RequestBody):
    """`POST …/versions/{n}/restore`."""

    comment: Annotated[str, Field(max_length=prompt.MAX_COMMENT_CHARS), READABLE] | None = None
    expected_version: Annotated[int, Field(ge=1)] | None = None


class MemoryBody(RequestBody):
    kind: memory.MemoryKind
    text: Annotated[str, Field(max_length=memory.MAX_TEXT_CHARS), READABLE, NOT_BLANK]
    tags: Annotated[list[Annotated[memory.Tag, READABLE, NOT_BLANK]], Field(max_length=memory.MAX_TAGS)] = (
        Field(default_factory=list)
    )


class PutMemory(MemoryBody):
    """`PUT /v1/memories/{id}`: the whole memory. `shared`: everybody's sessions may be reminded of it from now on, also
    where an agent had noted it after reading text from outside.
    """

    shared: Literal[True] | None = None


class CreateMemory(MemoryBody):
    """`POST /v1/memories`. What a person writes is for everybody's sessions."""

    agent_id: Annotated[str, Field(pattern=agent.AGENT_ID_PATTERN)] = agent.DEFAULT_AGENT


class PutTool(Applicable):
    """`PUT /v1/tools/{name}`: the whole tool. `config` depends on `kind`; `version`: the version that it replaces;
    `name`: the path's, where it is given.

    `high_stakes` absent: by its name, effect and risk (`is_high_stakes_unless_said` in
    `shared/acta_engine/tools/tool.py`). `default_action` and `interventions` are fields so that they are refused with
    the reason, and so is the kind `mcp`.
    """

    name: str | None = None
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


class CallTool(RequestBody):
    """`POST /v1/tools/{name}/call`. `confirm`: a tool of high stakes is to run without another question."""

    input: JsonObject = Field(default_factory=dict)
    confirm: bool = False


class McpAuth(mcp_server.McpAuth):
    model_config = ConfigDict(strict=True)


class ConfirmMcpTool(RequestBody):
    """`pin`: of what the admin has seen, as a refresh shows it. `confirmed_read`: it only reads, as its server says.
    `high_stakes` absent: only where it does more than read.
    """

    pin: mcp_server.Pin
    confirmed_read: bool = False
    high_stakes: bool | None = None
    approver_role: options_and_defaults.RoleName | None = None


ConfirmedTools = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=128)], ConfirmMcpTool],
    Field(max_length=mcp_server.MAX_SERVER_TOOLS),
]


class PutMcpServer(Applicable):
    """`PUT /v1/mcp-servers/{name}`: the whole server. `tools`: the confirmed ones, by the server's names for them;
    None: those that are confirmed already, unless the URL changes. `version`: the version that it replaces.
    """

    name: str | None = None
    url: mcp_server.Url
    auth: McpAuth | None = None
    timeout_seconds: Annotated[int, Field(ge=1, le=tool.MAX_TIMEOUT_SECONDS)] = 60
    tools: ConfirmedTools | None = None
    version: Annotated[int, Field(ge=1)] | None = None


class ConfirmMcpTools(RequestBody):
    """`POST /v1/mcp-servers/{name}/confirm`: these tools, beside those that are confirmed already."""

    tools: ConfirmedTools


def _usable_value(value: str) -> str:
    if not tool_secret.is_usable_value(value):
        raise ValueError(tool_secret.VALUE_RULE)
    return value


class PutToolSecret(RequestBody):
    """`PUT /v1/tool-secrets/{name}`. `hosts`: None: those that it has already."""

    value: Annotated[str, AfterValidator(_usable_value)] = Field(repr=False)
    hosts: Annotated[list[tool_secret.SecretHost], Field(max_length=tool_secret.MAX_HOSTS)] | None = None


def _usable_secret(secret: str) -> str:
    if not receiver.is_usable_secret(secret):
        raise ValueError(receiver.SECRET_RULE)
    return secret


class PutNotifications(RequestBody):
    """`PUT /v1/notifications`. `secret` None: the one that is there stays."""

    url: NotifyUrl | None = None
    secret: Annotated[str, AfterValidator(_usable_secret)] | None = Field(default=None, repr=False)

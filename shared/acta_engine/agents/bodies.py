"""The bodies of requests about definitions: agents, prompts, memories, tools and their secrets."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field

from acta_engine.agents import agent
from acta_engine.agents.agent import AgentSettings
from acta_engine.agents.applied import Applied
from acta_engine.api.json_body import RequestBody
from acta_engine.memories import memory
from acta_engine.notifications import receiver
from acta_engine.people import options_and_defaults
from acta_engine.prompts import prompt
from acta_engine.sessions.bodies import NotifyUrl
from acta_engine.tools import tool
from acta_engine.tools.mcp import server as mcp_server
from acta_engine.untrusted.texts import NOT_BLANK, READABLE, JsonObject


def refuse_default(_: object) -> None:
    """A default in a tool's definition could approve the tool's calls."""
    raise ValueError(
        "A tool has no default of its own: no default approves a call, and a call that nobody decides on is rejected. "
        "Deadlines and roles are in an agent's interventions."
    )


NoDefault = Annotated[None, BeforeValidator(refuse_default)]


class Applicable(RequestBody):
    """What files may define."""

    applied: Applied | None = None
    """The set of files that owns it, and the digest of its file. Absent: as it was. null: no set owns it."""


class AgentBody(AgentSettings, Applicable):
    """A whole definition. Absent fields take their defaults."""


class PutAgent(AgentBody):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "researcher": {"name": "Researcher", "tools": ["list_files", "read_file", "create_file"]},
    }

    version: Annotated[int, Field(ge=0)] | None = None
    """The version that it replaces; with another one in force: 409."""


class CreateAgent(AgentBody):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "researcher": {
            "agent_id": "researcher",
            "name": "Researcher",
            "goal": "Answer questions from the tenant's files, and name the file of each fact.",
            "tools": ["list_files", "read_file"],
            "limits": {"max_steps": 30},
        },
        "careful": {
            "name": "Careful writer",
            "high_stakes": ["create_file"],
            "interventions": {"approval_required": {"timeout_seconds": 3600, "default_action": "reject"}},
        },
    }

    agent_id: Annotated[str, Field(pattern=agent.AGENT_ID_PATTERN)] | None = None
    """Its id. Absent: Acta makes one."""


class PutPrompt(Applicable):
    """A new version."""

    EXAMPLES: ClassVar = {
        "version": {
            "content": prompt.PLANNING,
            "comment": "The text of the release",
            "expected_version": prompt.SEED_VERSION,
        },
    }

    content: Annotated[str, Field(max_length=prompt.MAX_CONTENT_CHARS), READABLE, NOT_BLANK]
    """The text."""
    comment: Annotated[str, Field(max_length=prompt.MAX_COMMENT_CHARS), READABLE] | None = None
    """Why, for those who read the versions."""
    expected_version: Annotated[int, Field(ge=1)] | None = None
    """The version that it follows; with another one in force: 409."""
    active: bool = True
    """Whether it is in force from now on. false: a draft, which `prompts` of a start or a fork tries."""


class RestorePrompt(RequestBody):
    """How it is restored."""

    EXAMPLES: ClassVar = {"restored": {"comment": "As it was"}}

    comment: Annotated[str, Field(max_length=prompt.MAX_COMMENT_CHARS), READABLE] | None = None
    """Why, for those who read the versions."""
    expected_version: Annotated[int, Field(ge=1)] | None = None
    """The version that it follows; with another one in force: 409."""


class MemoryBody(RequestBody):
    kind: memory.MemoryKind
    """What sort of memory."""
    text: Annotated[str, Field(max_length=memory.MAX_TEXT_CHARS), READABLE, NOT_BLANK]
    """What is to be remembered."""
    tags: Annotated[list[Annotated[memory.Tag, READABLE, NOT_BLANK]], Field(max_length=memory.MAX_TAGS)] = (
        Field(default_factory=list)
    )
    """Words by which it is found."""


class PutMemory(MemoryBody):
    """The whole memory."""

    EXAMPLES: ClassVar = {
        "shared": {
            "kind": "fact",
            "text": "Invoices are in the folder billing/2026/.",
            "shared": True,
        },
    }

    shared: Literal[True] | None = None
    """true: everybody's sessions may be reminded of it from now on. Absent: whom it is for stays."""


class CreateMemory(MemoryBody):
    """A memory."""

    EXAMPLES: ClassVar = {
        "fact": {
            "kind": "fact",
            "text": "Invoices are in the folder billing/.",
            "tags": ["billing"],
        },
    }

    agent_id: Annotated[str, Field(pattern=agent.AGENT_ID_PATTERN)] = agent.DEFAULT_AGENT
    """Whose sessions are reminded of it."""


class PutTool(Applicable):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "http": {
            "description": "Finds orders by the customer's number, newest first.",
            "kind": "http",
            "config": {"url": "https://api.example.com/orders?sort=newest", "method": "GET"},
            "input_schema": {"type": "object", "properties": {"customer": {"type": "string"}}},
            "effect": "read",
        },
    }

    name: str | None = None
    """The path's, or absent: a tool keeps its name."""
    description: Annotated[str, Field(max_length=tool.MAX_DESCRIPTION_CHARS), READABLE, NOT_BLANK]
    """What it does, for the model that chooses it."""
    input_schema: JsonObject
    """JSON Schema 2020-12 of an object. What it does not name is refused unless it says `additionalProperties` itself.
    """
    kind: Literal["http", "lambda", "mcp"]
    """How it is called."""
    config: JsonObject
    """Where it is: `{url, method, headers?, parameters?}` of kind `http`, `{function}` of kind `lambda`."""
    effect: tool.Effect = "once"
    """What becomes of a call whose end is not known: `read` runs again, `idempotent` runs again under the same id,
    `once` never runs again without a person."""
    risk: tool.Risk = "network"
    """What it touches."""
    high_stakes: bool | None = None
    """A person approves each call. Absent: by its name, effect and risk."""
    approver_role: options_and_defaults.RoleName | None = None
    """The role that decides on its calls, whichever agent makes them."""
    approver_must_differ: bool | None = None
    """Nobody who asked for a call may approve it. Absent: where it has an `approver_role`."""
    repeatable: bool = False
    """Identical calls do not mean that a run is stuck."""
    timeout_seconds: Annotated[int, Field(ge=1, le=tool.MAX_TIMEOUT_SECONDS)] = 60
    """The most seconds that one call may take."""
    result_limit_bytes: Annotated[int, Field(ge=256, le=tool.MAX_RESULT_LIMIT_BYTES)] = 65_536
    """The model gets the beginning of a longer result; all of it is stored."""
    version: Annotated[int, Field(ge=1)] | None = None
    """The version that it replaces; with another one in force: 409."""
    # These two are fields so that they are refused with the reason.
    default_action: NoDefault = None
    interventions: NoDefault = None


class CreateTool(PutTool):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "http": {
            "name": "find_orders",
            "description": "Finds orders by the customer's number.",
            "kind": "http",
            "config": {"url": "https://api.example.com/orders", "method": "GET"},
            "input_schema": {
                "type": "object",
                "properties": {"customer": {"type": "string"}},
                "required": ["customer"],
            },
            "effect": "read",
        },
        "path and query": {
            "name": "order_lines",
            "description": "The lines of an order, those with a word in their text or all.",
            "kind": "http",
            "config": {
                "url": "https://api.example.com/orders/{order_id}/lines",
                "method": "GET",
                "parameters": {"word": {"in": "query", "name": "q"}},
            },
            "input_schema": {
                "type": "object",
                "properties": {"order_id": {"type": "string"}, "word": {"type": "string"}},
                "required": ["order_id"],
            },
            "effect": "read",
        },
    }

    name: Annotated[str, Field(pattern=tool.TOOL_NAME_PATTERN)]
    """What agents call it."""
    version: None = None
    """The version that it replaces; with another one in force: 409."""


class CallTool(RequestBody):
    """A trial call."""

    EXAMPLES: ClassVar = {
        "read": {"input": {"customer": "7"}},
        "high stakes": {"input": {"order": "7", "cents": 1250}, "confirm": True},
    }

    input: JsonObject = Field(default_factory=dict)
    """The arguments, as the tool's `input_schema` has them."""
    confirm: bool = False
    """A tool of high stakes is to run: 409 without it."""


class McpAuth(mcp_server.McpAuth):
    """One of both."""

    model_config = ConfigDict(strict=True)


class ConfirmMcpTool(RequestBody):
    """A tool that agents may have."""

    pin: mcp_server.Pin
    """Of what you have seen: a refresh shows it."""
    confirmed_read: bool = False
    """It only reads, as its server says."""
    high_stakes: bool | None = None
    """A person approves each call. Absent: unless it only reads."""
    approver_role: options_and_defaults.RoleName | None = None
    """Who decides on its calls."""


ConfirmedTools = Annotated[
    dict[Annotated[str, Field(min_length=1, max_length=128)], ConfirmMcpTool],
    Field(max_length=mcp_server.MAX_SERVER_TOOLS),
]


class PutMcpServer(Applicable):
    """A whole definition. Absent fields take their defaults."""

    EXAMPLES: ClassVar = {
        "bearer": {"url": "https://mcp.example.com/mcp", "auth": {"secret": "desk_key"}},
        "client credentials": {
            "url": "https://mcp.example.com/mcp",
            "auth": {"client_credentials": {"client_id": "acta", "secret": "desk_client"}},
        },
    }

    name: str | None = None
    """The path's, or absent: a server keeps its name."""
    url: mcp_server.Url
    """Where it answers, streamable HTTP. https, of a host that the operator allows."""
    auth: McpAuth | None = None
    """How calls prove who they are. Absent: they do not."""
    timeout_seconds: Annotated[int, Field(ge=1, le=tool.MAX_TIMEOUT_SECONDS)] = 60
    """The most seconds that one call may take."""
    tools: ConfirmedTools | None = None
    """The tools that agents may have, by the server's names. Absent: those that are confirmed already; none where the
    URL changes."""
    version: Annotated[int, Field(ge=1)] | None = None
    """The version that it replaces; with another one in force: 409."""


class ConfirmMcpTools(RequestBody):
    """Tools to confirm, beside those that are confirmed already."""

    EXAMPLES: ClassVar = {"read": {"tools": {"search": {"pin": "0" * 64, "confirmed_read": True}}}}

    tools: ConfirmedTools
    """By the server's names for them."""


def _usable_value(value: str) -> str:
    if not tool.is_usable_value(value):
        raise ValueError(tool.VALUE_RULE)
    return value


class PutToolSecret(RequestBody):
    """A new value."""

    EXAMPLES: ClassVar = {"token": {"value": "example-value-0123456789", "hosts": ["api.example.com"]}}

    value: Annotated[str, AfterValidator(_usable_value)] = Field(repr=False)
    """It is never answered. 8 to 4,096 printable ASCII characters, no space at either end."""
    hosts: Annotated[list[tool.SecretHost], Field(max_length=tool.MAX_HOSTS)] | None = None
    """Where tools may send it, `host` or `host:port`; empty: wherever tools may go. Absent: as before."""


def _usable_secret(secret: str) -> str:
    if not receiver.is_usable_secret(secret):
        raise ValueError(receiver.SECRET_RULE)
    return secret


class PutNotifications(RequestBody):
    """Where the tenant is told."""

    EXAMPLES: ClassVar = {
        "webhook": {
            "url": "https://hooks.example.com/acta",
            "secret": "whsec_ZXhhbXBsZS1rZXktb2YtdGhpcnR5LXR3by1ieXRlcy4=",
        },
        "secret": {"secret": "whsec_ZXhhbXBsZS1rZXktb2YtdGhpcnR5LXR3by1ieXRlcy4="},
    }

    url: NotifyUrl | None = None
    """Its webhook, https, of a host that the operator allows. null: only sessions with a `notify_url` are told of."""
    secret: Annotated[str, AfterValidator(_usable_secret)] | None = Field(default=None, repr=False)
    """What notifications are signed with. It is never answered. 16 to 512 printable ASCII characters without a space,
    or `whsec_` and the base64 of 16 bytes or more. Absent: as before."""

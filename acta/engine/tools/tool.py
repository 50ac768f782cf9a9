"""Tools: what the registry knows about each one, by kind, and the names of the functions and secrets that they use
(docs/design/tools.md 27).
"""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import Field

from acta.engine.agents.applied import Applied
from acta.engine.people.policies import ROLE_PATTERN, RoleName
from acta.engine.plans.plan import UPDATE_PLAN
from acta.engine.settings import EVERY_TENANT as EVERY_TENANT
from acta.engine.store.schema import FrozenModel
from acta.engine.untrusted.path import (
    NOT_HERE,
    PathRefused,
    check_new_path,
    check_shown_path,
    is_private,
    spelled,
)
from acta.engine.untrusted.quoting import OutsideText
from acta.engine.untrusted.texts import READABLE

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.agents.store import DefinitionSnapshot

Effect = Literal["read", "idempotent", "once"]
Risk = Literal["read", "write", "network", "system"]
StoredKind = Literal["builtin", "http", "lambda"]
"""The kinds of definitions in the table. Releases that know no others read it, so no other is stored there."""
ListedKind = Literal["builtin", "python", "http", "lambda", "mcp"]
"""The kinds of tools that a tenant has. Those of kind `agent` are one agent's, and follow from its definition."""
ToolKind = Literal[ListedKind, "agent"]
FileAccess = Literal["read", "write"]
Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

TOOL_NAME_PATTERN = r"^[a-zA-Z][a-zA-Z0-9_-]{0,63}$"
HEADER_PATTERN = r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$"
HEADER_VALUE_PATTERN = r"^[ -~]{0,1024}$"
WIRE_NAME_PATTERN = r"^[A-Za-z0-9!#$%&'*+.^_`|~\[\]-]{1,64}$"
"""What a header may be called, and what an API may call a parameter of a query: `filter[state]`, `$top`."""
MAX_PARAMETERS = 40
MAX_URL_CHARS = 2_000
MAX_DESCRIPTION_CHARS = 2_000
MAX_SCHEMA_BYTES = 16_384
MAX_SCHEMA_DEPTH = 50
MAX_HEADERS = 10
MAX_TENANT_TOOLS = 40
"""A tenant's own tools. One answer of the API lists them."""
USUAL_TOOL_SECONDS, MAX_TOOL_SECONDS = 60, 600
"""Seconds of one call: where a definition names none, and at most."""
MAX_RESULT_LIMIT_BYTES = 2_097_152
HIGH_STAKES_NAMES = frozenset({"send_email", "execute_code"})
"""Tools of these names are of high stakes whatever they say of their effect (docs/design/people.md 12)."""
USUAL_LATER_SECONDS, MAX_LATER_SECONDS = 86_400, 30 * 86_400
"""Seconds for which an answer is awaited that comes later: where nobody names them, and at most."""
MAX_LATER_DEFAULT_CHARS = 10_000
HIDDEN = "***"
"""Shown instead of a header's value, which may be a credential."""

FUNCTION_PATTERN = r"^acta-[a-z0-9-]{1,32}-tool-[a-z0-9-]{1,50}$"
"""The part before `tool` is the environment."""
MAX_FUNCTION_CHARS = 64
"""Lambda takes no longer name."""

NAME_PATTERN = r"^[A-Za-z_][A-Za-z0-9_]{0,63}$"
"""No hyphen: Secrets Manager may take a name that ends with one and six characters for a part of an ARN."""
NAME_RULE = "A secret's name is 1 to 64 letters, digits and _, and does not begin with a digit."
MAX_TOOL_SECRETS = 40
"""The most secrets of a tenant. One answer of the API lists them."""
MIN_VALUE_CHARS = 8
"""A shorter text could not be taken out of a tool's answers: too much else looks like it."""
MAX_VALUE_CHARS = 4_096
VALUE_RULE = (
    f"A value is {MIN_VALUE_CHARS} to {MAX_VALUE_CHARS:,} printable ASCII characters, and neither begins nor ends with "
    "a space: it becomes a header's value as it is."
)

HOST_PATTERN = r"^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?$"
MAX_HOSTS = 10
HOW_TO_HOST = (
    "Set it with the hosts that may get it: acta tools secrets set NAME --host HOST, or `hosts` of PUT "
    "/v1/tool-secrets/NAME."
)

SecretHost = Annotated[str, Field(pattern=HOST_PATTERN)]
SecretName = Annotated[str, Field(pattern=NAME_PATTERN)]
HeaderName = Annotated[str, Field(pattern=HEADER_PATTERN)]
HeaderValue = Annotated[str, Field(pattern=HEADER_VALUE_PATTERN)]


class LaterRule(FrozenModel):
    """How a tool's calls may be answered later: the tool is given a URL for each call, and may say that the answer will
    be sent there.
    """

    seconds: Annotated[int, Field(ge=1, le=MAX_LATER_SECONDS)] = USUAL_LATER_SECONDS
    """How long the answer is awaited."""
    default: Annotated[str, Field(max_length=MAX_LATER_DEFAULT_CHARS), READABLE] | None = None
    """The result if no answer has come by then. Absent: the call has failed, and the model is told so."""


class ToolSpec(FrozenModel):
    """A tool as the registry and the model know it."""

    name: Annotated[str, Field(pattern=TOOL_NAME_PATTERN)]
    description: str
    input_schema: dict[str, Any]
    kind: ToolKind = "builtin"
    effect: Effect = "read"
    """What happens to a call that may have started and died. `read`: it runs again. `idempotent`: it runs again under
    the same effect id. `once`: it never runs again by itself; a person is asked."""
    risk: Risk = "read"
    """What the tool touches."""
    high_stakes: bool = False
    """A person must approve each call."""
    approver_role: RoleName | None = None
    """The role that decides on its calls, whichever agent makes them. None: the agent's policy says who decides."""
    approver_must_differ: bool | None = None
    """The person who asked for a call may not approve it. None: only if the tool has an approver's role."""
    repeatable: bool = False
    """Identical calls do not mean that the run is stuck."""
    timeout_seconds: Annotated[int, Field(ge=1, le=MAX_TOOL_SECONDS)] = USUAL_TOOL_SECONDS
    """For one call. The invocation may have less time left."""
    result_limit_bytes: Annotated[int, Field(ge=256)] = 65_536
    """Of a longer result the model gets the beginning, and all of it is stored."""
    later: LaterRule | None = None
    """Its calls may be answered later. None: the tool's own answer is the result."""

    @property
    def large_answer_hint(self) -> str:
        """What to tell a model when its call has run, but the answer is too large to be passed on."""
        return "It has run; " + (
            "ask it for less." if self.effect == "read" else "another call would do it again."
        )

    @property
    def is_risky(self) -> bool:
        """Whether the tool does more than read."""
        return self.risk != "read"

    @property
    def has_high_stakes(self) -> bool:
        """Whether each of its calls, or some of them, are of high stakes."""
        return self.high_stakes

    @property
    def written(self) -> str:
        """What a call of the tool is bound to: it names what an admin wrote. Empty: nobody wrote the tool."""
        return ""

    @property
    def wants_another_approver(self) -> bool:
        """Whether a person who asked for a call of the tool may not approve it."""
        return (
            self.approver_role is not None if self.approver_must_differ is None else self.approver_must_differ
        )


def is_high_stakes_unless_said(name: str, effect: Effect, risk: Risk) -> bool:
    """Whether a tenant's tool is of high stakes if its definition does not say. A tool that only reads needs nobody's
    approval (docs/design/people.md 12).
    """
    return effect != "read" or risk == "system" or name.lower().replace("-", "_") in HIGH_STAKES_NAMES


class HttpParameter(FrozenModel):
    """Where an argument of an `http` tool goes."""

    place: Literal["path", "query", "header", "body"]
    name: Annotated[str, Field(pattern=WIRE_NAME_PATTERN)] | None = None
    """Under which name it goes there. None: under its own."""


class HttpConfig(FrozenModel):
    """What a tool of kind `http` calls, and how."""

    url: Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARS)]
    """`{name}` in its path is an argument."""
    method: Method
    headers: Annotated[dict[HeaderName, HeaderValue], Field(max_length=MAX_HEADERS)] = Field(
        default_factory=dict
    )
    """Sent with every request to the host of `url`, and never to another host."""
    secret_headers: Annotated[dict[HeaderName, SecretName], Field(max_length=MAX_HEADERS)] = Field(
        default_factory=dict
    )
    """Header -> the secret that has its value. It is sent as `headers` are."""
    parameters: Annotated[dict[str, HttpParameter], Field(max_length=MAX_PARAMETERS)] = Field(
        default_factory=dict
    )
    """Argument -> where it goes."""


class LambdaConfig(FrozenModel):
    """What a tool of kind `lambda` calls."""

    function: Annotated[str, Field(pattern=FUNCTION_PATTERN, max_length=MAX_FUNCTION_CHARS)]
    """The name of a Lambda of this account and region. `FunctionGuard` says whether the tenant may call it."""


Arguments = Mapping[str, Any]


class FileArgument(FrozenModel):
    """An argument that holds the path of one of the tenant's files.

    From this the path is checked before anything runs, and people who approve the call see what it does to the file.
    """

    argument: str
    use: Literal["read", "write", "delete"]
    content: str | None = None
    """The argument with the text that the file gets. None: the call writes no text."""
    replace: str | None = None
    """The argument that, if it is true, lets the call replace a file that is there. A person approves such a call."""


class BuiltinTool(ToolSpec):
    """A tool that Acta brings along: its schema, effect and risk, the words for people, and its code."""

    run: Callable[[Any], str | OutsideText] | None = None
    """Makes one call, which it gets as a `BuiltinCall` (`acta/engine/tools/port.py`). None: the turn itself
    does what the call asks for, in the commit of the reply."""
    note: Callable[[Arguments], str | None] | None = None
    """Returns the text that a call leaves on the session's scratchpad, in the commit of the reply. The call runs
    instead if this is None or returns None."""
    file: FileArgument | None = None
    question: str = ""
    """What a person who has to approve a call is asked. Empty: whether the agent may do this."""
    bounded: bool = False
    """Its calls reach the session, the tenant's files and its memories and nothing else, and are soon over. The worker
    that committed such a call may make it itself, unless a person has to decide on it (ADR 57)."""
    always: bool = False
    """Every agent has it, whichever tools its definition names: it works on the session itself."""
    optional: bool = False
    """Only deployments that name it in the setting `optional_tools` offer it."""

    @property
    def has_high_stakes(self) -> bool:
        return self.high_stakes or (self.file is not None and self.file.replace is not None)

    def note_of(self, arguments: Arguments) -> str | None:
        return self.note(arguments) if self.note is not None else None

    def replaces_file(self, arguments: Arguments) -> bool:
        """Whether the call may replace a file. What was in it is lost then, as by a deletion."""
        replace = self.file.replace if self.file is not None else None
        return replace is not None and arguments.get(replace) is True

    def spelled(self, arguments: Arguments) -> Arguments:
        """The arguments with the file's path in its one spelling, which people see and approve."""
        path = arguments.get(self.file.argument) if self.file is not None else None
        if self.file is None or not isinstance(path, str):
            return arguments
        return {**arguments, self.file.argument: spelled(path)}

    def lost_path(self, arguments: Arguments) -> str | None:
        """The path of the file whose present bytes the call may replace or delete. None: it does neither."""
        if self.file is None or not (self.file.use == "delete" or self.replaces_file(arguments)):
            return None
        return self.spelled(arguments).get(self.file.argument)

    def written_path(self, arguments: Arguments) -> str | None:
        """The path of the file that the call writes. None: it writes none."""
        if self.file is None or self.file.use != "write":
            return None
        return self.spelled(arguments).get(self.file.argument)

    def path_problem(self, arguments: Arguments, *, private: bool) -> str | None:
        """Why the path of the call's file is refused, as a sentence. None: it is not.

        This is found before a person is asked, who might not see such a path as it is. `private`: the session is one
        person's, and reaches that person's private files.
        """
        if self.file is None:
            return None
        path = arguments[self.file.argument]
        try:
            path = check_new_path(path) if self.file.use == "write" else check_shown_path(path)
        except PathRefused as refused:
            return f"{refused}. Use a relative path such as reports/may.md."
        return f"{NOT_HERE}." if is_private(path) and not private else None


def fields(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    """The schema of an input with these fields and no others."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def text(description: str, **more: Any) -> dict[str, Any]:
    """The schema of a field that is a text."""
    return {"type": "string", "description": description, **more}


class PythonTool(ToolSpec):
    """A tool in one of the environment's folders of Python functions (docs/own-tools.md). It is not stored: the
    catalogue that it is in is made with the release.
    """

    kind: ToolKind = "python"
    folder: str
    """The folder's name."""
    function: str
    """The name of the folder's Lambda."""
    files: FileAccess | None = None
    """What its calls may do with the tenant's files."""
    tenants: tuple[str, ...]
    """Who has it. `*`: every tenant."""
    digest: str
    """The hash of everything that is said of the tool. Another digest means that the tool was changed."""

    @property
    def written(self) -> str:
        return self.digest

    def is_for(self, tenant: str) -> bool:
        return EVERY_TENANT in self.tenants or tenant in self.tenants


FILE = Path(__file__).with_name("python_catalogue.json")


@cache
def catalogue() -> Mapping[str, PythonTool]:
    """All of the environment's tools by name, read once per process.

    They are in a file beside this module (ADR 87). The file is made when Acta is built, from what `@tool` says of each
    function, and is part of the zips. So no store is asked for it, and it is always of the same release as the code. An
    environment without folders of Python functions has no file.
    """
    try:
        text = FILE.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    tools = [PythonTool.model_validate(each) for each in json.loads(text)["tools"]]
    return {tool.name: tool for tool in tools}


def python_tools(tenant: str) -> Mapping[str, PythonTool]:
    """Those that the tenant has, by name. The others do not exist for it."""
    return {name: tool for name, tool in catalogue().items() if tool.is_for(tenant)}


class ToolDefinition(ToolSpec):
    """A tool that a tenant's admin has added."""

    kind: StoredKind = "builtin"
    config: HttpConfig | LambdaConfig
    """It matches `kind`."""
    applied: Applied | None = None
    """The files that it came from. None: it was not written by `acta apply`."""
    version: Annotated[int, Field(ge=1)]
    """Counts the writes since `created_at`."""
    created_at: datetime
    updated_at: datetime

    @property
    def written(self) -> str:
        """A name for this write of the definition. No other write, and no later tool of the same name, shares it."""
        return f"{self.version}/{self.created_at.isoformat()}"

    @property
    def secrets(self) -> frozenset[str]:
        """Names of the secrets that its calls need."""
        return frozenset(self.config.secret_headers.values() if isinstance(self.config, HttpConfig) else ())

    @property
    def secret_sent_to(self) -> str | None:
        """The URL that gets its secrets. None: a function gets none."""
        return self.config.url if isinstance(self.config, HttpConfig) else None


class ToolSecret(FrozenModel):
    """What is known of a secret without its value."""

    name: SecretName
    created_at: datetime
    updated_at: datetime
    updated_by: str
    """The subject of the person who set the value last."""
    hosts: Annotated[tuple[SecretHost, ...], Field(max_length=MAX_HOSTS)] = ()
    """Where tools may send it: `host` (for port 443) or `host:port`. Empty: nowhere."""

    def refused_for(self, url: str) -> str | None:
        """Why a request to the URL may not carry the secret, the end of a sentence about it. None: it may. `url`: one
        that tools may call, so it is ASCII and has no user in it.
        """
        if not self.hosts:
            return "names no hosts that may get it"
        parts = urlsplit(url)
        host, usual = (parts.hostname or "").removesuffix("."), 443 if parts.scheme == "https" else 80
        port = usual if parts.port is None else parts.port
        is_named = f"{host}:{port}" in self.hosts or (port == 443 and host in self.hosts)
        return None if is_named else "is for other hosts"


def is_secret_name(name: str) -> bool:
    """Whether the name fits `NAME_PATTERN`."""
    return name.isascii() and name.isidentifier() and len(name) <= 64


def is_usable_value(value: str) -> bool:
    """Whether the value may be a header's, see `VALUE_RULE`."""
    in_bounds = MIN_VALUE_CHARS <= len(value) <= MAX_VALUE_CHARS
    return in_bounds and value.isascii() and value.isprintable() and value == value.strip(" ")


def function_prefix(env: str) -> str:
    """How the names begin in an environment. The function `tool` of Acta itself has no such name."""
    return f"acta-{env}-tool-"


Approvers = Mapping[str, Mapping[str, str]]
"""Tenant, or `*` for every tenant -> name of a tool -> the role that decides on its calls."""


def with_approver(spec: ToolSpec, named: Approvers, tenant: str) -> ToolSpec:
    """The tool as it is for the tenant, whose own entry comes before that of every tenant.

    A person with the role decides on each call, and nobody on what they asked for themselves. A built-in tool that asks
    about some calls alone, those that replace a file, still asks about no others.
    """
    role = named.get(tenant, {}).get(spec.name) or named.get(EVERY_TENANT, {}).get(spec.name)
    if role is None:
        return spec
    stakes = {} if spec.has_high_stakes else {"high_stakes": True}
    return spec.model_copy(update={"approver_role": role, "approver_must_differ": True, **stakes})


def check_approvers(named: Approvers) -> None:
    """Raises ValueError for what is no name of a tool or a role, and for `update_plan`: it changes nothing outside."""
    for tool, role in (each for roles in named.values() for each in roles.items()):
        if not re.fullmatch(TOOL_NAME_PATTERN, tool) or tool == UPDATE_PLAN:
            raise ValueError(f"{tool!r} is not the name of a tool whose calls a person can approve")
        if not re.fullmatch(ROLE_PATTERN, role):
            raise ValueError(f"{role!r} is not the name of a role")


def tools_of(
    tenant: str,
    agent_id: str,
    snapshot: "Callable[[str], DefinitionSnapshot]",
    optional: Collection[str],
    approvers: Approvers,
    own: Mapping[str, ToolSpec],
) -> Mapping[str, ToolSpec]:
    """All tools of a tenant by name, as they are for it: the offered ones, those that its admins added, and the agents
    that this agent may call. `agent_id` empty: without those.
    """
    from acta.engine.tools.builtin import builtins, offered  # they are made of what stands here

    def added() -> Mapping[str, ToolSpec]:
        read = snapshot(tenant)
        tools, servers = read.tools(), read.mcp_servers()
        found: dict[str, ToolSpec] = {tool.name: tool for tool in tools}
        if servers:  # few tenants have one
            from acta.engine.tools.mcp.server import with_servers

            found = with_servers(tools, servers)
        agent = read.agent(agent_id) if agent_id else None
        if agent is not None and agent.agents:
            from acta.engine.subagents.tool import agent_tools

            # If a tool got the name of one of them later, the agent keeps what its definition names.
            found |= agent_tools(agent, read.agent)
        return found

    first = offered(optional, own)
    return _LazySpecs(
        first, {*builtins(), *first}, added, lambda spec: with_approver(spec, approvers, tenant)
    )


class _LazySpecs(Mapping[str, ToolSpec]):
    """Reads the tenant's definitions only when a tool is asked for that is not built in: most calls need none."""

    def __init__(
        self,
        offered: Mapping[str, ToolSpec],
        taken: Set[str],
        load: Callable[[], Mapping[str, ToolSpec]],
        seen: Callable[[ToolSpec], ToolSpec],
    ) -> None:
        """`offered`: the tools that need none of the tenant's definitions. `taken`: names that no definition of the
        tenant may have. `seen`: turns a tool into what it is for the tenant.
        """
        self._offered = offered
        self._taken = taken
        self._load = load
        self._seen = seen

    @cached_property
    def _added(self) -> Mapping[str, ToolSpec]:
        # A tenant's tool may have the name of one that a later release has built in or brings along, which wins.
        return {name: spec for name, spec in self._load().items() if name not in self._taken}

    def __getitem__(self, name: str) -> ToolSpec:
        return self._seen(self._offered[name] if name in self._taken else self._added[name])

    def __iter__(self) -> Iterator[str]:
        yield from self._offered
        yield from self._added

    def __len__(self) -> int:
        return len(self._offered) + len(self._added)

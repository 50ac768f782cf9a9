"""Tools: what the registry has about each (design §7)."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from acta_engine.agents.applied import Applied
from acta_engine.people.options_and_defaults import RoleName
from acta_engine.store.frozen_model import FrozenModel
from acta_engine.tools.function_names import EVERY_TENANT, FUNCTION_PATTERN, MAX_FUNCTION_CHARS
from acta_engine.tools.tool_secret import SecretName
from acta_engine.untrusted.path import NOT_HERE, PathRefused, check_new_path, check_shown_path, is_private
from acta_engine.untrusted.quoting import OutsideText

Effect = Literal["read", "idempotent", "once"]
Risk = Literal["read", "write", "network", "system"]
StoredKind = Literal["builtin", "http", "lambda"]
"""Of a definition in the table. Releases that know no others read it, so no other is stored there."""
ToolKind = Literal["builtin", "python", "http", "lambda", "mcp"]
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
MAX_HEADERS = 10
MAX_TENANT_TOOLS = 40
"""A tenant's own tools. Each request to a model carries all of them, and one answer of the API lists them."""
MAX_TIMEOUT_SECONDS = 600
MAX_RESULT_LIMIT_BYTES = 2_097_152
HIGH_STAKES_NAMES = frozenset({"send_email", "execute_code"})
"""Tools of these names are of high stakes whatever they say of their effect (design §8)."""
HIDDEN = "***"
"""Shown instead of a header's value, which may be a credential."""

HeaderName = Annotated[str, Field(pattern=HEADER_PATTERN)]
HeaderValue = Annotated[str, Field(pattern=HEADER_VALUE_PATTERN)]


class ToolSpec(FrozenModel):
    """A tool as the registry and the model know it.

    `effect`: what happens to a call that may have started and died. `read`: it runs again. `idempotent`: it runs again
    under the same effect id. `once`: it never runs again by itself, a person is asked.
    `risk`: what the tool touches. `high_stakes`: a person must approve each call. `repeatable`: identical calls do not
    mean that the run is stuck. `approver_role`: the role that decides on its calls, whichever agent makes them; None:
    the agent's policy says who. `approver_must_differ`: who asked for the call may not approve it; None: only where
    the tool has an approver's role. `timeout_seconds`: for one call; the invocation may leave it less (`_run` in
    `shared/acta_engine/tools/execute.py`). `result_limit_bytes`: the model gets the beginning of a longer result, and
    all of it is stored (`shared/acta_engine/tools/results_for_model.py`).
    """

    name: Annotated[str, Field(pattern=TOOL_NAME_PATTERN)]
    description: str
    input_schema: dict[str, Any]
    kind: ToolKind = "builtin"
    effect: Effect = "read"
    risk: Risk = "read"
    high_stakes: bool = False
    approver_role: RoleName | None = None
    approver_must_differ: bool | None = None
    repeatable: bool = False
    timeout_seconds: Annotated[int, Field(ge=1, le=MAX_TIMEOUT_SECONDS)] = 60
    result_limit_bytes: Annotated[int, Field(ge=256)] = 65_536

    @property
    def is_risky(self) -> bool:
        """Whether the tool does more than read."""
        return self.risk != "read"

    @property
    def written(self) -> str:
        """What a call of the tool is bound to: it names what an admin wrote. Empty: nobody wrote the tool."""
        return ""

    @property
    def wants_another_approver(self) -> bool:
        """Whether who asked for a call of the tool may not approve it."""
        return (
            self.approver_role is not None if self.approver_must_differ is None else self.approver_must_differ
        )


def written_as(spec: ToolSpec) -> str:
    """What a call is bound to (`ToolSpec.written`)."""
    return spec.written


def is_high_stakes_unless_said(name: str, effect: Effect, risk: Risk) -> bool:
    """The stakes of a tool of a tenant's whose definition names none. A tool that only reads needs nobody (design
    §8).
    """
    return effect != "read" or risk == "system" or name.lower().replace("-", "_") in HIGH_STAKES_NAMES


class Parameter(FrozenModel):
    """Where an argument of an `http` tool goes, and under which name; None: its own."""

    place: Literal["path", "query", "header", "body"]
    name: Annotated[str, Field(pattern=WIRE_NAME_PATTERN)] | None = None


class HttpConfig(FrozenModel):
    """`url`: `{name}` in its path is an argument. `headers`: sent with every request to the host of `url`, and never to
    another host. `secret_headers`: so, too; header -> the secret that has its value. `parameters`: argument -> where it
    goes.
    """

    url: Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARS)]
    method: Method
    headers: Annotated[dict[HeaderName, HeaderValue], Field(max_length=MAX_HEADERS)] = Field(
        default_factory=dict
    )
    secret_headers: Annotated[dict[HeaderName, SecretName], Field(max_length=MAX_HEADERS)] = Field(
        default_factory=dict
    )
    parameters: Annotated[dict[str, Parameter], Field(max_length=MAX_PARAMETERS)] = Field(
        default_factory=dict
    )


class LambdaConfig(FrozenModel):
    """`function`: the name of a Lambda of this account and region. Whether the tenant may call it:
    `shared/acta_engine/tools/tenant/functions.py`.
    """

    function: Annotated[str, Field(pattern=FUNCTION_PATTERN, max_length=MAX_FUNCTION_CHARS)]


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
    """Makes one call, which it gets as a `BuiltinCall` (`shared/acta_engine/tools/port.py`). None: the turn itself
    does what the call asks for, in the commit of the reply."""
    note: Callable[[Arguments], str | None] | None = None
    """The text that such a call leaves on the session's scratchpad, in the commit of the reply. None, or where it
    returns None: the call is to run."""
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

    def note_of(self, arguments: Arguments) -> str | None:
        return self.note(arguments) if self.note is not None else None

    def replaces_file(self, arguments: Arguments) -> bool:
        """Whether the call may replace a file. What was in it is lost then, as by a deletion."""
        replace = self.file.replace if self.file is not None else None
        return replace is not None and arguments.get(replace) is True

    def written_path(self, arguments: Arguments) -> str | None:
        """The path of the file that the call writes. None: it writes none."""
        if self.file is None or self.file.use != "write":
            return None
        return arguments.get(self.file.argument)

    def path_problem(self, arguments: Arguments, *, private: bool) -> str | None:
        """Why the path of the call's file is refused, as a sentence. None: it is not.

        This is found before a person is asked, who might not see such a path as it is. `private`: the session is one
        person's, and reaches that person's private files.
        """
        if self.file is None:
            return None
        path = arguments[self.file.argument]
        try:
            check_new_path(path) if self.file.use == "write" else check_shown_path(path)
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
    """A tool of a folder of Python functions of the environment's (docs/own-tools.md). It is not stored: its catalogue
    is made with the release.

    `folder`: its name. `function`: of the Lambda. `files`: what its calls may do with the tenant's files. `tenants`:
    who has it; `*`: everybody. `digest`: of what is said of it.
    """

    kind: ToolKind = "python"
    folder: str
    function: str
    files: FileAccess | None = None
    tenants: tuple[str, ...]
    digest: str

    @property
    def written(self) -> str:
        return self.digest

    def is_for(self, tenant: str) -> bool:
        return EVERY_TENANT in self.tenants or tenant in self.tenants


class ToolDefinition(ToolSpec):
    """A tool that a tenant's admin has added. `config`: matches `kind`. `version`: counts the writes since
    `created_at`. `applied`: the files it came from; None: it was not written by `acta apply`.
    """

    kind: StoredKind = "builtin"
    config: HttpConfig | LambdaConfig
    applied: Applied | None = None
    version: Annotated[int, Field(ge=1)]
    created_at: datetime
    updated_at: datetime

    @property
    def written(self) -> str:
        """Names what was written: no other write, and no later tool of the same name, has the same."""
        return f"{self.version}/{self.created_at.isoformat()}"

    @property
    def secrets(self) -> frozenset[str]:
        """Names of the secrets that its calls need."""
        return frozenset(self.config.secret_headers.values() if isinstance(self.config, HttpConfig) else ())

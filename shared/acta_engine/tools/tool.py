"""Tools: what the registry has about each (design §7)."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from acta_engine.agents.applied import Applied
from acta_engine.people.options_and_defaults import RoleName
from acta_engine.store.frozen_model import FrozenModel
from acta_engine.tools.function_names import EVERY_TENANT, FUNCTION_PATTERN, MAX_FUNCTION_CHARS
from acta_engine.tools.tool_secret import SecretName

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

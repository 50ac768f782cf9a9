"""What a row of the table of operations says (`acta/engine/api/operations.py`).

Every function that answers HTTP imports this when it starts. Freezing the two classes, or comparing rows by their
fields, would double what that costs, and nothing needs it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Literal

from acta.engine.api.envelope import Response
from acta.engine.people.visibility import Reach

Function = Literal["start", "status", "intervene", "admin", "step", "mcp", "wake", "console", "fallback"]
Role = Literal["member", "admin"]
Rated = Literal["request", "poll", "never", "within"]
Form = Literal["data", "page", "searched page", "empty", "raw"]
RequestHeader = Literal["Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID"]
ResponseHeader = Literal["ETag", "Location", "Retry-After", "Content-Security-Policy"]
RouteHandler = Callable[..., Response]
"""Takes the `Api` and the route's arguments, and answers."""
Schema = dict[str, Any]
"""JSON Schema."""


@dataclass(eq=False, repr=False)
class AnswerSpec:
    """One answer to a request that succeeds."""

    status: int
    form: Form = "data"
    """`data`: the envelope has one thing. `page`: it has a page of them; `searched page`: a page of a listing that is
    searched for what fits a filter. `empty`: there is no body. `raw`: the body has no envelope.
    """
    says: str = ""
    shapes: tuple[str, ...] = ()
    """Names of classes in the rooms' `answers.py`: the data, or an item of the page, is one of these."""
    headers: tuple[ResponseHeader, ...] = ()
    """Headers that the answer always has."""
    sometimes: tuple[ResponseHeader, ...] = ()
    """Headers that it may have."""
    beside: Mapping[str, Schema] = field(default_factory=dict)
    """Fields that a page may have beside its items."""
    raw: Mapping[str, Schema] = field(default_factory=dict)
    """Content types of a body without the envelope, each with its schema."""


@dataclass(eq=False, repr=False)
class McpOffer:
    """How `/mcp` offers an operation. A tool's arguments are the operation's parameters and its body's fields."""

    name: str
    title: str
    description: str
    """For the model that chooses it."""
    fixed: Mapping[str, str] = field(default_factory=dict)
    """Query parameters that are always the same, and are no arguments."""
    destroys: bool = False
    """Whether it takes something away that was there."""
    repeats: bool = False
    """Whether a second call with the same arguments changes nothing more, as when it only reads."""


@dataclass(eq=False, repr=False)
class Operation:
    """One method of one path: who may ask it, which function answers, and what the document says of it.

    Its parameters and its body are those of its handler.
    """

    name: str
    """The `operationId`. Clients rely on it, so it stays as it is."""
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    """In API Gateway's form: `{name}` is one part of a path, `{name+}` is all the rest of it."""
    function: Function
    """The Lambda that answers it."""
    handler: str
    """What answers it there: `module:function`, the module below `acta.engine`."""
    role: Role | None = "member"
    """The role that it needs. None: it is reachable without a token."""
    private: Reach = "owner"
    """Who besides the owner may use it on a private session."""
    rated: Rated = "request"
    """What it takes of its tenant's rate (ADR 65). `request`: one request. `poll`: one request, unless the poll waits.
    `never`: nothing, because it stops work or answers a question, which is never refused for a rate. `within`: its
    handler asks other operations, which are rated each by itself, and spends a request for everything else.
    """
    action: str | None = None
    """Its name in the audit trail. Names are stored, so they stay as they are. None: it is not recorded. A `GET` is
    recorded only where the environment records reads (`Settings.record_reads`): for each private session of somebody
    else that it was let into, and for what its handler names in `Response.recorded`.
    """
    unrecorded: str = ""
    """Why there is no record of an operation whose method is not GET. Without a reason it needs an `action`, also if it
    changes nothing of Acta's: it may send credentials out or cost money.
    """
    recorded_request: tuple[str, ...] = ()
    """Parameters and fields of the body that its record has, besides the variables of the path."""
    recorded_answer: tuple[str, ...] = ()
    """Fields of the answer's data that its record has. A dot leads into a field."""
    client: str = ""
    """The method of `acta.Client`, `group.method` where it is one of a group. Empty: the client has none."""
    client_form: Literal["fields", "definition", "by hand"] = "fields"
    """`fields`: the method is made, and takes each field of the body. `definition`: it is made, and takes the body as
    one mapping. `by hand`: it is written in `acta/client`, because it does more than send the request.
    """
    mcp: McpOffer | None = None
    """None: `/mcp` does not offer it."""
    summary: str = ""
    about: str = ""
    """What the document says below the summary."""
    takes: tuple[RequestHeader, ...] = ()
    needs: tuple[RequestHeader, ...] = ()
    """Request headers that it may have, and those that it must have. A precondition that is in neither is refused."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Words about query parameters and variables of the path that `QUERY` and `VARIABLES` do not have."""
    codes: tuple[str, ...] = ()
    """Error codes of its own, besides those that its path and its headers bring."""
    answers: tuple[AnswerSpec, ...] = ()
    sends: Mapping[str, Schema] = field(default_factory=dict)
    """Content types with schemas of a body that no model describes."""
    examples: Mapping[str, Any] = field(default_factory=dict)
    """Examples of such a body. Those of a model are in the model (`RequestBody.EXAMPLES`)."""

    def __str__(self) -> str:
        """As API Gateway names it in an event's `routeKey`."""
        return f"{self.method} {self.path}"

    def load(self) -> RouteHandler:
        """The handler. Its module is imported now."""
        handler: RouteHandler = getattr(import_module(self.module), self.handler.partition(":")[2])
        return handler

    @property
    def module(self) -> str:
        """The module of the handler."""
        return f"acta.engine.{self.handler.partition(':')[0]}"

    @property
    def plain_path(self) -> str:
        """As OpenAPI writes it, which has one kind of variable."""
        return self.path.replace("+}", "}")

    def words(self, name: str) -> str:
        """The description of a parameter: the row's own, else the common one. Raises KeyError where there is none."""
        if name in self.parameters:
            return self.parameters[name]
        before, variable, _ = self.plain_path.partition(f"/{{{name}}}")
        return VARIABLES[before.rpartition("/")[2] + variable] if variable else QUERY[name]

    @property
    def takes_bytes(self) -> bool:
        """Whether the body is a file; everywhere else it is JSON."""
        return self.path.endswith("+}")

    @property
    def takes_body(self) -> bool:
        return self.method in ("POST", "PUT", "PATCH") and (not self.takes_bytes or bool(self.sends))

    @property
    def is_page(self) -> bool:
        """Whether it is the page for people, which reads its query itself."""
        return self.path.startswith("/console")

    @property
    def prefix(self) -> str:
        """The path up to its first variable."""
        return self.path.partition("{")[0]


def data(
    *shapes: str,
    says: str,
    status: int = 200,
    headers: tuple[ResponseHeader, ...] = (),
    sometimes: tuple[ResponseHeader, ...] = (),
) -> AnswerSpec:
    return AnswerSpec(status, says=says, shapes=shapes, headers=headers, sometimes=sometimes)


def page(shape: str, *, says: str) -> AnswerSpec:
    return AnswerSpec(200, "page", says, (shape,))


def searched_page(shape: str, *, says: str) -> AnswerSpec:
    return AnswerSpec(200, "searched page", says, (shape,))


QUERY = {
    "limit": "The most items of the page. It may have fewer: pages are bounded in bytes, too.",
    "cursor": "`next_cursor` of the page before. Without one, reading begins at the start.",
    "version": "The version that is deleted; with another one in force: 409.",
}
"""Words about query parameters that many operations have."""
VARIABLES = {
    "sessions/{session_id}": "The session's id, as its start answered.",
    "interventions/{intervention_id}": "The intervention's id.",
    "agents/{agent_id}": "The agent's id.",
    "tools/{name}": "The tool's name.",
    "mcp-servers/{name}": "1 to 24 small letters, digits and `-`, beginning with a letter.",
    "tool-secrets/{name}": "1 to 64 letters, digits and `_`, not beginning with a digit.",
    "memories/{memory_id}": "The memory's id.",
    "triggers/{trigger_id}": "1 to 40 small letters, digits and `-`, beginning with a letter or digit.",
    "schedules/{schedule_id}": "The schedule's id.",
    "prompts/{name}": "The prompt's name. There are: {prompts}. Names are fixed.",
    "files/{path}": "The file's path. It may have slashes. Beginning with `~/` it is your own: nobody else sees such a "
    "file. Only the plain spelling is taken: no `..`, no empty part, no control character, no backslash, at most 1,024 "
    "bytes.",
}
"""Words about variables of paths, which are told apart by the part before them. `{prompts}` stands for all names."""

NOTHING = AnswerSpec(204, "empty", "Done. There is no body.")
UNCHANGED = AnswerSpec(
    304, "empty", "Nothing has changed since the answer with this ETag.", sometimes=("ETag",)
)
"""Of a `GET` that takes `If-None-Match`."""

"""What is said of a route that its code does not say: words, answers, headers, codes, examples."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from acta_engine.api.error_answers import STATUSES
from acta_engine.prompts.prompt import SEEDS

Json = dict[str, Any]

Form = Literal["data", "page", "empty", "raw"]
RequestHeader = Literal["Idempotency-Key", "If-Match", "If-None-Match", "Last-Event-ID"]
ResponseHeader = Literal["ETag", "Location", "Retry-After", "Content-Security-Policy"]


@dataclass(frozen=True)
class Answer:
    """Of a request that succeeds. `shapes`: any one of these is the `data`, or an item of the page. `raw`: content type
    -> schema, of a body without the envelope. `headers`: those that it always has; `sometimes`: those it may have.
    `beside`: field -> schema, of what a page may have beside its items.
    """

    status: int
    says: str
    shapes: tuple[Any, ...] = ()
    form: Form = "data"
    headers: tuple[ResponseHeader, ...] = ()
    sometimes: tuple[ResponseHeader, ...] = ()
    beside: Mapping[str, Json] = field(default_factory=dict)
    raw: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True)
class Operation:
    """`name`: the operationId, stable. `codes`: of the errors that are this route's own, without those that its path
    and its headers bring (`codes_at`). `takes`: request headers; `needs`: those that a request must have. `bodies`:
    examples by name, each of which a test sends. `parameters`: words about query parameters and path variables that
    `QUERY` and `VARIABLES` do not have; `values`: the schemas of those that a handler checks itself. `sends`: content
    type -> schema of a body that no model of a route says.
    """

    name: str
    summary: str
    answers: tuple[Answer, ...]
    about: str = ""
    codes: tuple[str, ...] = ()
    takes: tuple[RequestHeader, ...] = ()
    needs: tuple[RequestHeader, ...] = ()
    bodies: Mapping[str, Json] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    values: Mapping[str, Json] = field(default_factory=dict)
    sends: Mapping[str, Json] = field(default_factory=dict)

    def codes_at(self, path: str) -> tuple[str, ...]:
        """All codes that are its own, in the order of `STATUSES`."""
        codes = {*self.codes}
        codes |= {code for variable, code in MISSING.items() if variable in path}
        if "Idempotency-Key" in self.takes:
            codes |= {"CONFLICT", "IDEMPOTENCY_MISMATCH"}
        return tuple(code for code in STATUSES if code in codes)

    def words(self, path: str, name: str) -> str:
        """About a parameter, its own before those for all. Raises KeyError where there are none."""
        if name in self.parameters:
            return self.parameters[name]
        before, variable, _ = path.partition(f"/{{{name}}}")
        return VARIABLES[before.rpartition("/")[2] + variable] if variable else QUERY[name]


def ok(
    *shapes: Any, says: str = "Done.", status: int = 200, headers: tuple[ResponseHeader, ...] = ()
) -> Answer:
    return Answer(status, says, shapes, headers=headers)


def page_of(shape: Any, says: str = "A page.") -> Answer:
    return Answer(200, says, (shape,), form="page")


def searched_page_of(shape: Any, says: str) -> Answer:
    """Of a listing that is looked through for what fits a filter."""
    return Answer(200, says, (shape,), form="page", beside={"searched_to": SEARCHED_TO})


SEARCHED_TO: Json = {
    "type": ["string", "null"],
    "format": "date-time",
    "description": "How far back the listing has been searched, where there is a `next_cursor`; null: to its end, or "
    "nobody can say.",
}
NOTHING = Answer(204, "Done. There is no body.", form="empty")
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
    "prompts/{name}": f"The prompt's name. There are: {', '.join(f'`{name}`' for name in SEEDS)}. Names are fixed.",
    "files/{path}": "The file's path. It may have slashes. Beginning with `~/` it is your own: nobody else sees such a "
    "file. Only the plain spelling is taken: no `..`, no empty part, no control character, no backslash, at most 1,024 "
    "bytes.",
}
"""Words about variables of paths, which are told apart by the part before them."""
MISSING = {"{session_id}": "SESSION_NOT_FOUND", "{intervention_id}": "INTERVENTION_NOT_FOUND"}
"""A variable of a path -> the code where there is no such thing."""

"""What is said of a route that its code does not say: words, answers, headers, codes, examples."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]

Tag = Literal[
    "Sessions",
    "Interventions",
    "Files",
    "Agents",
    "Tools",
    "Notifications",
    "Memories",
    "Prompts",
    "MCP",
    "Operation",
]
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
    """`name`: the operationId, stable. `codes`: of the errors that are this route's own; what every route may answer is
    added. `takes`: request headers; `needs`: those that a request must have. `bodies`: examples by name, each of which
    a test sends. `parameters`: words about path variables and query parameters; `values`: the schemas of those that a
    handler checks itself. `sends`: content type -> schema of a body that no model of a route says.
    """

    name: str
    tag: Tag
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
LIMIT = "The most items of the page. It may have fewer: pages are bounded in bytes, too."
CURSOR = "`next_cursor` of the page before. Without one, reading begins at the start."
PAGING = {"limit": LIMIT, "cursor": CURSOR}

"""What a server says of its tools: read page by page, pinned, and kept for as long as the server allows."""

import json
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from acta_engine.tools.mcp.exchange import (
    LIST_TOOLS,
    BadHeaders,
    Call,
    McpExchange,
    NotUnderstood,
    Paths,
    header_paths,
)
from acta_engine.tools.mcp.server import pin_of

MAX_PAGES = 20
MAX_TOOLS = 200
MAX_DESCRIPTION_CHARS = 16_384
MAX_TOOL_BYTES = 65_536
MAX_CURSOR_CHARS = 4_096
MAX_FRESH_SECONDS = 3_600
USUAL_FRESH_SECONDS = 60
"""Of a list that says nothing of it, as those of older servers."""
MAX_KEPT = 200


class ListedTool(NamedTuple):
    """`unusable`: why no agent can have it, a sentence for an admin; None: it can be confirmed. `reads`: the server
    says that it only reads. `paths`: arguments that go into headers, too. `output_schema`: of its structured content;
    None: the server gives none, or one outside of the bounds of schemas, which is not checked.
    """

    name: str
    title: str
    description: str
    input_schema: dict[str, Any]
    annotations: dict[str, Any]
    pin: str
    reads: bool
    unusable: str | None = None
    paths: Paths = MappingProxyType({})
    output_schema: dict[str, Any] | None = None


class Listing(NamedTuple):
    """`fresh_seconds`: how long it may be kept."""

    tools: tuple[ListedTool, ...]
    fresh_seconds: float

    def tool(self, name: str) -> ListedTool | None:
        return next((one for one in self.tools if one.name == name), None)


CheckSchema = Callable[[Mapping[str, Any]], str | None]
"""From a schema to what keeps it from being a tool's, a sentence for an admin."""


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    """By the rules for every tenant's tool. The check is loaded at the first list."""
    from acta_engine.tools.tenant.definition import Unusable, check_schema

    try:
        check_schema(schema)
    except Unusable as unusable:
        return " ".join(sentence for said in unusable.problems.values() for sentence in said)
    return None


def read_listing(exchange: McpExchange, check: CheckSchema) -> Listing:
    """Raises McpFailed."""
    tools: dict[str, ListedTool] = {}
    fresh, cursor = float(MAX_FRESH_SECONDS), None
    for _ in range(MAX_PAGES):
        params: dict[str, Any] = {} if cursor is None else {"cursor": cursor}
        page = exchange.request(Call(LIST_TOOLS, params))
        described = page.get("tools")
        if not isinstance(described, list):
            raise NotUnderstood("listed no tools")
        for one in described:
            tool = _listed(one, check)
            if tool is not None:
                twice = tool.name in tools
                tools[tool.name] = tool._replace(unusable="It is listed twice.") if twice else tool
        if len(tools) > MAX_TOOLS:
            raise NotUnderstood(f"listed more than {MAX_TOOLS} tools")
        fresh = min(fresh, _fresh_seconds(page))
        cursor = page.get("nextCursor")
        if cursor is None:
            return Listing(tuple(tools.values()), fresh)
        if not isinstance(cursor, str) or len(cursor) > MAX_CURSOR_CHARS:
            raise NotUnderstood("gave a cursor that cannot be used")
    raise NotUnderstood(f"listed its tools on more than {MAX_PAGES} pages")


def _fresh_seconds(page: Mapping[str, Any]) -> float:
    ttl = page.get("ttlMs")
    if isinstance(ttl, bool) or not isinstance(ttl, int | float):
        return USUAL_FRESH_SECONDS if page.get("resultType") is None else 0
    return min(max(ttl, 0) / 1_000, MAX_FRESH_SECONDS)


def _listed(described: Any, check: CheckSchema) -> ListedTool | None:
    """None: it has no name."""
    if not isinstance(described, dict) or not isinstance(described.get("name"), str):
        return None
    name, schema = described["name"], described.get("inputSchema")
    annotations = described.get("annotations")
    annotations = annotations if isinstance(annotations, dict) else {}
    tool = ListedTool(
        name=name,
        title=_text(described.get("title")) or _text(annotations.get("title")),
        description=_text(described.get("description")),
        input_schema=schema if isinstance(schema, dict) else {},
        annotations={key: value for key, value in annotations.items() if isinstance(value, bool)},
        pin=pin_of(described),
        reads=annotations.get("readOnlyHint") is True,
    )
    if not isinstance(schema, dict):
        return tool._replace(unusable="It has no schema of its input.")
    if not 0 < len(name) <= 128 or not name.isprintable():
        return tool._replace(name=name[:128], unusable="Its name cannot be used.")
    if len(tool.description) > MAX_DESCRIPTION_CHARS or len(json.dumps(described)) > MAX_TOOL_BYTES:
        cut = tool.description[:1_000]
        return tool._replace(
            description=cut, input_schema={}, unusable="What the server says of it is too long."
        )
    execution = described.get("execution")
    if isinstance(execution, dict) and execution.get("taskSupport") == "required":
        return tool._replace(unusable="It runs as a task alone, as of 2025-11-25, which Acta does not offer.")
    try:
        paths = header_paths(schema)
    except BadHeaders as bad:
        return tool._replace(unusable=f"Its schema breaks a rule of MCP: {bad}.")
    except RecursionError:
        return tool._replace(input_schema={}, unusable="Its schema is nested too deeply.")
    output = described.get("outputSchema")
    checked = output if isinstance(output, dict) and _is_bounded(output, check) else None
    return tool._replace(unusable=check(schema), paths=paths, output_schema=checked)


def _is_bounded(schema: Mapping[str, Any], check: CheckSchema) -> bool:
    try:
        return check(schema) is None
    except RecursionError:
        return False


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


class Listings:
    """What a process has read, by tenant and server as it was written (a list is one caller's own). `wall`: seconds of
    a clock that never goes back.
    """

    def __init__(self, wall: Callable[[], float] = time.monotonic) -> None:
        self._wall = wall
        self._kept: dict[tuple[str, ...], tuple[Listing, float]] = {}

    def fresh(self, key: tuple[str, ...]) -> Listing | None:
        listing, until = self._kept.get(key, (None, 0.0))
        return listing if self._wall() < until else None

    def keep(self, key: tuple[str, ...], listing: Listing) -> None:
        if len(self._kept) >= MAX_KEPT:
            self._kept.clear()
        self._kept[key] = listing, self._wall() + listing.fresh_seconds

    def forget(self, key: tuple[str, ...]) -> None:
        self._kept.pop(key, None)

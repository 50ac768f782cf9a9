"""Tools of MCP servers: lists them, runs calls of the confirmed ones, and reads the answers (docs/design/tools.md 10).

Before a call the tool is compared with what an admin has confirmed, by its pin. If the server now describes the tool
otherwise, the tool is not called. The list is read again when it is no longer fresh.

A call is answered with a result, with questions to a person, or with a task that goes on (MCP 2026-07-28). A result
becomes one text: text as it is, structured content as JSON, and of everything else what it is and how large. Questions
(`input_required`; Multi round-trip requests; Elicitation) that a person cannot answer in a form or by opening a link
are not offered. Tasks are those of the extension `io.modelcontextprotocol/tasks`.
"""

import base64
import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Any, NamedTuple

from acta.engine.egress.address import AddressGuard
from acta.engine.egress.exchange import HttpAnswer
from acta.engine.errors import ToolAsks, ToolFailed, ToolNotRun, ToolUnanswered, ToolWaits
from acta.engine.tools.mcp.exchange import (
    CALL_TOOL,
    EFFECT_ID,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    LIST_TOOLS,
    METHOD_NOT_FOUND,
    TASKS,
    BadHeaders,
    CursorLost,
    Era,
    HttpRefused,
    McpExchange,
    McpFailed,
    NotAnswered,
    NotReached,
    NotUnderstood,
    Paths,
    ProcessCache,
    RpcCall,
    RpcRefused,
    TooMuch,
    header_paths,
    json_value,
    param_headers,
)
from acta.engine.tools.mcp.oauth import NamedEndpoint, NoToken, TokenCache, named_endpoints
from acta.engine.tools.mcp.schema_words import NOT_OFFERED, offered_schema
from acta.engine.tools.mcp.server import McpConnection, McpTool, pin_of
from acta.engine.tools.mcp.server_task import MAX_TASK_ID_CHARS, ServerTask, TaskNews, ToolQuestion
from acta.engine.tools.port import CallContext
from acta.engine.tools.tenant.credentials import Credentials, Known, Secrets, credentials_of
from acta.engine.tools.tool import MAX_URL_CHARS, HttpConfig, ToolSpec
from acta.engine.untrusted.encodings import NotText, decoded, label_in
from acta.engine.untrusted.exact_json import InvalidJson, parse_answer, value_at, written_exactly
from acta.engine.untrusted.quoting import OutsideText

MAX_PAGES = 100
MAX_TOOLS = 1_000
"""The most tools of a server that are read. Further ones, up to as many again, are only named."""
MAX_LISTING_BYTES = 3_000_000
"""The most bytes of them all. An answer of Lambda has 6 MB, and what was confirmed stands beside them."""
MAX_DESCRIPTION_CHARS = 16_384
MAX_TOOL_BYTES = 65_536
MAX_TOOL_TEXT = 4 * MAX_TOOL_BYTES
"""The most characters of a tool as its server writes it, with spaces and escapes. A longer one is not parsed."""
MAX_TOOL_NAME_CHARS = 128
MAX_CURSOR_CHARS = 4_096
MAX_FRESH_SECONDS = 3_600
USUAL_FRESH_SECONDS = 60
"""How long a list is kept that does not say it, such as those of older servers."""
MAX_KEPT, MAX_SERVERS_KNOWN = 200, 1_000
TOO_LONG = "What the server says of it is too long."
TOO_MANY = (
    "It is left out: Acta looks at the first 1,000 tools of a server, and at 3 MB of what it says of them."
)
TWICE = "It is listed twice, and not in the same words."


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


class LeftOut(NamedTuple):
    """A tool of which only the name is kept. `reason`: a sentence for an admin."""

    name: str
    reason: str


class Listing(NamedTuple):
    """`said`: by name, a tool as its server describes it. `fresh_seconds`: how long the list may be kept. `broken`: why
    it is not the server's whole list, a sentence's end; None: it is.
    """

    said: Mapping[str, Mapping[str, Any] | LeftOut]
    fresh_seconds: float
    broken: str | None

    @property
    def tools(self) -> tuple[ListedTool, ...]:
        return tuple(_listed(name, said) for name, said in self.said.items())

    def tool(self, name: str) -> ListedTool | None:
        said = self.said.get(name)
        return None if said is None else _listed(name, said)


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    """What keeps a schema from being a tool's, by the rules for every tenant's tool: a sentence for an admin. The check
    is loaded at the first list.
    """
    from acta.engine.tools.tenant.definition import Unusable, check_schema

    try:
        check_schema(schema, is_checked_again=True)
    except Unusable as unusable:
        return " ".join(sentence for said in unusable.problems.values() for sentence in said)
    return None


@contextmanager
def _reading() -> Iterator[None]:
    """Whatever a server answers with that the code inside cannot read is not understood, and is no crash of a worker,
    after which the call would be made again. Raises NotUnderstood.
    """
    try:
        yield
    except (TypeError, ValueError, OverflowError, RecursionError):
        raise NotUnderstood("answered with something that cannot be read") from None


@_reading()
def read_listing(exchange: McpExchange) -> Listing:
    """What can be read of the server's list. It begins again where the server forgets its session between two pages.
    Raises McpFailed where there is nothing.
    """
    while True:
        with suppress(CursorLost):
            return _pages(exchange)


def _pages(exchange: McpExchange) -> Listing:
    """Raises McpFailed where there is no first page, and CursorLost."""
    said: dict[str, Mapping[str, Any] | LeftOut] = {}
    fresh, cursors, room = float(MAX_FRESH_SECONDS), [""], MAX_LISTING_BYTES
    for number in range(1, MAX_PAGES + 1):
        params = {"cursor": cursors[-1]} if cursors[-1] else {}
        try:
            page = exchange.request(RpcCall(LIST_TOOLS, params, read=read_tools_apart))
            if not isinstance(page.get("tools"), list):
                raise NotUnderstood("listed no tools")
        except CursorLost:
            raise
        except McpFailed as failed:
            if number == 1:
                raise
            # Confirmed tools may stand on the other pages: the list says that it is not whole, and is not kept.
            return Listing(said, 0, f"{failed}, asked for page {number} of its tools")
        for one in page["tools"]:
            room -= _add(said, one, room)
        fresh = min(fresh, _fresh_seconds(page))
        cursor = page.get("nextCursor")
        is_last = cursor in (None, "", {})  # an empty one ends the list for many servers
        if is_last or len(said) >= 2 * MAX_TOOLS:
            more = None if is_last else f"listed more than {len(said)} tools"
            return Listing(said, fresh, more)
        if not isinstance(cursor, str) or len(cursor) > MAX_CURSOR_CHARS or cursor in cursors:
            return Listing(said, fresh, "gave a cursor that leads to no further page")
        cursors.append(cursor)
    return Listing(said, fresh, f"listed its tools on more than {MAX_PAGES} pages")


def _add(said: dict[str, Mapping[str, Any] | LeftOut], one: Any, room: int) -> int:
    """Adds a tool as the server describes it, and returns the bytes that are kept of it, at most `room`. A tool
    whose name cannot be used takes the place of no other.
    """
    name = one.name if isinstance(one, LeftOut) else one.get("name") if isinstance(one, dict) else None
    place = f"(tool {len(said) + 1})"
    if not isinstance(name, str) or not name:
        said[place] = LeftOut(place, "It has no name that is a text.")
    elif len(name) > MAX_TOOL_NAME_CHARS or not name.isprintable():
        said[f"{name[:100]} {place}"] = LeftOut(name, "Its name cannot be used.")
    elif name in said:
        old = said[name]
        if isinstance(old, LeftOut) or isinstance(one, LeftOut) or pin_of(old) != pin_of(one):
            said[name] = LeftOut(name, TWICE)
    elif isinstance(one, LeftOut):
        said[name] = one
    else:
        size, is_left_out = len(json.dumps(one)), len(said) >= MAX_TOOLS
        if size <= min(room, MAX_TOOL_BYTES) and not is_left_out:
            said[name] = one
            return size
        said[name] = LeftOut(name, TOO_LONG if size > MAX_TOOL_BYTES else TOO_MANY)
    return 0


def read_tools_apart(text: str) -> Any:
    """The JSON of a page, each tool read by itself if the whole cannot be read: then those that cannot are `LeftOut`.
    Raises NotUnderstood.
    """
    page, at = _read_without("tools", "[]", text)
    if at is not None:
        tools, room = page["result"]["tools"], MAX_LISTING_BYTES
        for _, begin, end in members(text, *at):
            tools.append(_apart(text[begin:end], room))
            room -= 0 if isinstance(tools[-1], LeftOut) else end - begin
    return page


def _apart(text: str, room: int) -> Any:
    if len(text) <= min(MAX_TOOL_TEXT, room):
        try:
            return parse_answer(text)
        except ValueError as wrong:
            is_json = isinstance(wrong, InvalidJson)
            reason = f"What the server says of it is {wrong if is_json else 'not valid JSON'}."
    else:
        reason = TOO_LONG if len(text) > MAX_TOOL_TEXT else TOO_MANY
    names = [text[begin:end] for key, begin, end in members(text, 0, len(text)) if key == '"name"']
    name = json_value(names[-1][: 6 * MAX_TOOL_NAME_CHARS]) if names else None
    return LeftOut(name if isinstance(name, str) else "", reason)


class AsWritten(str):
    """Structured content that could not be stored, such as `NaN`, as the server has written it."""


def read_content_apart(text: str) -> Any:
    """The JSON of a call's answer. If its structured content cannot be read, that is `AsWritten`: the rest counts, and
    the call has run. So it has if the answer has content and, in the rest, a `NaN`, which is read as this word. Raises
    NotUnderstood.
    """
    try:
        answer, at = _read_without("structuredContent", "null", text)
    except NotUnderstood:
        answer, at = _read_without("structuredContent", "null", text, constant=str)
        if value_at(answer, "result", "content") is None:
            raise
    if at is not None:
        answer["result"]["structuredContent"] = AsWritten(text[slice(*at)].strip())
    return answer


def _read_without(name: str, instead: str, text: str, **how: Any) -> tuple[Any, tuple[int, int] | None]:
    """The JSON of an answer, and None. If it cannot be read: with `instead` for the member `name` of its result,
    and where that member begins and ends in the text. `how`: as of `json_value`. Raises NotUnderstood.
    """
    try:
        return json_value(text, **how), None
    except NotUnderstood:
        begin, end = 0, len(text)
        for each in ("result", name):
            found = [place for key, *place in members(text, begin, end) if key == f'"{each}"']
            if not found:
                raise
            begin, end = found[-1]
    answer = json_value(f"{text[:begin]}{instead}{text[end:]}")
    is_there = isinstance(answer, dict) and isinstance(answer.get("result"), dict)
    return answer, (begin, end) if is_there else None


_MARKS = re.compile(r'["\[\]{},:]')


def members(text: str, begin: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The members of the JSON object or list in this part of a text: each one's key as it is written, empty in a list,
    and where its value begins and ends. Nothing is built, and the work is linear.
    """
    depth, key, start, is_string = 0, "", begin, False
    # Without `\\\\` and `\\"` each `"` begins or ends a string (as in `refuse_oversize`). All else keeps its place.
    for found in _MARKS.finditer(text[begin:end].replace("\\\\", "__").replace('\\"', "__")):
        mark, at = found[0], begin + found.start()
        if mark == '"':
            is_string = not is_string
        elif is_string:
            continue
        elif mark in "[{":
            depth += 1
            start = at + 1 if depth == 1 else start
        elif mark == ":" and depth == 1:
            key, start = text[start:at].strip(), at + 1
        elif mark in ",]}":
            if depth == 1 and text[start:at].strip():
                yield key, start, at
                key, start = "", at + 1
            depth -= mark != ","


def _fresh_seconds(page: Mapping[str, Any]) -> float:
    ttl = page.get("ttlMs")
    if isinstance(ttl, bool) or not isinstance(ttl, int | float):
        return USUAL_FRESH_SECONDS if page.get("resultType") is None else 0
    return min(max(ttl, 0), MAX_FRESH_SECONDS * 1_000) / 1_000


def _listed(name: str, said: Mapping[str, Any] | LeftOut) -> ListedTool:
    """Whatever is wrong with a tool, it is this tool that cannot be had."""
    if not isinstance(said, LeftOut):
        try:
            return _looked_at(name, said)
        except Exception:  # a schema can break what checks schemas in many ways
            said = LeftOut(name, "Its description or its schema cannot be read.")
    pin = pin_of({"name": said.name, "description": said.reason})
    return ListedTool(name, "", "", {}, {}, pin, reads=False, unusable=said.reason)


def _looked_at(name: str, described: Mapping[str, Any]) -> ListedTool:
    schema, annotations = described.get("inputSchema"), described.get("annotations")
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
    if len(tool.description) > MAX_DESCRIPTION_CHARS:
        return tool._replace(description=tool.description[:1_000], input_schema={}, unusable=TOO_LONG)
    execution = described.get("execution")
    if isinstance(execution, dict) and execution.get("taskSupport") == "required":
        return tool._replace(unusable="It runs as a task alone, as of 2025-11-25, which Acta does not offer.")
    try:
        paths = header_paths(schema)
        unusable = schema_problem(schema)
        if unusable is None and offered_schema(schema) is None:
            unusable = NOT_OFFERED
    except BadHeaders as bad:
        return tool._replace(unusable=f"Its schema breaks a rule of MCP: {bad}.")
    output, checked = described.get("outputSchema"), None
    with suppress(Exception):  # what breaks the check is not checked
        checked = output if isinstance(output, dict) and schema_problem(output) is None else None
    return tool._replace(unusable=unusable, paths=paths, output_schema=checked)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


MAX_RESULT_CHARS = 4_194_304
LOOK_SECONDS = 30
"""The most seconds for asking a server what has come of its task."""
MAX_ROUNDS = 5
"""The most times that a call is sent again at once because its server asks for nothing but that."""
CAPABILITIES: Mapping[str, Any] = {"elicitation": {"form": {}, "url": {}}}
"""What servers are told that Acta does for them."""
WITH_TASKS: Mapping[str, Any] = {**CAPABILITIES, "extensions": {TASKS: {}}}
"""The same where a session waits for the server's task."""


class McpServers:
    """`guard`: says which URLs may be called. `secrets`, `known`: as for http tools."""

    def __init__(self, guard: AddressGuard, secrets: Secrets, known: Known) -> None:
        self._guard = guard
        self._secrets = secrets
        self._known = known
        self.eras = ProcessCache[Era](MAX_SERVERS_KNOWN)
        self._tokens = TokenCache(guard)
        self._listings = ProcessCache[Listing](MAX_KEPT)
        """By tenant and write of the server, because a list is for one caller alone."""

    def list_tools(self, tenant: str, connection: McpConnection, seconds: float) -> Listing:
        """What the server says now. Raises McpFailed, and what a call raises for want of its secret."""
        used = _Used(self, tenant, connection)
        with used.exchange(seconds) as exchange:
            listing = read_listing(exchange)
        self._listings.keep(used.key, listing, listing.fresh_seconds)
        return listing

    def tokens_from(self, connection: McpConnection, failed: McpFailed, deadline: float) -> str:
        """After a server has refused: what to tell an admin about where its tokens come from. These are the token
        endpoints that its metadata name, unless the definition has one of them. No credential is sent. Empty: there is
        nothing to say.
        """
        client = None if connection.auth is None else connection.auth.client_credentials
        is_refused = isinstance(failed, HttpRefused) and failed.status == 401
        if not is_refused and not isinstance(failed, NoToken):
            return ""
        challenge = failed.challenge if isinstance(failed, HttpRefused) else ""
        try:
            found = named_endpoints(self._guard, connection.url, challenge, deadline)
        except McpFailed:
            return ""
        if not found or (client is not None and client.token_url in (one.token_url for one in found)):
            return ""
        others = f"The definition has {client.token_url}, which alone gets the secret. " if client else ""
        return (
            f"{others}The server's metadata name: {'; '.join(map(_shown_endpoint, found))}. If you trust it with the "
            "client's secret, put the server again with it as auth.client_credentials.token_url."
        )

    def run(self, tool: McpTool, arguments: Mapping[str, Any], context: CallContext) -> OutsideText:
        """Raises ToolFailed, ToolAsks, ToolWaits, ToolUnanswered, ToolNotRun."""
        used = _Used(self, context.tenant, tool.connection, tool.name)
        offered = WITH_TASKS if context.takes_tasks else CAPABILITIES
        with used.exchange(context.deadline_seconds, offered) as exchange:
            listed = self._confirmed(tool, used, exchange)
            result = self._called(tool, listed, arguments, context, used, exchange)
        with _reading_of(tool, used):
            if context.takes_tasks and result.get("resultType") == "task":
                raise ToolWaits(begun_task(result))
            self._ask(tool, result)
            return self._result(tool, listed, result, used)

    def look(self, tool: ToolSpec, context: CallContext, task: ServerTask) -> OutsideText:
        """As `ServerTasks.look`. What was confirmed is not compared: the call was made with it."""
        assert isinstance(tool, McpTool)
        used = _Used(self, context.tenant, tool.connection, tool.name)
        seconds = min(context.deadline_seconds, LOOK_SECONDS)
        is_told = False
        try:
            with used.exchange(seconds, WITH_TASKS) as exchange:
                if context.answered is not None:
                    answers = context.answered.responses or {}
                    exchange.stateless(task_request(UPDATE_TASK, task.task_id, inputResponses=answers))
                is_told = True
                told = exchange.stateless(task_request(GET_TASK, task.task_id))
                listed = None  # where the list cannot be had, or has another tool by now
                if "result" in told:
                    with suppress(ToolFailed):
                        listed = self._confirmed(tool, used, exchange)
        except (McpFailed, ToolFailed) as failed:
            if isinstance(failed, RpcRefused) and failed.code in (INVALID_PARAMS, METHOD_NOT_FOUND):
                raise ToolUnanswered("the server of a tool knows a task no more") from None
            # the server, or its credentials, may be there with the next look
            raise ToolWaits(TaskNews(task.task_id, is_told=is_told)) from None
        with _reading_of(tool, used):
            match told.get("status"):
                case "completed" if isinstance(told.get("result"), Mapping):
                    return self._result(tool, listed, told["result"], used)
                case "failed":
                    raise _failed(tool, RpcRefused(told.get("error")), used)
                case "cancelled":
                    raise ToolFailed(f"{tool.name} was cancelled by its server. It may have had an effect.")
                case "input_required":
                    self._ask_in_task(tool, context, task, told)
            raise ToolWaits(TaskNews(task.task_id, interval_of(told)))

    def end(self, tool: ToolSpec, context: CallContext, task_id: str) -> None:
        """As `ServerTasks.end`."""
        assert isinstance(tool, McpTool)
        used = _Used(self, context.tenant, tool.connection, tool.name)
        try:
            with used.exchange(context.deadline_seconds, WITH_TASKS) as exchange:
                exchange.stateless(task_request(CANCEL_TASK, task_id))
        except McpFailed as failed:
            raise ToolFailed(f"{tool.name}: the server of a task {failed}.") from None

    def _ask_in_task(
        self, tool: McpTool, context: CallContext, task: ServerTask, told: Mapping[str, Any]
    ) -> None:
        """Asks what was not answered yet: a server shows a question until it has taken the answer in. Raises ToolAsks,
        and ToolFailed where nobody can give what it asks for; the server is then told to stop.
        """
        now = context.answered.responses or {} if context.answered is not None else {}
        requests = told.get("inputRequests")
        shown = requests.items() if isinstance(requests, Mapping) else ()
        new = {key: one for key, one in shown if key not in task.answered and key not in now}
        if new:
            try:
                self._ask(tool, {"resultType": "input_required", "inputRequests": new})
            except ToolFailed:
                with suppress(ToolFailed, ToolNotRun):
                    self.end(tool, context, task.task_id)
                raise

    def _result(
        self, tool: McpTool, listed: ListedTool | None, result: Mapping[str, Any], used: "_Used"
    ) -> OutsideText:
        """`listed` None: nobody knows what structured content it promises. Raises ToolFailed, NotUnderstood."""
        text = used.hidden(text_of(result))
        if (result.get("resultType") or "complete") != "complete":
            raise NotUnderstood("answered with something that Acta cannot go on with")
        if result.get("isError") not in NO_ERROR:
            raise ToolFailed(f"{tool.name} failed.", OutsideText("answer", tool.name, text or NOTHING))
        if listed is not None and listed.output_schema is not None and unfit(listed.output_schema, result):
            why = "its answer is not what its server says that it gives (outputSchema). Do not rely on it."
            said = OutsideText("answer", tool.name, text[:MAX_RESULT_CHARS] or NOTHING)
            raise ToolFailed(f"{tool.name} has run, but {why}", said)
        if len(text) > MAX_RESULT_CHARS:
            raise ToolFailed(f"{tool.name} answered with too much. {tool.large_answer_hint}")
        return OutsideText("answer", tool.name, text, note="" if text.strip() else NOTHING)

    def _ask(self, tool: McpTool, result: Mapping[str, Any]) -> None:
        """Raises ToolAsks where the server needs a person's answers, and ToolFailed where it asks for what nobody can
        give it here.
        """
        try:
            question = question_of(result)
        except CannotAsk as cannot:
            raise ToolFailed(f"{tool.name} did not go on: its server {cannot}. Try another way.") from None
        if question is not None:
            raise ToolAsks(tool.name, question)

    def _confirmed(self, tool: McpTool, used: "_Used", exchange: McpExchange) -> ListedTool:
        """The tool as its server lists it. Raises ToolFailed where that is not what was confirmed; nothing ran."""
        # Without its era the call could be what finds out: a refusal may have had an effect, and would not show it.
        listing = self._listings.get(used.key) if self.eras.get(tool.connection.url) else None
        if listing is None:
            try:
                listing = read_listing(exchange)
            except McpFailed as failed:
                raise _not_called(tool, failed, used) from None
            self._listings.keep(used.key, listing, listing.fresh_seconds)
        listed = listing.tool(tool.tool)
        if listed is None and listing.broken:
            read = f"{listing.broken}, and it is not among those that could be read"
            why = f"{read}. Try again later, or go on without it."
        elif listed is None:
            why = "has no such tool any more. Tell the user, or try another way."
        elif listed.pin != tool.pin or listed.unusable is not None:
            why = (
                "describes the tool otherwise now than when an admin confirmed it. An admin has to look at it and "
                f"confirm it anew (POST /v1/mcp-servers/{tool.connection.server}/refresh). Tell the user, or try "
                "another way."
            )
        else:
            return listed
        raise ToolFailed(f"{tool.name} was not called: its server {why}")

    def _called(
        self,
        tool: McpTool,
        listed: ListedTool,
        arguments: Mapping[str, Any],
        context: CallContext,
        used: "_Used",
        exchange: McpExchange,
    ) -> Mapping[str, Any]:
        try:
            headers = {"Idempotency-Key": context.effect_id, **param_headers(listed.paths, arguments)}
        except BadHeaders as bad:
            raise ToolFailed(f"{tool.name} was not called: {bad}. Send a smaller value.") from None
        params: dict[str, Any] = {
            "name": tool.tool,
            "arguments": dict(arguments),
            "_meta": {EFFECT_ID: context.effect_id},
        }
        if context.answered is not None:  # it is sent again, once its server's question is answered
            params["inputResponses"] = context.answered.responses or {}
            if context.answered.state is not None:
                params["requestState"] = context.answered.state
        call = RpcCall(CALL_TOOL, params, tool.tool, headers, tool.effect != "once", read_content_apart)
        try:
            for _ in range(MAX_ROUNDS):
                with _reading():
                    result = exchange.request(call._replace(params=params))
                asks, state = result.get("resultType") == "input_required", result.get("requestState")
                if not asks or result.get("inputRequests") or not isinstance(state, str):
                    break
                params = {**params, "requestState": state}
                params.pop("inputResponses", None)
            return result
        except McpFailed as failed:
            if isinstance(failed, RpcRefused) and failed.code == HEADER_MISMATCH:
                self._listings.forget(used.key)  # the next call reads the list anew
            raise _failed(tool, failed, used) from None


class _Used:
    """A server as one operation uses it: under which key its list is kept, and what it is sent with."""

    def __init__(self, servers: McpServers, tenant: str, connection: McpConnection, tool: str = "") -> None:
        self._servers = servers
        self._tenant = tenant
        self._connection = connection
        self._name = tool or f"The MCP server {connection.server}"
        self._values: dict[str, str] = {}
        self.key = (tenant, connection.server, connection.model_dump_json())

    def exchange(self, seconds: float, capabilities: Mapping[str, Any] = CAPABILITIES) -> McpExchange:
        servers, url, deadline = self._servers, self._connection.url, time.monotonic() + seconds
        return McpExchange(servers._guard, url, self._authorize, deadline, servers.eras, capabilities)

    def hidden(self, text: str) -> str:
        """The text without the values of secrets."""
        return Credentials({}, self._values).hidden(text)

    def _authorize(self, refused: HttpAnswer | None, deadline: float) -> Mapping[str, str]:
        """As `Authorize`: the header with the secret, or with the token that it buys. A value that was refused is not
        sent again. Raises ToolFailed, ToolNotRun.
        """
        servers, auth, whose = self._servers, self._connection.auth, (self._tenant, self._connection.server)
        if refused is not None:
            servers._tokens.forget(*whose)
        if auth is None or (refused is not None and auth.client_credentials is None):
            return {}
        url, headers = auth.secret_sent_to(self._connection.url), {"Authorization": auth.secret_name}
        config = HttpConfig(url=url, method="POST", secret_headers=headers)
        try:  # also where a token is kept: it is used no longer than the secret that bought it
            found = credentials_of(self._name, config, servers._secrets, servers._known, self._tenant)
        except ToolFailed:
            servers._tokens.forget(*whose)
            raise
        self._values.update(found.values)
        if auth.client_credentials is None:
            return found.headers
        secret = found.headers["Authorization"]
        token = servers._tokens.token(self._tenant, self._connection, secret, deadline)
        self._values["access token"] = token
        return {"Authorization": f"Bearer {token}"}


def _shown_endpoint(one: NamedEndpoint) -> str:
    scope = f", scope {one.scope}" if one.scope else ""
    return f"{one.token_url} of the issuer {one.issuer[:500]} ({one.auth_method}{scope})"


@contextmanager
def _reading_of(tool: McpTool, used: _Used) -> Iterator[None]:
    """`_reading` for the answer to a call. Raises what `_failed` makes of an answer that cannot be read."""
    try:
        with _reading():
            yield
    except NotUnderstood as failed:
        raise _failed(tool, failed, used) from None


def _not_called(tool: McpTool, failed: McpFailed, used: _Used) -> ToolFailed:
    """The call was not sent, so this holds for a tool of any effect."""
    said = f"{tool.name} was not called: its server {failed}. Try again later, or go on without it."
    return ToolFailed(said, _said(tool, failed, used))


def _failed(tool: McpTool, failed: McpFailed, used: _Used) -> ToolFailed | ToolUnanswered:
    """What a call has come to. If the server's answer cannot be read, or never came to whoever answers here, the call
    may have had its effect: about a tool whose effect is `once` a person is asked, and the model is told of it for any
    other that does more than read.
    """
    if isinstance(failed, NotReached):
        return _not_called(tool, failed, used)
    if isinstance(failed, NotAnswered):
        if tool.effect == "read":
            return ToolFailed(f"{tool.name} did not answer in time. Try again later, or go on without it.")
        return ToolUnanswered("a tool of kind mcp did not answer")
    if isinstance(failed, TooMuch):
        return ToolFailed(f"{tool.name} {failed}. {tool.large_answer_hint}")
    if failed.is_lost and tool.effect == "once":
        return ToolUnanswered("the answer of a tool of kind mcp cannot be read")
    if failed.is_lost and tool.effect != "read":
        return ToolFailed(f"{tool.name} {failed}. It may have had its effect: look before you do it again.")
    hint = ""
    if isinstance(failed, HttpRefused) and failed.status in (401, 403):
        hint = " An admin has to look at the credentials of its server."
    return ToolFailed(f"{tool.name} {failed}.{hint} Try another way.", _said(tool, failed, used))


def _said(tool: McpTool, failed: McpFailed, used: _Used) -> OutsideText | None:
    return OutsideText("answer", tool.name, used.hidden(failed.said)) if failed.said.strip() else None


MAX_CONTENTS = 500
NOTHING = "[the tool answered with nothing]"
NO_ERROR = (None, False, 0, "", "false", "False")
"""How servers write that a call did not fail. Whatever else they say in `isError` is a failure."""
_ABOUT_RESULT = ("resultType", "isError", "_meta")


def text_of(result: Mapping[str, Any]) -> str:
    """`result`: of a `tools/call`."""
    contents, structured = result.get("content"), result.get("structuredContent")
    if contents is None and structured is None:  # an older or another protocol's result
        rest = {name: value for name, value in result.items() if name not in _ABOUT_RESULT}
        return written_exactly(rest) if any(value is not None for value in rest.values()) else ""
    listed = contents if isinstance(contents, list) else [] if contents is None else [contents]
    parts = [_part(one) for one in listed[:MAX_CONTENTS]]
    if len(listed) > MAX_CONTENTS:
        parts.append(f"[{len(listed) - MAX_CONTENTS} further parts were left out]")
    if structured is not None and not _repeats(structured, listed):
        parts.append(structured if isinstance(structured, AsWritten) else written_exactly(structured))
    return "\n".join(part for part in parts if part)


def unfit(schema: Mapping[str, Any], result: Mapping[str, Any]) -> bool:
    """Whether structured content is not what the server says of it (`outputSchema`), or is missing. A `null` for what
    may be absent is not held against it, nor what cannot be read or not be checked in a limited amount of work.
    """
    from acta.engine.tools.schema import bent, errors_of  # few tools have such a schema

    if "structuredContent" not in result:
        return True
    content = result["structuredContent"]
    try:
        promised = json.dumps(schema, sort_keys=True)
        is_unread = isinstance(content, AsWritten)
        return not is_unread and bool(errors_of(promised, bent(promised, content, texts=False)))
    except Exception:  # too much work, or numbers at which the validator itself fails
        return False


def _part(content: Any) -> str:
    match content:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "image" | "audio" as kind, "data": str(data)}:
            return f"[{kind}{_of_type(content.get('mimeType'))}, about {len(data) * 3 // 4} bytes: it cannot be shown]"
        case {"type": "resource", "resource": {"text": str(text), **resource}}:
            return f"[resource {_short(resource.get('uri'))}]\n{text}"
        case {"type": "resource", "resource": {"blob": str(data), **resource}}:
            return f"[resource {_short(resource.get('uri'))}{_blob(data, resource.get('mimeType'))}"
        case {"type": "resource_link", "uri": str(uri)}:
            return (
                f"[link to the resource {_short(uri)}{_of_type(content.get('mimeType'))}: it was not opened]"
            )
        case str(text):
            return text
        case {"type": str(kind)} if kind != "text":
            return f"[content of the kind {_short(kind)}: it cannot be shown]"
        case None | {"type": "text", "text": None}:
            return ""
        case _:
            return written_exactly(content)


def _blob(data: str, kind: Any) -> str:
    """A text where the bytes are one, after the end of the line that names the resource."""
    try:
        read = decoded(base64.b64decode(data), label_in(kind if isinstance(kind, str) else ""))
    except ValueError as other:  # NotText, or no base64
        what = other if isinstance(other, NotText) else "no valid base64"
        return f"{_of_type(kind)}, {what}, about {len(data) * 3 // 4} bytes: it cannot be shown]"
    return "\n".join(["]", *([read.note] if read.note else []), read.text])


def _of_type(kind: Any) -> str:
    return f" of type {_short(kind)}" if isinstance(kind, str) else ""


def _short(text: Any) -> str:
    shown = " ".join(str(text).split())
    return shown if len(shown) <= 200 else f"{shown[:199]}…"


def _repeats(structured: Any, contents: list[Any]) -> bool:
    """Whether a text has the structured content already, as the specification asks servers to have it."""
    for one in contents[:MAX_CONTENTS]:
        if isinstance(one, dict) and one.get("type") == "text" and isinstance(one.get("text"), str):
            try:
                if json.loads(one["text"]) == structured:
                    return True
            except (ValueError, RecursionError):
                continue
    return False


MAX_REQUESTS = 5
MAX_FIELDS = 20
MAX_MESSAGE_CHARS = 2_000
MAX_BYTES = 8_192
"""The most bytes of all requests together: they are part of the head until somebody has answered."""
MAX_STATE_CHARS = 8_192
_PRIMITIVES = frozenset(("string", "number", "integer", "boolean", "array"))


class CannotAsk(Exception):
    """The message says what the server asks for, a sentence's end."""


def question_of(result: Mapping[str, Any]) -> ToolQuestion | None:
    """None: the result is no question. Without requests it is to be sent again at once. Raises CannotAsk."""
    if result.get("resultType") != "input_required":
        return None
    requests, state = result.get("inputRequests") or {}, result.get("requestState")
    if not isinstance(requests, dict) or len(requests) > MAX_REQUESTS:
        raise CannotAsk(f"asks for more than {MAX_REQUESTS} things at once")
    if state is not None and (not isinstance(state, str) or len(state) > MAX_STATE_CHARS):
        raise CannotAsk(f"gave a state of more than {MAX_STATE_CHARS} characters")
    if not requests and state is None:
        raise CannotAsk("asks for input and does not say for which")
    asked = {str(key)[:200]: _request(one) for key, one in requests.items()}
    if len(json.dumps(asked)) > MAX_BYTES:
        raise CannotAsk("asks for too much at once")
    return ToolQuestion(requests=asked, state=state)


def _request(request: Any) -> dict[str, Any]:
    match request:
        case {"method": "elicitation/create", "params": {"message": str(message), **params}}:
            asked: dict[str, Any] = {"message": message[:MAX_MESSAGE_CHARS]}
        case _:
            raise CannotAsk("asks for what only a model or a client on somebody's machine could give")
    if params.get("mode", "form") == "form":
        return asked | {"schema": _form(params.get("requestedSchema"))}
    url = params.get("url")
    if params.get("mode") != "url" or not isinstance(url, str) or not 0 < len(url) <= MAX_URL_CHARS:
        raise CannotAsk("asks in a way that Acta does not know")
    return asked | {"url": url}


def _form(schema: Any) -> dict[str, Any]:
    properties = schema.get("properties") if isinstance(schema, dict) else None
    if not isinstance(properties, dict) or len(properties) > MAX_FIELDS:
        raise CannotAsk(f"asks with a form that has no fields, or more than {MAX_FIELDS}")
    kinds = [one.get("type") if isinstance(one, dict) else None for one in properties.values()]
    if not all(isinstance(kind, str) and kind in _PRIMITIVES for kind in kinds):
        raise CannotAsk("asks with a form that has fields within fields")
    required = schema.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return {"type": "object", "properties": properties, "required": names}


GET_TASK, UPDATE_TASK, CANCEL_TASK = "tasks/get", "tasks/update", "tasks/cancel"


def begun_task(result: Mapping[str, Any]) -> TaskNews:
    """The task that a call was answered with. Raises NotUnderstood where it cannot be looked for."""
    task_id = result.get("taskId")
    if not isinstance(task_id, str) or not 0 < len(task_id) <= MAX_TASK_ID_CHARS:
        raise NotUnderstood("has begun, and gave no name under which Acta could ask what comes of it")
    return TaskNews(task_id, interval_of(result))


def interval_of(task: Mapping[str, Any]) -> float | None:
    """The seconds that the server wants between two looks; None: it says nothing."""
    given = task.get("pollIntervalMs")
    if not isinstance(given, int | float) or isinstance(given, bool) or not 0 <= given <= 86_400_000:
        return None
    return given / 1_000


def task_request(method: str, task_id: str, **more: Any) -> RpcCall:
    return RpcCall(method, {"taskId": task_id, **more}, task_id)

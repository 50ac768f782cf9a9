"""Requests to one MCP server, as one operation makes them: a listing, or a call; and what goes over the wire.

Messages are JSON-RPC, and headers repeat some of what they say. There are two eras of the protocol (MCP 2026-07-28,
Streamable HTTP, Versioning; 2025-11-25, transports, lifecycle). The newer one is stateless, with neither a handshake
nor a session: each request says all there is to know. It is tried first, and the refusal of an older server leads to a
handshake ("Backward compatibility"). A process remembers the era of each server. A server that has forgotten its
session gets another handshake, and the request again where that can do no harm (ADR 174).

A server may want to see arguments in headers, too: properties of its schema with `x-mcp-header` (2026-07-28, "Custom
headers from tool parameters"). Event streams are those of WHATWG HTML, Server-sent events.

Hosts are held to the operator's list at each request and redirect. No header with a credential goes to another origin
than the server's.

    McpFailed
    ├── NotReached      nothing was sent, or the server refused it before it read it
    ├── NotAnswered     the request may have arrived, and no answer came
    ├── HttpRefused     a status that is no answer of MCP
    ├── RpcRefused      the server's own error
    └── NotUnderstood   an answer that is not MCP's
        └── TooMuch     an answer that is larger than Acta takes
"""

import base64
import json
import math
import re
import secrets
import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Self, TypeVar
from urllib.parse import urljoin

from acta.engine.egress.address import AddressGuard, AddressRefused, Target
from acta.engine.egress.exchange import (
    EVENT_STREAM,
    MAX_BYTES,
    AnswerTooLarge,
    HttpAnswer,
    NoAnswer,
    NotSent,
    Watch,
    exchange,
)
from acta.engine.untrusted.encodings import NotText
from acta.engine.untrusted.exact_json import InvalidJson, parse_answer, value_at

STATELESS = "2026-07-28"
WITH_HANDSHAKE = "2025-11-25"
"""The version that is asked for where a server knows only those that begin with a handshake."""
VERSIONS_WITH_HANDSHAKE = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Those that a server may choose instead. What is used of them is the same, but 2025-03-26 may answer in batches."""
VERSION_HEADER_SINCE = "2025-06-18"
"""Older revisions do not know the header `MCP-Protocol-Version`, so their servers do not get it."""
MAX_SESSIONS = 3
"""The most handshakes of one operation with a server that forgets its sessions."""
Era = Literal["stateless", "with_handshake"]
T = TypeVar("T")

ACCEPT = "application/json, text/event-stream"
CLIENT: Mapping[str, str] = {"name": "acta", "version": "1"}
EFFECT_ID = "acta.agent/effect-id"
"""Under this name `_meta` of a call has its idempotency key, as the header `Idempotency-Key` has."""
_META = "io.modelcontextprotocol/"
TASKS = f"{_META}tasks"
"""The extension by which a server may work on a call by itself."""

HEADER_MISMATCH, CAPABILITY_MISSING, VERSION_UNSUPPORTED = -32020, -32021, -32022
STATELESS_ERRORS = frozenset((HEADER_MISMATCH, CAPABILITY_MISSING, VERSION_UNSUPPORTED))
"""Codes that only a server of the stateless version answers with."""
METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602
INVALID_REQUEST, SESSION_NOT_FOUND = -32600, -32001
"""Codes with which servers say that they know no such session. The SDKs use the latter for a timeout, too."""
CONNECTION_CLOSED = -32000
"""The SDKs' code for a server behind that went away. With a status of 400 servers refuse a request by it."""

Message = Mapping[str, Any]


class RpcCall(NamedTuple):
    """A request. `name`: the tool's name or the task's id, which a header repeats. `headers`: additional headers.
    `may_repeat` False: it is made again only if the server has not read it. `read`: from an answer's text to its
    messages, None for the usual way.
    """

    method: str
    params: Mapping[str, Any]
    name: str | None = None
    headers: Mapping[str, str] = {}
    may_repeat: bool = True
    read: Callable[[str], Any] | None = None


def reply_to(request: Mapping[str, Any]) -> bytes:
    """The answer to a request that a server with a handshake makes while it answers ours: it may ask whether we are
    there, and nothing else was offered to it.
    """
    error = {"code": METHOD_NOT_FOUND, "message": "This client does not do that."}
    said: Message = {"result": {}} if request.get("method") == "ping" else {"error": error}
    return json.dumps({"jsonrpc": "2.0", "id": request.get("id"), **said}).encode()


def header_text(value: str) -> str:
    """The value as a header may have it: as it is, or in base64 between markers where it is not plain ASCII, has spaces
    at its ends, or looks like such a marker itself.
    """
    plain = value.isascii() and value.isprintable() and value == value.strip(" ")
    if plain and value and not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


class EventReader:
    """`last_id` and `retry_ms`: what the stream has said of how to come back to it."""

    def __init__(self) -> None:
        self.last_id = ""
        self.retry_ms: int | None = None
        self._rest: list[bytes] = []
        self._data: list[str] = []
        self._ended_with_return = False

    def feed(self, chunk: bytes) -> list[str]:
        """The data of each event that these bytes complete. Lines end with LF, CR or both. All work is linear in the
        stream.
        """
        if self._ended_with_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        self._ended_with_return = chunk.endswith(b"\r")
        first, *others = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest.append(first)
        if not others:
            return []
        lines = [b"".join(self._rest), *others[:-1]]
        self._rest = [others[-1]]
        found = [self._line(line.decode("utf-8", "replace")) for line in lines]
        return [data for data in found if data is not None]

    def _line(self, line: str) -> str | None:
        if not line:
            data, self._data = self._data, []
            return "\n".join(data) if data else None
        field, _, value = line.removeprefix("\ufeff").partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self.last_id = value
        elif field == "retry" and value.isascii() and value.isdigit():
            self.retry_ms = int(value[:9])
        return None


MARK = "x-mcp-header"
PREFIX = "Mcp-Param-"
MAX_HEADERS = 16
MAX_VALUE_CHARS = 2_000
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}")
_PRIMITIVE = ("string", "integer", "boolean")
_SAFE_INTEGER = 2**53 - 1

Paths = Mapping[tuple[str, ...], str]
"""From a property's place to the name in its header."""


class BadHeaders(Exception):
    """The schema's marks break the specification's rules. The message is for an admin."""


def header_paths(schema: Mapping[str, Any]) -> Paths:
    """Raises BadHeaders."""
    found: dict[tuple[str, ...], str] = {}
    for path, marked in _marked(schema):
        if not path:
            raise BadHeaders(f"{MARK} stands where a header cannot be taken from")
        name = marked[MARK]
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise BadHeaders(f"{MARK} is no name that a header may have")
        if marked.get("type") not in _PRIMITIVE:
            raise BadHeaders(f"{MARK} is for a text, an integer or a boolean alone")
        found[path] = name
    if len({name.lower() for name in found.values()}) < len(found):
        raise BadHeaders(f"two properties have the same {MARK}")
    if len(found) > MAX_HEADERS:
        raise BadHeaders(f"more than {MAX_HEADERS} properties have {MARK}")
    return found


def param_headers(paths: Paths, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Raises BadHeaders for a value that no header can carry."""
    headers = {}
    for path, name in paths.items():
        value = value_at(arguments, *path)
        if value is None:
            continue
        text = _text(value)
        if text is None or len(text) > MAX_VALUE_CHARS:
            raise BadHeaders(f"{'.'.join(path)} is too large for the header that the server wants it in")
        headers[f"{PREFIX}{name}"] = header_text(text)
    return headers


def _text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) <= _SAFE_INTEGER else None
    if isinstance(value, float) and value.is_integer() and abs(value) <= _SAFE_INTEGER:
        return str(int(value))
    return value if isinstance(value, str) else None


def _marked(schema: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Every schema with the mark, wherever it is, and its path from property to property; empty if `properties` alone
    do not lead there. A property that merely has the mark's name is no mark.
    """
    waiting: list[tuple[Any, tuple[str, ...] | None, bool]] = [(schema, (), True)]
    while waiting:
        item, path, is_schema = waiting.pop()
        if isinstance(item, list):
            waiting += [(below, None, True) for below in item]
        if not isinstance(item, Mapping):
            continue
        if not is_schema:
            waiting += [
                (below, None if path is None else (*path, name), True) for name, below in item.items()
            ]
            continue
        if MARK in item:
            yield path or (), item
        for key, below in item.items():
            if key not in ("const", "enum", "default", "examples"):
                is_named = key in ("properties", "$defs", "definitions", "patternProperties")
                waiting.append((below, path if key == "properties" else None, not is_named))


LIST_TOOLS, CALL_TOOL = "tools/list", "tools/call"
MAX_REDIRECTS = 3
LONGEST_RETRY_SECONDS = 30
USUAL_RETRY_SECONDS = 1.0
"""The wait before a broken stream is asked for again, if the stream has not said how long to wait."""
MAX_RESUMES = 5
MAX_ANSWER_BYTES = 12_582_912
"""The most bytes of an answer with all its messages. One message has `MAX_BYTES`, unless it lists tools."""
GOODBYE_SECONDS = 2
SHOWN_BYTES = 1_000

Authorize = Callable[[HttpAnswer | None, float], Mapping[str, str]]
"""Returns the headers that prove who we are. Its first argument is None for a first try, or the answer (401) that
refused the former ones; then it may have none that are better. The second is the deadline (`time.monotonic`)."""


class McpFailed(Exception):
    """No result. The message is a sentence of Acta's without a subject, in the past."""

    said = ""
    """The beginning of what the server itself says of its failure."""
    is_lost = False
    """Whether the request may have had its effect, although what came in answer is none."""


class NotReached(McpFailed):
    pass


class NotAnswered(McpFailed):
    is_lost = True


class NotUnderstood(McpFailed):
    is_lost = True


class TooMuch(NotUnderstood):
    pass


class HttpRefused(McpFailed):
    """`challenge`: the answer's header `WWW-Authenticate`."""

    def __init__(self, status: int, said: str, challenge: str = "", is_lost: bool = False) -> None:
        super().__init__(f"answered with status {status}")
        self.status = status
        self.said = said
        self.challenge = challenge
        self.is_lost = is_lost


class RpcRefused(McpFailed):
    """`error`: as the server gave it. `supported`: the versions that it names. `status`: of the HTTP answer.
    `names_request`: the error has the request's id.
    """

    def __init__(self, error: Any, status: int = 200, names_request: bool = True) -> None:
        given = error if isinstance(error, dict) else {"message": error}
        code, said, data = (given.get(name) for name in ("code", "message", "data"))
        self.code = code if isinstance(code, int) and not isinstance(code, bool) else 0
        is_closed, timeouts = self.code == CONNECTION_CLOSED and status < 300, (SESSION_NOT_FOUND, 408)
        self.is_lost = is_closed or self.code in timeouts  # the SDKs' codes for the server behind
        super().__init__(f"answered with error {self.code}")
        self.said = said[:1_000] if isinstance(said, str) else ""
        supported = value_at(data, "supported")
        self.supported: list[Any] = supported if isinstance(supported, list) else []
        self.status = status
        self.names_request = names_request


class SessionsForgotten(NotReached):
    """The server has forgotten each of `MAX_SESSIONS` sessions. `refused`: its last refusal."""

    def __init__(self, refused: HttpRefused | RpcRefused) -> None:
        super().__init__(f"forgot each of {MAX_SESSIONS} sessions at once: it {refused}")
        self.said = refused.said


class CursorLost(McpFailed):
    """The request was for a page, and its cursor belongs to a session that the server has forgotten."""


class ProcessCache(Generic[T]):
    """What a process has found out, by key: at most `most` things. With one more all of them are forgotten."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[Hashable, tuple[T, float]] = {}

    def get(self, key: Hashable) -> T | None:
        found, until = self._kept.get(key, (None, 0.0))
        return found if time.monotonic() < until else None

    def keep(self, key: Hashable, found: T, seconds: float = math.inf) -> None:
        if len(self._kept) >= self._most:
            self._kept.clear()
        self._kept[key] = found, time.monotonic() + seconds

    def forget(self, key: Hashable) -> None:
        self._kept.pop(key, None)


@dataclass(eq=False, repr=False)
class McpExchange:
    """Used as a context: at its end the session of a server with a handshake is closed."""

    guard: AddressGuard
    url: str
    authorize: Authorize
    deadline: float
    """On `time.monotonic`, for all of it."""
    eras: ProcessCache[Era]
    """Which era each server speaks, by URL."""
    capabilities: Mapping[str, Any]
    """What servers of the stateless version are told that Acta does for them."""
    _credentials: Mapping[str, str] | None = field(default=None, init=False)
    _version: str = field(default="", init=False)
    _session: str = field(default="", init=False)
    _sessions: int = field(default=0, init=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._session:
            self.deadline = time.monotonic() + GOODBYE_SECONDS
            with suppress(McpFailed):
                self._send("DELETE", self._session_headers(), None)

    def request(self, call: RpcCall) -> Message:
        """The result. Raises McpFailed, and CursorLost for a page if its cursor belongs to a session that is lost."""
        if self._version:
            return self._in_session(call)
        era = self.eras.get(self.url)
        if era == "with_handshake":
            try:
                self._begin_session()
            except (RpcRefused, HttpRefused):
                self.eras.forget(self.url)  # the next operation finds out again
                raise
            return self._in_session(call)
        try:
            result = self.stateless(call)
        except (RpcRefused, HttpRefused) as refused:
            known = era == "stateless" and (call.method != LIST_TOOLS or "cursor" in call.params)
            if known or not _may_want_a_handshake(refused):
                raise
            try:
                self._initialize()
            except (RpcRefused, HttpRefused, NotUnderstood):
                raise refused from None
            self.eras.keep(self.url, "with_handshake")
            return self._in_session(call)
        self.eras.keep(self.url, "stateless")
        return result

    def stateless(self, call: RpcCall) -> Message:
        """The result, in the newer revision and no other. Raises McpFailed."""
        meta = {
            **call.params.get("_meta", {}),
            f"{_META}protocolVersion": STATELESS,
            f"{_META}clientInfo": CLIENT,
            f"{_META}clientCapabilities": self.capabilities,
        }
        headers = {"MCP-Protocol-Version": STATELESS, "Mcp-Method": call.method, **call.headers}
        if call.name is not None:
            headers["Mcp-Name"] = header_text(call.name)
        call = call._replace(params={**call.params, "_meta": meta}, headers=headers)
        try:
            return self._ask(call)[1]
        except RpcRefused as refused:
            if refused.code != VERSION_UNSUPPORTED or STATELESS not in refused.supported:
                raise
        return self._ask(call)[1]  # the server says that it knows this version after all

    def _in_session(self, call: RpcCall) -> Message:
        while True:
            try:
                return self._ask(call._replace(headers={**self._session_headers(), **call.headers}))[1]
            except (RpcRefused, HttpRefused) as refused:
                if not self._session or not _may_go_again(refused, call.may_repeat):
                    raise
                if self._sessions == MAX_SESSIONS:
                    raise SessionsForgotten(refused) from None
            self._begin_session()
            if "cursor" in call.params:
                raise CursorLost

    def _begin_session(self) -> None:
        """Raises McpFailed. An answer that is missing or cannot be read is NotReached here: no call was sent yet."""
        self._version = self._session = ""
        try:
            self._initialize()
        except McpFailed as failed:
            if not failed.is_lost:
                raise
            raise NotReached(str(failed)) from None

    def _initialize(self, asked: str = WITH_HANDSHAKE) -> None:
        """Asks for the version `asked`. If the server refuses it and names others, asks once more, for the newest of
        them that Acta knows. Raises McpFailed.
        """
        params = {"protocolVersion": asked, "capabilities": {}, "clientInfo": CLIENT}
        try:
            answer, result = self._ask(RpcCall("initialize", params))
        except RpcRefused as refused:
            named = [each for each in VERSIONS_WITH_HANDSHAKE if each in refused.supported]
            if not named or asked != WITH_HANDSHAKE:
                raise
            return self._initialize(named[0])
        version = result.get("protocolVersion")
        if version not in VERSIONS_WITH_HANDSHAKE:
            other = NotReached if isinstance(version, str) else NotUnderstood
            raise other("speaks a version of MCP that Acta does not know")
        session = answer.headers.get("mcp-session-id", "")
        if not session.isascii() or not session.isprintable() or len(session) > 1_000:
            raise NotReached("gave a session id that no header can carry")
        self._version, self._session = version, session
        self._sessions += 1
        initialized = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
        self._send("POST", self._session_headers(), initialized)

    def _session_headers(self) -> dict[str, str]:
        version = {"MCP-Protocol-Version": self._version} if self._version >= VERSION_HEADER_SINCE else {}
        return version | ({"Mcp-Session-Id": self._session} if self._session else {})

    def _ask(self, call: RpcCall) -> tuple[HttpAnswer, Message]:
        """The answer, and the result in it. Raises McpFailed."""
        # A call that is made again gets another id, whichever worker makes it. Some servers keep ids in 32 bits.
        id = secrets.randbits(31)
        request = {"jsonrpc": "2.0", "id": id, "method": call.method, "params": call.params}
        body = json.dumps(request, ensure_ascii=False).encode("utf-8", "replace")
        reader, unread = EventReader(), list[NotUnderstood]()
        found, of_nobody = list[Message](), list[Message]()

        def take(text: str) -> None:
            """A message that names another request is no answer. If no answer comes, such an error says why."""
            value = (call.read or json_value)(text)
            for message in value if isinstance(value, list) else [value]:
                if not isinstance(message, dict):
                    continue
                if "method" in message:
                    if self._version and "id" in message:
                        with suppress(McpFailed):  # a server that needs this answer says so itself
                            self._send("POST", self._session_headers(), reply_to(message))
                elif message.get("id") in (id, str(id)) or (
                    message.get("id") is None and "result" in message
                ):
                    found.append(message)
                elif message.get("error") is not None:
                    of_nobody.append(message)

        def watch(chunk: bytes) -> bool:
            for data in reader.feed(chunk):
                try:
                    take(data)
                except NotUnderstood as failed:  # it may be a log message
                    unread.append(failed)
            return bool(found)

        answer = self._send("POST", call.headers, body, watch)
        if answer.content_type == EVENT_STREAM:
            for _ in range(MAX_RESUMES):
                if found or of_nobody or not self._version or not reader.last_id:
                    break
                self._wait(reader.retry_ms)
                last = {**self._session_headers(), "Last-Event-ID": reader.last_id}
                if self._send("GET", last, None, watch).content_type != EVENT_STREAM:
                    break
            # some streams end without the empty line that ends an event
            if not found and not watch(b"\n\n") and not of_nobody and answer.status < 300:
                raise unread[0] if unread else NotAnswered("broke off its answer")
        else:
            try:
                take(text_in(answer))
            except NotUnderstood:
                if answer.status < 300:
                    raise  # otherwise the status says more
        return answer, _result(answer, next(iter(found + of_nobody), {}), id)

    def _wait(self, retry_ms: int | None) -> None:
        """Waits for as long as a stream said before it is asked for again. Raises NotAnswered if there is no time."""
        seconds = USUAL_RETRY_SECONDS if retry_ms is None else retry_ms / 1_000
        if seconds > min(LONGEST_RETRY_SECONDS, self.deadline - time.monotonic()):
            raise NotAnswered("broke off its answer")
        time.sleep(seconds)

    def _send(
        self, method: str, headers: Mapping[str, str], body: bytes | None, watch: Watch | None = None
    ) -> HttpAnswer:
        """Sends with credentials, and once more with better ones if the server refuses them and there are any.

        `watch` None: nothing in the answer's body is waited for, and nothing that is wrong with it counts.
        """
        if self._credentials is None:
            self._credentials = self.authorize(None, self.deadline)
        answer = self._follow(method, headers, body, watch)
        if answer.status == 401 and (better := self.authorize(answer, self.deadline)):
            self._credentials = better
            answer = self._follow(method, headers, body, watch)
        return answer

    def _follow(
        self, method: str, headers: Mapping[str, str], body: bytes | None, watch: Watch | None
    ) -> HttpAnswer:
        """Sends the request and follows redirects that keep the method and stay within the server's own origin."""
        content = {} if body is None else {"Content-Type": "application/json"}
        accept = EVENT_STREAM if method == "GET" else ACCEPT
        sent = {"User-Agent": "acta", "Accept": accept, **content, **headers, **(self._credentials or {})}
        url, origin = self.url, None
        for _ in range(MAX_REDIRECTS + 1):
            target = looked_up(self.guard, url)
            origin = origin or target.origin
            if target.origin != origin:
                raise NotReached("was redirected to another server")
            answer = exchanged(target, method, sent, body, self.deadline, watch, status_only=watch is None)
            if answer.status not in (307, 308) or not answer.location:
                return answer
            try:
                url = urljoin(url, answer.location)
            except ValueError:
                raise NotReached("was redirected to something that is no URL") from None
        raise NotReached(f"was redirected more than {MAX_REDIRECTS} times")


def looked_up(guard: AddressGuard, url: str) -> Target:
    """Raises NotReached."""
    try:
        return guard.resolve(url)
    except AddressRefused as refused:
        raise NotReached(f"may not be called: {refused}") from None
    except (OSError, ValueError):
        raise NotReached("has a host that was not found") from None


def exchanged(
    target: Target,
    method: str,
    headers: Mapping[str, str],
    body: bytes | None,
    deadline: float,
    watch: Watch | None = None,
    *,
    status_only: bool = False,
) -> HttpAnswer:
    """Raises NotReached, NotAnswered, NotUnderstood."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise NotReached("was not called: there was no time left")
    try:
        return exchange(
            target, method, headers, body, left, watch, status_only=status_only, most=MAX_ANSWER_BYTES
        )
    except NotSent:
        raise NotReached("could not be reached") from None
    except NoAnswer as silent:
        raise NotAnswered(str(silent)) from None
    except AnswerTooLarge as large:
        raise (TooMuch if large.status < 300 else NotUnderstood)(str(large)) from None


def _result(answer: HttpAnswer, message: Message, id: int) -> Message:
    """`message`: empty where none came. Raises RpcRefused, HttpRefused, NotUnderstood."""
    result, error = message.get("result"), message.get("error")
    is_servers = ("jsonrpc" in message or "id" in message) and answer.status not in (401, 403)
    # otherwise the status says more: gateways write JSON with an `error`, too, some of them JSON-RPC
    if isinstance(error, dict | str) and (answer.status < 300 or (is_servers and not answer.is_lost)):
        if result is not None:
            raise NotUnderstood("answered with a result and an error at once")
        raise RpcRefused(error, answer.status, message.get("id") in (id, str(id)))
    if answer.status >= 300:
        said = text_in(answer).encode()[:SHOWN_BYTES].decode("utf-8", "ignore") or answer.location or ""
        raise HttpRefused(answer.status, said, answer.headers.get("www-authenticate", ""), answer.is_lost)
    if isinstance(result, Mapping):
        return result
    if answer.unread:
        raise NotUnderstood(f"answered with a body that cannot be read: {answer.unread}")
    silent = "took the request and gave no answer" if answer.status in (202, 204) else ""
    raise NotUnderstood(silent or "answered with something that is not MCP's")


def text_in(answer: HttpAnswer) -> str:
    """Empty where the body is no text."""
    try:
        return answer.text().text
    except NotText:
        return ""


def json_value(text: str, **how: Any) -> Any:
    """The JSON in a text, read by `parse_answer`; None where there is none. Raises NotUnderstood for JSON that Acta
    could not store.
    """
    if len(text) > MAX_BYTES:
        raise TooMuch(f"answered with more than {MAX_BYTES:,} characters of JSON")
    try:
        return parse_answer(text, **how)
    except json.JSONDecodeError:
        return None
    except InvalidJson as invalid:
        raise NotUnderstood(f"answered with JSON that Acta does not take: it is {invalid}") from None


def json_object(text: str) -> Message:
    """The JSON object in a text; an empty one where there is none. Raises as `json_value`."""
    value = json_value(text)
    return value if isinstance(value, dict) else {}


def _may_want_a_handshake(refused: RpcRefused | HttpRefused) -> bool:
    if isinstance(refused, RpcRefused):
        older = refused.code == VERSION_UNSUPPORTED and STATELESS not in refused.supported
        return older or refused.code not in STATELESS_ERRORS
    return 400 <= refused.status <= 501 and refused.status not in (401, 403, 408, 429)


def _may_go_again(refused: RpcRefused | HttpRefused, may_repeat: bool) -> bool:
    """Whether the server may have forgotten the session, and the request may be made again in another one. `may_repeat`
    False: only if it has not read the request. The specification has 404 for that, and JSON-RPC an error that does
    not name the request (Response object, `id`).
    """
    may_be_lost = refused.status in (400, 401, 404, 410)
    if isinstance(refused, HttpRefused):
        return refused.status == 404 or (may_repeat and may_be_lost)
    code = refused.code
    unread = (may_be_lost and not refused.names_request) or (
        refused.status == 404 and code == SESSION_NOT_FOUND
    )
    return unread or (may_repeat and (refused.status == 404 or code in (SESSION_NOT_FOUND, INVALID_REQUEST)))

"""What goes over the wire to an MCP server: JSON-RPC messages and the headers that mirror them.

Sources: Model Context Protocol, revisions 2026-07-28 (Streamable HTTP, versioning) and 2025-11-25 (transports,
lifecycle). The newer one has neither a handshake nor a session: each request says all there is to know.
Arguments that a server wants to see in headers, too, are properties of its schema with `x-mcp-header` (2026-07-28,
Streamable HTTP, "Custom headers from tool parameters"). Event streams are those of WHATWG HTML, Server-sent events; how
long one may be is the exchange's to say.
"""

import base64
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

MODERN = "2026-07-28"
HANDSHAKE = "2025-11-25"
"""The version that is asked for where a server knows only those that begin with a handshake."""
HANDSHAKE_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26")
"""Those that a server may choose instead. What is used of them here is the same."""
Era = Literal["modern", "handshake"]

ACCEPT = "application/json, text/event-stream"
CLIENT: Mapping[str, str] = {"name": "acta", "version": "1"}
EFFECT_ID = "acta.agent/effect-id"
"""Under this name `_meta` of a call has its idempotency key, as the header `Idempotency-Key` has."""
_META = "io.modelcontextprotocol/"
TASKS = f"{_META}tasks"
"""The extension by which a server may work on a call by itself."""

HEADER_MISMATCH, CAPABILITY_MISSING, VERSION_UNSUPPORTED = -32020, -32021, -32022
MODERN_ERRORS = frozenset((HEADER_MISMATCH, CAPABILITY_MISSING, VERSION_UNSUPPORTED))
"""Codes that only a server of the newer kind answers with."""
METHOD_NOT_FOUND, INVALID_PARAMS = -32601, -32602


class Call(NamedTuple):
    """A request. `name`: of the tool, or a task's id, which a header repeats. `headers`: further ones."""

    method: str
    params: Mapping[str, Any]
    name: str | None = None
    headers: Mapping[str, str] = {}


class RpcError(NamedTuple):
    """`data`: as the server gave it."""

    code: int
    message: str
    data: Any


def modern_request(call: Call, id: int, capabilities: Mapping[str, Any]) -> tuple[dict[str, str], bytes]:
    """Headers and body in the revision 2026-07-28."""
    meta = {
        **call.params.get("_meta", {}),
        f"{_META}protocolVersion": MODERN,
        f"{_META}clientInfo": CLIENT,
        f"{_META}clientCapabilities": capabilities,
    }
    headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": call.method, **call.headers}
    if call.name is not None:
        headers["Mcp-Name"] = header_text(call.name)
    return headers, _body(call.method, {**call.params, "_meta": meta}, id)


def handshake_request(call: Call, id: int) -> bytes:
    """The body in a revision before."""
    return _body(call.method, call.params, id)


def initialize_body(id: int) -> bytes:
    params = {"protocolVersion": HANDSHAKE, "capabilities": {}, "clientInfo": CLIENT}
    return _body("initialize", params, id)


def notification(method: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "method": method}).encode()


def reply_to(request: Mapping[str, Any]) -> bytes:
    """The answer to a request that a server of the older kind makes while it answers ours: it may ask whether we are
    there, and nothing else was offered to it.
    """
    said: dict[str, Any] = {"jsonrpc": "2.0", "id": request.get("id")}
    if request.get("method") == "ping":
        return json.dumps({**said, "result": {}}).encode()
    error = {"code": METHOD_NOT_FOUND, "message": "This client does not do that."}
    return json.dumps({**said, "error": error}).encode()


def _body(method: str, params: Mapping[str, Any], id: int) -> bytes:
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")


def error_of(message: Mapping[str, Any]) -> RpcError | None:
    """The error in a message; None: it has none."""
    match message.get("error"):
        case {"code": int(code), **rest}:
            said = rest.get("message")
            return RpcError(code, said if isinstance(said, str) else "", rest.get("data"))
        case dict():
            return RpcError(0, "", None)
        case _:
            return None


def header_text(value: str) -> str:
    """The value as a header may have it: as it is, or in base64 between markers where it is not plain ASCII, has spaces
    at its ends, or looks like such a marker itself.
    """
    plain = value.isascii() and value.isprintable() and value == value.strip(" ")
    if plain and value and not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    return f"=?base64?{base64.b64encode(value.encode('utf-8', 'replace')).decode()}?="


class Event(NamedTuple):
    """`data`: its lines, joined. `id` is empty where it has none."""

    data: str
    id: str


class EventReader:
    """`last_id` and `retry_ms`: what the stream has said of how to come back to it."""

    def __init__(self) -> None:
        self.last_id = ""
        self.retry_ms: int | None = None
        self._rest: list[bytes] = []
        self._data: list[str] = []
        self._ended_with_return = False

    def feed(self, chunk: bytes) -> list[Event]:
        """The events that these bytes complete. Lines end with LF, CR or both. All work is linear in the stream."""
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
        return [event for event in found if event is not None]

    def _line(self, line: str) -> Event | None:
        if not line:
            data, self._data = self._data, []
            return Event("\n".join(data), self.last_id) if data else None
        field, _, value = line.partition(":")
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
    places = _marked(schema)
    if sum(1 for _ in places) != sum(1 for _ in _reachable(schema, ())):
        raise BadHeaders(f"{MARK} stands where a header cannot be taken from")
    for path, marked in _reachable(schema, ()):
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
        value: Any = arguments
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
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


def _reachable(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    """Marked properties to which nothing but `properties` leads."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    for name, below in properties.items() if isinstance(properties, Mapping) else ():
        if isinstance(below, Mapping):
            if MARK in below:
                yield (*path, name), below
            yield from _reachable(below, (*path, name))


def _marked(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every schema with the mark, wherever it is. A property may itself be called so: its schema is no mark."""
    waiting: list[tuple[Any, bool]] = [(schema, True)]
    while waiting:
        item, is_schema = waiting.pop()
        if isinstance(item, Mapping):
            if is_schema and MARK in item:
                yield item
            waiting += [
                (
                    below,
                    not (is_schema and key in ("properties", "$defs", "definitions", "patternProperties")),
                )
                for key, below in item.items()
                if key not in ("const", "enum", "default", "examples")
            ]
        elif isinstance(item, list):
            waiting += [(below, True) for below in item]

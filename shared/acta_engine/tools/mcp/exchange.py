"""Requests to one MCP server, as one operation makes them: a listing, or a call.

Both eras of the protocol stand here. A request of the newer kind is tried first; what a server of the older kind makes
of it leads to a handshake (MCP 2026-07-28, Versioning, "Backward compatibility"). Which kind a server is, a process
keeps in mind. Hosts are held to the operator's list at each request and redirect; no header with a credential goes to
another origin than the server's.

    McpFailed
    ├── NotReached      nothing was sent
    ├── NotAnswered     the request may have arrived, and no answer came
    ├── HttpRefused     a status that is no answer of MCP
    ├── RpcRefused      the server's own error
    └── NotUnderstood   an answer that is not MCP's
"""

import json
import secrets
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Self
from urllib.parse import urljoin

from acta_engine.egress.address import AddressGuard, AddressRefused, Target
from acta_engine.egress.exchange import (
    EVENT_STREAM,
    AnswerTooLarge,
    HttpAnswer,
    NoAnswer,
    NotSent,
    Watch,
    exchange,
)
from acta_engine.tools.mcp.wire import (
    ACCEPT,
    HANDSHAKE_VERSIONS,
    MODERN,
    MODERN_ERRORS,
    VERSION_UNSUPPORTED,
    Call,
    Era,
    EventReader,
    RpcError,
    error_of,
    handshake_request,
    initialize_body,
    modern_request,
    notification,
    reply_to,
)

LIST_TOOLS, CALL_TOOL = "tools/list", "tools/call"
MAX_REDIRECTS = 3
LONGEST_RETRY_SECONDS = 30
USUAL_RETRY_SECONDS = 1.0
"""Before a stream that broke off is asked for again, where it does not say how long to wait."""
MAX_RESUMES = 5
GOODBYE_SECONDS = 2
SHOWN_BYTES = 1_000

Authorize = Callable[[HttpAnswer | None, float], Mapping[str, str]]
"""The headers that prove who we are. Given None: for a first try. Given the answer that refused them (401): better
ones, or none where there are no better ones. The second is the time until which it may take (`time.monotonic`)."""


class McpFailed(Exception):
    """No result. The message is a sentence of Acta's without a subject, in the past."""


class NotReached(McpFailed):
    pass


class NotAnswered(McpFailed):
    pass


class NotUnderstood(McpFailed):
    pass


class HttpRefused(McpFailed):
    """`said`: the beginning of the answer, in the server's words."""

    def __init__(self, status: int, said: str) -> None:
        super().__init__(f"answered with status {status}")
        self.status = status
        self.said = said


class RpcRefused(McpFailed):
    def __init__(self, error: RpcError) -> None:
        super().__init__(f"answered with error {error.code}")
        self.error = error


class Eras:
    """What a process knows of servers, by URL."""

    def __init__(self) -> None:
        self._known: dict[str, Era] = {}

    def of(self, url: str) -> Era | None:
        return self._known.get(url)

    def forget(self, url: str) -> None:
        self._known.pop(url, None)

    def learn(self, url: str, era: Era) -> None:
        if len(self._known) > 1_000:
            self._known.clear()
        self._known[url] = era


class McpExchange:
    """`deadline`: on `time.monotonic`, for all of it. `capabilities`: what servers of the newer kind are told that
    Acta does for them. Used as a context: at its end a session of the older kind is taken leave of.
    """

    def __init__(
        self,
        guard: AddressGuard,
        url: str,
        authorize: Authorize,
        deadline: float,
        eras: Eras,
        capabilities: Mapping[str, Any],
    ) -> None:
        self._guard = guard
        self._url = url
        self._authorize = authorize
        self._deadline = deadline
        self._eras = eras
        self._capabilities = capabilities
        self._credentials: Mapping[str, str] | None = None
        self._version = ""
        self._session = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._session:
            self._deadline = time.monotonic() + GOODBYE_SECONDS
            headers = {"MCP-Protocol-Version": self._version, "Mcp-Session-Id": self._session}
            with suppress(McpFailed):
                self._send("DELETE", headers, None)

    def request(self, call: Call) -> Mapping[str, Any]:
        """The result. Raises McpFailed."""
        if self._version:
            return self._in_session(call)
        era = self._eras.of(self._url)
        if era == "handshake":
            try:
                self._initialize()
            except (RpcRefused, HttpRefused):
                self._eras.forget(self._url)  # the next operation finds out anew
                raise
            return self._in_session(call)
        try:
            result = self.modern(call)
        except (RpcRefused, HttpRefused) as refused:
            known = era == "modern" and call.method != LIST_TOOLS
            if known or not _may_be_of_the_older_kind(refused):
                raise
            try:
                self._initialize()
            except (RpcRefused, HttpRefused, NotUnderstood):
                raise refused from None
            self._eras.learn(self._url, "handshake")
            return self._in_session(call)
        self._eras.learn(self._url, "modern")
        return result

    def modern(self, call: Call) -> Mapping[str, Any]:
        """The result, in the newer revision and no other. Raises McpFailed."""
        try:
            return self._modern_once(call)
        except RpcRefused as refused:
            # one try more where the server says that it knows this version after all
            if refused.error.code != VERSION_UNSUPPORTED or MODERN not in _supported(refused.error):
                raise
        return self._modern_once(call)

    def _modern_once(self, call: Call) -> Mapping[str, Any]:
        id = _new_id()
        return _result(*self._post(id, *modern_request(call, id, self._capabilities)))

    def _in_session(self, call: Call) -> Mapping[str, Any]:
        id = _new_id()
        body = handshake_request(call, id)
        return _result(*self._post(id, {**self._session_headers(), **call.headers}, body))

    def _initialize(self) -> None:
        """Raises McpFailed."""
        id = _new_id()
        answer, message = self._post(id, {}, initialize_body(id))
        result = _result(answer, message)
        version = result.get("protocolVersion")
        if version not in HANDSHAKE_VERSIONS:
            raise NotUnderstood("speaks a version of MCP that Acta does not know")
        session = answer.headers.get("mcp-session-id", "")
        if not session.isascii() or not session.isprintable() or len(session) > 1_000:
            raise NotUnderstood("gave a session id that no header can carry")
        self._version, self._session = version, session
        self._send("POST", self._session_headers(), notification("notifications/initialized"))

    def _session_headers(self) -> dict[str, str]:
        session = {"Mcp-Session-Id": self._session} if self._session else {}
        return {"MCP-Protocol-Version": self._version, **session}

    def _post(
        self, id: int, headers: Mapping[str, str], body: bytes
    ) -> tuple[HttpAnswer, Mapping[str, Any] | None]:
        """The answer, and the message in it that answers the request `id`; None: there is none in it."""
        reader, found = EventReader(), list[Mapping[str, Any]]()

        def watch(chunk: bytes) -> bool:
            for event in reader.feed(chunk):
                message = json_object(event.data)
                if message.get("id") == id and "method" not in message:
                    found.append(message)
                elif self._version and "method" in message and "id" in message:
                    self._send("POST", self._session_headers(), reply_to(message))
            return bool(found)

        answer = self._send("POST", headers, body, watch)
        if answer.content_type != EVENT_STREAM:
            return answer, json_object(answer.body.decode("utf-8", "replace")) or None
        for _ in range(MAX_RESUMES):
            if found or not self._version or not reader.last_id:
                break
            self._wait(reader.retry_ms)
            last = {**self._session_headers(), "Last-Event-ID": reader.last_id}
            if self._send("GET", last, None, watch).content_type != EVENT_STREAM:
                break
        if not found:
            raise NotAnswered("broke off its answer")
        return answer, found[0]

    def _wait(self, retry_ms: int | None) -> None:
        """Before a stream is asked for again, as long as it said. Raises NotAnswered where there is no time for it."""
        seconds = USUAL_RETRY_SECONDS if retry_ms is None else retry_ms / 1_000
        if seconds > min(LONGEST_RETRY_SECONDS, self._deadline - time.monotonic()):
            raise NotAnswered("broke off its answer")
        time.sleep(seconds)

    def _send(
        self, method: str, headers: Mapping[str, str], body: bytes | None, watch: Watch | None = None
    ) -> HttpAnswer:
        """With credentials; once more with better ones where the server refuses them and there are some."""
        if self._credentials is None:
            self._credentials = self._authorize(None, self._deadline)
        answer = self._follow(method, headers, body, watch)
        if answer.status == 401:
            better = self._authorize(answer, self._deadline)
            if better:
                self._credentials = better
                answer = self._follow(method, headers, body, watch)
        return answer

    def _follow(
        self, method: str, headers: Mapping[str, str], body: bytes | None, watch: Watch | None
    ) -> HttpAnswer:
        """Redirects that keep the method lead on within the server's own origin."""
        content = {} if body is None else {"Content-Type": "application/json"}
        accept = EVENT_STREAM if method == "GET" else ACCEPT
        sent = {"User-Agent": "acta", "Accept": accept, **content, **headers, **(self._credentials or {})}
        url, origin = self._url, None
        for _ in range(MAX_REDIRECTS + 1):
            target = looked_up(self._guard, url)
            origin = origin or target.origin
            if target.origin != origin:
                raise NotReached("was redirected to another server")
            answer = exchanged(target, method, sent, body, self._deadline, watch)
            if answer.status not in (307, 308) or not answer.location:
                return answer
            url = urljoin(url, answer.location)
        raise NotReached(f"was redirected more than {MAX_REDIRECTS} times")


def _new_id() -> int:
    """Of a request. A call that is made again has another one, whichever worker makes it."""
    return secrets.randbits(48)


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
) -> HttpAnswer:
    """Raises NotReached, NotAnswered, NotUnderstood."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise NotReached("was not called: there was no time left")
    try:
        return exchange(target, method, headers, body, left, watch)
    except NotSent:
        raise NotReached("could not be reached") from None
    except NoAnswer:
        raise NotAnswered("did not answer in time") from None
    except AnswerTooLarge:
        raise NotUnderstood("answered with too much") from None


def _result(answer: HttpAnswer, message: Mapping[str, Any] | None) -> Mapping[str, Any]:
    error = error_of(message) if message is not None and answer.status not in (401, 403) else None
    if error is not None:
        raise RpcRefused(error)
    if answer.status >= 300:
        raise HttpRefused(answer.status, answer.body[:SHOWN_BYTES].decode("utf-8", "replace"))
    result = message.get("result") if message is not None else None
    if not isinstance(result, Mapping):
        raise NotUnderstood("answered with something that is not MCP's")
    return result


def json_object(text: str | bytes) -> Mapping[str, Any]:
    """The JSON object in a text; an empty one where there is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _may_be_of_the_older_kind(refused: RpcRefused | HttpRefused) -> bool:
    if isinstance(refused, RpcRefused):
        code = refused.error.code
        older = code == VERSION_UNSUPPORTED and MODERN not in _supported(refused.error)
        return older or code not in MODERN_ERRORS
    return 400 <= refused.status < 500 and refused.status not in (401, 403, 408, 429)


def _supported(error: RpcError) -> list[Any]:
    named = error.data.get("supported") if isinstance(error.data, Mapping) else None
    return named if isinstance(named, list) else []

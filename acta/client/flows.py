"""What a call does, without doing it: a flow is a generator of requests and pauses that is sent their answers.

    HttpRequest  →  HttpResponse, or NoResponse if the connection failed
    Pause        →  nothing
    Item         →  nothing; the next value of a stream, for whoever iterates over it

The callers (`acta/client/callers.py`) carry flows out, one waiting and one with `await`. So each call is written once
(ADR 72). Retries are a flow, too: `answered`.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, TypeAlias, TypeVar
from urllib.parse import quote, unquote

from acta.client.errors import (
    ApiConnectionError,
    ApiError,
    ClientError,
    InvalidPathError,
    NotFoundError,
    RateLimitError,
    ServerError,
    TooManyOpenSessionsError,
    UnexpectedAnswerError,
    class_of,
)

T = TypeVar("T")
S = TypeVar("S")

RETRIED_STATUSES = (429, 500, 502, 503, 504)
MAX_ATTEMPTS = 4
FIRST_PAUSE_SECONDS = 0.25
MAX_PAUSE_SECONDS = 10.0
MAX_RETRY_AFTER_SECONDS = 65.0
"""A wait that a rate limit asks for is kept in full up to this, a little more than the longest one of a tenant's
limits. If a limit asks for a longer wait, the error is raised at once and says how long.
"""

GATEWAY_MESSAGES = {
    401: "the token was refused; it may have expired: get a new one (`acta token` for a local stack)",
    403: "the token does not allow this",
    404: "nothing of Acta is at this address (status 404): if it was removed and deployed "
    "again, `acta login --look-up` finds the new address",
    413: "that is more than the API takes at once",
    429: "too many requests at once: wait a moment and try again",
}


@dataclass(frozen=True)
class HttpRequest:
    """`path`: from `/v1` on, quoted. Query parameters that are None are left out. `body`: JSON; `content`: a file."""

    method: str
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    body: Any = None
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def parameters(self) -> dict[str, Any]:
        return {name: value for name, value in self.query.items() if value is not None}


@dataclass(frozen=True)
class HttpResponse:
    """`headers`: by their names in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes


@dataclass(frozen=True)
class NoResponse:
    reason: str


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Item(Generic[T]):
    value: T


Flow: TypeAlias = Generator[HttpRequest | Pause, Any, T]
"""A flow that returns T. Raises ClientError."""
Stream: TypeAlias = Generator[HttpRequest | Pause | Item[T], Any, None]
"""A flow whose items are T. Raises ClientError."""


def answered(request: HttpRequest) -> Flow[HttpResponse]:
    """The answer of a request that succeeded, after at most `MAX_ATTEMPTS` attempts.

    Repeating is safe for a POST or PATCH too: each carries an Idempotency-Key, the same in every attempt. A path with a
    part `..` is never sent, because on its way to the API that part removes the one before it: `/v1/files/../agents`.
    If an earlier attempt of a DELETE may have succeeded and the next one finds nothing, the answer is 204. If one of a
    PUT may have succeeded and the next one is refused because of a change, the change may be its own (`_written`).
    """
    if not {".", ".."}.isdisjoint(request.path.split("/")):
        raise InvalidPathError("a name cannot have a part that is . or ..: give the path from the top")
    if request.method in ("POST", "PATCH"):
        request = replace(request, headers={"Idempotency-Key": str(uuid.uuid4()), **request.headers})
    may_be_done = False
    for attempt in range(MAX_ATTEMPTS):
        is_last = attempt == MAX_ATTEMPTS - 1
        answer: HttpResponse | NoResponse = yield request
        if isinstance(answer, NoResponse):
            if is_last:
                raise ApiConnectionError(answer.reason)
            may_be_done = True
            yield Pause(backoff(attempt))
            continue
        if 200 <= answer.status < 300 or answer.status == 304:
            return answer
        error = error_of(answer)
        if request.method == "DELETE" and may_be_done and isinstance(error, NotFoundError) and error.code:
            return HttpResponse(204, answer.headers, b"")
        may_be_written = request.method == "PUT" and may_be_done and error.status in (409, 412)
        if may_be_written and (written := (yield from _written(request))) is not None:
            return written
        is_limit, seconds = isinstance(error, RateLimitError), error.retry_after
        may_pass = error.status in RETRIED_STATUSES and not isinstance(error, TooManyOpenSessionsError)
        if is_last or not may_pass or (is_limit and (seconds or 0) > MAX_RETRY_AFTER_SECONDS):
            raise error
        may_be_done = may_be_done or isinstance(error, ServerError)
        if seconds is None:
            seconds = backoff(attempt)
        yield Pause(
            seconds if is_limit else min(seconds, MAX_PAUSE_SECONDS)
        )  # only a limit's wait is kept in full
    raise AssertionError("unreachable: the last attempt returns or raises")


def _written(request: HttpRequest) -> Flow[HttpResponse | None]:
    """The answer to a PUT if what is stored is what it sent: a file's bytes, or a definition and its next version."""
    try:
        stored: HttpResponse = yield from answered(HttpRequest("GET", request.path))
        if request.content is None:
            sent = {**request.body, "version": request.body.get("version", 0) + 1}
            return stored if sent == {name: data_of(stored).get(name) for name in sent} else None
    except (ClientError, TypeError, AttributeError):
        return None
    if stored.content != request.content:
        return None
    written = {"path": unquote(request.path.removeprefix(file_path(""))), "bytes": len(stored.content)}
    return replace(stored, content=json.dumps({"data": written}).encode())


def data(request: HttpRequest) -> Flow[Any]:
    """The `data` of the answer's envelope; None if the answer has no body (204)."""
    answer = yield from answered(request)
    return None if answer.status == 204 else data_of(answer)


def content(request: HttpRequest) -> Flow[bytes]:
    """A file's bytes."""
    answer = yield from answered(request)
    return answer.content


def pages(path: str, **query: Any) -> Stream[Any]:
    """The items of every page of a list; a page is fetched when its items are needed."""
    cursor: str | None = None
    while True:
        page = yield from data(HttpRequest("GET", path, {"cursor": cursor, **query}))
        for item in page["items"]:
            yield Item(item)
        cursor = page.get("next_cursor")
        if not cursor:
            return


def given(**fields: Any) -> dict[str, Any]:
    """A body with those fields that are not None, in the types that JSON has."""
    return {name: _plain(value) for name, value in fields.items() if value is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return value if isinstance(value, str) or not isinstance(value, Sequence) else list(value)


def key(idempotency_key: str | None) -> dict[str, str]:
    """The header for an idempotency key that the program chose itself; none without a key."""
    return {} if idempotency_key is None else {"Idempotency-Key": idempotency_key}


def first(stream: Stream[T], wanted: Callable[[T], bool]) -> Flow[T | None]:
    """The first item that is wanted, else the last item; None if there are no items."""
    last: T | None = None
    outcome: Any = None
    while True:
        try:
            step = stream.send(outcome)
        except StopIteration:
            return last
        if isinstance(step, Item):
            last, outcome = step.value, None
            if wanted(step.value):
                return last
        else:
            outcome = yield step


def flattened(stream: Stream[T], parts: Callable[[T], Iterable[S]]) -> Stream[S]:
    """The parts of every item, as one stream."""
    outcome: Any = None
    while True:
        try:
            step = stream.send(outcome)
        except StopIteration:
            return
        if isinstance(step, Item):
            outcome = None
            for part in parts(step.value):
                yield Item(part)
        else:
            outcome = yield step


def backoff(attempt: int) -> float:
    """Seconds to wait after the attempt of this number, counted from 0."""
    return float(min(FIRST_PAUSE_SECONDS * 2**attempt, MAX_PAUSE_SECONDS))


def retry_after(answer: HttpResponse) -> float | None:
    """Seconds that the server asks to wait; None if it does not say."""
    text = answer.headers.get("retry-after", "")
    return float(text) if text.isascii() and text.isdigit() else None


def data_of(answer: HttpResponse) -> Any:
    """Raises UnexpectedAnswerError."""
    try:
        return json.loads(answer.content)["data"]
    except (ValueError, KeyError, TypeError):
        raise UnexpectedAnswerError("this answer is not Acta's: check the API's URL") from None


def error_of(answer: HttpResponse) -> ApiError:
    """The error in Acta's envelope; if the gateway itself answered, one that follows from the status alone."""
    status = answer.status
    try:
        error = json.loads(answer.content)["error"]
        message, code = str(error["message"]), str(error["code"])
        details = dict(error.get("details") or {})
    except (ValueError, KeyError, TypeError, AttributeError):
        said = GATEWAY_MESSAGES.get(status, f"the API answered with status {status}")
        if status >= 500:
            said += ": it is starting, stopping, in quarantine or broken; try again in a moment"
        return class_of(status, "")(said, status, retry_after=retry_after(answer))
    fields = "; ".join(
        f"{name}: {', '.join(map(str, texts if isinstance(texts, list) else [texts]))}"
        for name, texts in details.items()
    )
    words = f"{message} ({code})" + (f": {fields}" if fields else "")
    return class_of(status, code)(words, status, code, details, retry_after(answer))


def session_path(session_id: str, *rest: str) -> str:
    """`/v1/sessions/{session_id}`, with the parts of `rest` below it."""
    return path_of("sessions", session_id, *rest)


def file_path(name: str) -> str:
    """Raises InvalidPathError."""
    try:
        return f"/v1/files/{quote(name, safe='/')}"
    except UnicodeEncodeError:
        raise InvalidPathError("a name has half a character, which is not valid Unicode") from None


def path_of(*parts: str) -> str:
    """`/v1/` followed by the parts."""
    return "/".join(["/v1", *(quote(part, safe="") for part in parts)])

"""HTTP calls to a deployment: data out of the answer's envelope, errors as exceptions, safe repeats."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

import httpx

from acta.client.deployment import Deployment, is_loopback
from acta.client.errors import (
    ApiError,
    InvalidDeployment,
    InvalidPath,
    UnexpectedAnswer,
    Unreachable,
    one_line,
)

RETRIED_STATUSES = (429, 502, 503, 504)
MAX_ATTEMPTS = 4
FIRST_PAUSE_SECONDS = 0.25
MAX_PAUSE_SECONDS = 10.0
MAX_TOLD_SECONDS = 65.0
"""The longest that a limit's `Retry-After` is waited for: a little more than the longest one of a tenant's limits."""
ANSWER_TIMEOUT_SECONDS = 40.0
"""Above the longest long poll (20 s, `functions/status/polling.py`) and above the gateway's own limit (30 s)."""

Json = dict[str, Any]


class Client:
    """Calls one deployment; every method raises ClientError.

    A request is sent up to `MAX_ATTEMPTS` times where no answer comes or a status says to try again. That is safe for
    a POST too: each carries an Idempotency-Key, the same one in every attempt.

    `pause` waits between attempts; it takes seconds.
    """

    def __init__(self, deployment: Deployment, *, pause: Callable[[float], None] = time.sleep) -> None:
        self.deployment = deployment
        self.url = deployment.api_url.rstrip("/")
        self.pause = pause
        self.http = httpx.Client(
            headers={"Authorization": f"Bearer {deployment.token}", "User-Agent": "acta"},
            timeout=httpx.Timeout(ANSWER_TIMEOUT_SECONDS, connect=5.0),
            trust_env=not is_loopback(self.url),  # a proxy of the environment does not reach this machine
        )

    def close(self) -> None:
        self.http.close()

    def get(self, path: str, **query: Any) -> Any:
        """The `data` of the answer. A query parameter that is None is left out."""
        given = {name: value for name, value in query.items() if value is not None}
        return data_of(self.send("GET", path, params=given))

    def items(self, path: str, **query: Any) -> Iterator[Json]:
        """The items of every page of a list, a page fetched when it is needed."""
        cursor: str | None = None
        while True:
            page = self.get(path, cursor=cursor, **query)
            yield from page["items"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def post(self, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> Any:
        """The `data` of the answer."""
        key = {"Idempotency-Key": str(uuid.uuid4())}
        return data_of(self.send("POST", path, params=query, json=body or {}, headers=key))

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """The `data` of the answer."""
        return data_of(self.send("PUT", path, json=body))

    def get_bytes(self, path: str) -> bytes:
        return self.send("GET", path).content

    def put_bytes(self, path: str, content: bytes) -> None:
        self.send("PUT", path, content=content, headers={"Content-Type": "application/octet-stream"})

    def delete(self, path: str) -> None:
        self.send("DELETE", path)

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        """The answer to a request that succeeded. `options` are those of `httpx.Client.request`.

        On its way to the API a part `..` would take the part before it away, so `/v1/files/../agents` is never sent.
        """
        if not {".", ".."}.isdisjoint(path.split("/")):
            raise InvalidPath("a name cannot have a part that is . or ..: give the path from the top")
        for attempt in range(MAX_ATTEMPTS):
            is_last = attempt == MAX_ATTEMPTS - 1
            try:
                response = self.http.request(method, self.url + path, **options)
            except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeError):
                raise InvalidDeployment(
                    f"{one_line(self.url, 100)} cannot be used as the API's URL"
                ) from None
            except httpx.TransportError as error:
                if is_last:
                    raise Unreachable(f"no answer from {one_line(self.url, 100)}: {reason(error)}") from None
                self.pause(backoff(attempt))
                continue
            if response.status_code in RETRIED_STATUSES and not is_last:
                self.pause(retry_after(response) or backoff(attempt))
                continue
            if response.is_success or response.status_code == 304:
                return response
            raise api_error(response)
        raise AssertionError("unreachable: the last attempt returns or raises")


def session_path(session_id: str, *rest: str) -> str:
    """`/v1/sessions/{session_id}`, with the parts of `rest` below it."""
    return "/".join(["/v1/sessions", quote(session_id, safe=""), *(quote(part, safe="") for part in rest)])


def tool_secret_path(name: str) -> str:
    return f"/v1/tool-secrets/{quote(name, safe='')}"


def file_path(name: str) -> str:
    return f"/v1/files/{quote(name, safe='/')}"


def backoff(attempt: int) -> float:
    """Seconds to wait after the attempt of this number, counted from 0."""
    return float(min(FIRST_PAUSE_SECONDS * 2**attempt, MAX_PAUSE_SECONDS))


def retry_after(response: httpx.Response) -> float | None:
    """Seconds the server asks to wait, at most `MAX_PAUSE_SECONDS`, of a limit `MAX_TOLD_SECONDS`; None where it does
    not say.
    """
    text = response.headers.get("Retry-After", "")
    most = MAX_TOLD_SECONDS if response.status_code == 429 else MAX_PAUSE_SECONDS
    return min(float(text), most) if text.isascii() and text.isdigit() else None


def reason(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.ConnectError):
        return "the connection was refused; is the deployment running?"
    if isinstance(error, httpx.TimeoutException):
        return "it took too long"
    return one_line(str(error), 100) or type(error).__name__


def data_of(response: httpx.Response) -> Any:
    """Raises UnexpectedAnswer."""
    try:
        return response.json()["data"]
    except (ValueError, KeyError, TypeError):
        raise UnexpectedAnswer("this answer is not Acta's: check the API's URL") from None


def api_error(response: httpx.Response) -> ApiError:
    """From the error of Acta's envelope; from the status alone where the gateway itself answered."""
    status = response.status_code
    try:
        error = response.json()["error"]
        message, code = str(error["message"]), str(error["code"])
        details = error.get("details") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        return ApiError(gateway_message(status), status)
    fields = "; ".join(f"{name}: {', '.join(map(str, texts))}" for name, texts in details.items())
    return ApiError(f"{message} ({code})" + (f": {fields}" if fields else ""), status, code)


def gateway_message(status: int) -> str:
    if status == 401:
        return "the token was refused; it may have expired: get a new one (`acta token` for a local stack)"
    if status == 403:
        return "the token does not allow this"
    if status == 429:
        return "too many requests at once: wait a moment and try again"
    if status == 413:
        return "that is more than the API takes at once"
    return f"the API answered with status {status}"

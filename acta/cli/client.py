"""HTTP to a deployment: the envelope opened, errors made readable, what is safe to repeat repeated."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from acta.cli.errors import ApiRefusal, CliError, Unreachable
from acta.cli.target import Target
from acta.cli.text import one_line

LOOPBACK = ("127.0.0.1", "localhost", "::1")
TRANSIENT = (429, 502, 503, 504)
ATTEMPTS = 4
FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 10.0
ANSWER_SECONDS = 40.0
"""Longer than the longest long poll (20 s) and than the gateway's own limit (30 s)."""

Json = dict[str, Any]


class Client:
    """Every method raises CliError. A POST carries an Idempotency-Key, so all calls may be sent again."""

    def __init__(self, target: Target, *, pause: Callable[[float], None] = time.sleep) -> None:
        self.url = target.api_url.rstrip("/")
        self.pause = pause
        is_local = urlsplit(self.url).hostname in LOOPBACK
        self.http = httpx.Client(
            headers={"Authorization": f"Bearer {target.token}", "User-Agent": "acta"},
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=5.0),
            trust_env=not is_local,
        )

    def close(self) -> None:
        self.http.close()

    def get(self, path: str, **query: Any) -> Any:
        given = {name: value for name, value in query.items() if value is not None}
        return data_of(self.send("GET", path, params=given))

    def items(self, path: str, **query: Any) -> Iterator[Json]:
        """Of every page of a listing."""
        cursor: str | None = None
        while True:
            page = self.get(path, cursor=cursor, **query)
            yield from page["items"]
            cursor = page.get("next_cursor")
            if not cursor:
                return

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        return data_of(
            self.send("POST", path, json=body or {}, headers={"Idempotency-Key": str(uuid.uuid4())})
        )

    def get_bytes(self, path: str) -> bytes:
        return self.send("GET", path).content

    def put_bytes(self, path: str, content: bytes) -> None:
        self.send("PUT", path, content=content, headers={"Content-Type": "application/octet-stream"})

    def delete(self, path: str) -> None:
        self.send("DELETE", path)

    def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        for attempt in range(ATTEMPTS):
            last = attempt == ATTEMPTS - 1
            try:
                response = self.http.request(method, self.url + path, **options)
            except (httpx.InvalidURL, httpx.UnsupportedProtocol, httpx.LocalProtocolError, UnicodeError):
                raise CliError(f"{one_line(self.url)} cannot be used as the API's URL") from None
            except httpx.TransportError as error:
                if last:
                    raise Unreachable(
                        f"no answer from {one_line(self.url)}: {one_line(reason(error))}"
                    ) from None
                self.pause(backoff(attempt))
                continue
            if response.status_code in TRANSIENT and not last:
                self.pause(retry_after(response) or backoff(attempt))
                continue
            if response.is_success or response.status_code == 304:
                return response
            raise refusal(response)
        raise AssertionError("unreachable: the last attempt returns or raises")


def session_path(session_id: str, *rest: str) -> str:
    return "/".join(["/v1/sessions", quote(session_id, safe=""), *(quote(part, safe="") for part in rest)])


def file_path(name: str) -> str:
    return f"/v1/files/{quote(name, safe='/')}"


def backoff(attempt: int) -> float:
    return float(min(FIRST_PAUSE_SECONDS * 2**attempt, LONGEST_PAUSE_SECONDS))


def retry_after(response: httpx.Response) -> float | None:
    text = response.headers.get("Retry-After", "")
    return min(float(text), LONGEST_PAUSE_SECONDS) if text.isascii() and text.isdigit() else None


def reason(error: httpx.TransportError) -> str:
    if isinstance(error, httpx.ConnectError):
        return "the connection was refused; is the deployment running?"
    if isinstance(error, httpx.TimeoutException):
        return "it took too long"
    return str(error) or type(error).__name__


def data_of(response: httpx.Response) -> Any:
    try:
        return response.json()["data"]
    except (ValueError, KeyError, TypeError):
        raise CliError("this answer is not Acta's: check the API's URL") from None


def refusal(response: httpx.Response) -> ApiRefusal:
    """From Acta's envelope, or from what the gateway says itself."""
    status = response.status_code
    try:
        error = response.json()["error"]
        message, code = str(error["message"]), str(error["code"])
        details = error.get("details") or {}
    except (ValueError, KeyError, TypeError, AttributeError):
        return ApiRefusal(gateway_message(status), status)
    fields = "; ".join(f"{name}: {', '.join(map(str, texts))}" for name, texts in details.items())
    return ApiRefusal(one_line(f"{message} ({code})" + (f": {fields}" if fields else ""), 400), status, code)


def gateway_message(status: int) -> str:
    if status == 401:
        return "the token was refused; it may have expired: get a new one (`acta token` for a local stack)"
    if status == 403:
        return "the token does not allow this"
    if status == 413:
        return "that is more than the API takes at once"
    return f"the API answered with status {status}"

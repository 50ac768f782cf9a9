"""Carries flows out over HTTP: `SyncCaller` waits, `AsyncCaller` awaits. Nothing else differs between them.

A method of the client is written once, as a flow. A group of methods is a `Calls[C]`. With a `SyncCaller`, a method
with `@operation` returns T and a method with `@listing` returns an iterator. With an `AsyncCaller` they return an
awaitable of T and an asynchronous iterator. Type checkers see that, too.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import update_wrapper
from types import MethodType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, overload

import httpx2

from acta.client.deployment import Bearer, Deployment, is_loopback
from acta.client.errors import ApiConnectionError, InvalidDeploymentError, one_line
from acta.client.flows import Flow, HttpRequest, HttpResponse, Item, NoResponse, Pause, Stream

P = ParamSpec("P")
T = TypeVar("T")

ANSWER_TIMEOUT_SECONDS = 40.0
"""Above the longest long poll (20 s, `acta/engine/sessions/routes.py`) and above the gateway's own
limit (30 s)."""
CONNECT_TIMEOUT_SECONDS = 5.0
UNUSABLE = (httpx2.InvalidURL, httpx2.UnsupportedProtocol, httpx2.LocalProtocolError, UnicodeError)
FAILURES = (*UNUSABLE, ApiConnectionError, httpx2.RequestError)


def only_item(flow: Flow[T]) -> Stream[T]:
    """What the flow returns, as a stream: flows and streams are carried out by the same loop."""
    yield Item((yield from flow))


class SyncCaller:
    """`pause` waits; it takes seconds."""

    def __init__(self, deployment: Deployment, pause: Callable[[float], None] = time.sleep) -> None:
        self.deployment = deployment
        self.url = deployment.api_url.rstrip("/")
        self.pause = pause
        self.http = httpx2.Client(**options(deployment))

    def run(self, flow: Flow[T]) -> T:
        [value] = self.iterate(only_item(flow))
        return value

    def iterate(self, stream: Stream[T]) -> Iterator[T]:
        outcome: Any = None
        while True:
            try:
                step = stream.send(outcome)
            except StopIteration:
                return
            if isinstance(step, Item):
                outcome = None
                yield step.value
            else:
                outcome = self.exchange(step)

    def exchange(self, step: HttpRequest | Pause) -> HttpResponse | NoResponse | None:
        if isinstance(step, Pause):
            self.pause(step.seconds)
            return None
        try:
            return answer_of(self.http.request(**arguments_of(step, self.url)))
        except FAILURES as error:
            return no_answer(error, self.url)

    def close(self) -> None:
        self.http.close()


class AsyncCaller:
    """`pause` waits; it takes seconds."""

    def __init__(
        self, deployment: Deployment, pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.deployment = deployment
        self.url = deployment.api_url.rstrip("/")
        self.pause = pause
        self.http = httpx2.AsyncClient(**options(deployment))

    async def run(self, flow: Flow[T]) -> T:
        [value] = [each async for each in self.iterate(only_item(flow))]
        return value

    async def iterate(self, stream: Stream[T]) -> AsyncIterator[T]:
        outcome: Any = None
        while True:
            try:
                step = stream.send(outcome)
            except StopIteration:
                return
            if isinstance(step, Item):
                outcome = None
                yield step.value
            else:
                outcome = await self.exchange(step)

    async def exchange(self, step: HttpRequest | Pause) -> HttpResponse | NoResponse | None:
        if isinstance(step, Pause):
            await self.pause(step.seconds)
            return None
        try:
            return answer_of(await self.http.request(**arguments_of(step, self.url)))
        except FAILURES as error:
            return no_answer(error, self.url)

    async def close(self) -> None:
        await self.http.aclose()


def options(deployment: Deployment) -> dict[str, Any]:
    return {
        "auth": Bearer(deployment.tokens),
        "headers": {"User-Agent": "acta"},
        "timeout": httpx2.Timeout(ANSWER_TIMEOUT_SECONDS, connect=CONNECT_TIMEOUT_SECONDS),
        # a proxy named by the environment does not reach this machine
        "trust_env": not is_loopback(deployment.api_url),
    }


def arguments_of(request: HttpRequest, url: str) -> dict[str, Any]:
    """The arguments for `httpx2.Client.request`. JSON is ASCII, and every body has its digest: the gateway passes text
    on as text, and so the API sees that it is the text that was sent.
    """
    headers, content = dict(request.headers), request.content
    if request.body is not None:
        headers["Content-Type"] = "application/json"
        content = json.dumps(request.body, separators=(",", ":"), allow_nan=False).encode()
    if content is not None:
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        headers["Content-Digest"] = f"sha-256=:{digest}:"
    return {
        "method": request.method,
        "url": url + request.path,
        "params": request.parameters,
        "headers": headers,
        "content": content,
    }


def answer_of(response: httpx2.Response) -> HttpResponse:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return HttpResponse(response.status_code, headers, response.content)


def no_answer(error: Exception, url: str) -> NoResponse:
    """The answer for a request that got none. Raises InvalidDeploymentError if nothing can be sent to `url` at all."""
    shown = one_line(url, 100)
    if isinstance(error, UNUSABLE):
        raise InvalidDeploymentError(f"{shown} cannot be used as the API's URL") from None
    if isinstance(error, ApiConnectionError):  # raised by the issuer's request while the token was renewed
        return NoResponse(str(error))
    why = one_line(str(error), 100) or type(error).__name__
    if isinstance(error, httpx2.ConnectError):
        why = "the connection was refused; is the deployment running?"
    elif isinstance(error, httpx2.TimeoutException):
        why = "it took too long"
    elif isinstance(error, httpx2.DecodingError):
        why = "it came broken"
    return NoResponse(f"no answer from {shown}: {why}")


C = TypeVar("C", bound=SyncCaller | AsyncCaller)


class Calls(Generic[C]):
    def __init__(self, caller: C) -> None:
        self.caller = caller


class operation(Generic[P, T]):  # noqa: N801  # used as a decorator
    def __init__(self, flow: Callable[Concatenate[Any, P], Flow[T]]) -> None:
        self.flow = flow
        self.__doc__ = flow.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Calls[SyncCaller], owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, instance: Calls[AsyncCaller], owner: type) -> Callable[P, Awaitable[T]]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        flow: Callable[..., Any] = MethodType(self.flow, instance)
        return update_wrapper(lambda *args, **named: instance.caller.run(flow(*args, **named)), flow)


class listing(Generic[P, T]):  # noqa: N801  # used as a decorator
    def __init__(self, stream: Callable[Concatenate[Any, P], Stream[T]]) -> None:
        self.stream = stream
        self.__doc__ = stream.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...
    @overload
    def __get__(self, instance: Calls[SyncCaller], owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, instance: Calls[AsyncCaller], owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        stream: Callable[..., Any] = MethodType(self.stream, instance)
        return update_wrapper(lambda *args, **named: instance.caller.iterate(stream(*args, **named)), stream)

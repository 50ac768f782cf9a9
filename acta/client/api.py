"""`acta.Client` and `acta.AsyncClient`: every call of the API, waiting or with `await`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from acta.client.callers import AsyncCaller, C, Caller, Calls, listing, operation
from acta.client.calls import (
    AgentCalls,
    ApiCalls,
    McpServerCalls,
    MemoryCalls,
    NotificationCalls,
    PromptCalls,
    ToolCalls,
    ToolSecretCalls,
)
from acta.client.deployment import Deployment
from acta.client.files import FileCalls
from acta.client.flows import Flow, Request, Stream, data, pages, path_of
from acta.client.sessions import SessionCalls

if TYPE_CHECKING:
    from acta.client import shapes


class DeploymentCalls(Calls[C]):
    """Calls about the deployment, and any call by its path."""

    @operation
    def usage(
        self,
        *,
        by: Literal["hour", "day", "agent", "model", "user"] = "day",
        since: str | None = None,
        until: str | None = None,
        limit: int = 200,
        cursor: str | None = None,
    ) -> Flow[shapes.TenantUsage]:
        """What the tenant has used, in sums; of those who are no admins their own. Times are RFC 3339. `limit`: rows of
        the answer, which has the sum of all of them in any case.
        """
        query = {"by": by, "from": since, "to": until, "limit": limit, "cursor": cursor}
        return data(Request("GET", path_of("usage"), query))

    @operation
    def get(self, /, path: str, **query: Any) -> Flow[Any]:
        """The `data` of the answer. A query parameter that is None is left out."""
        return data(Request("GET", path, query))

    @listing
    def items(self, /, path: str, **query: Any) -> Stream[Any]:
        """The items of every page of a list, a page fetched when it is needed."""
        return pages(path, **query)

    @operation
    def post(self, /, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> Flow[Any]:
        """The `data` of the answer."""
        return data(Request("POST", path, query, body=dict(body or {})))

    @operation
    def put(self, path: str, body: Mapping[str, Any]) -> Flow[Any]:
        """The `data` of the answer."""
        return data(Request("PUT", path, body=dict(body)))


class EveryCall(ApiCalls[C], SessionCalls[C], DeploymentCalls[C]):
    """Calls of the API. Those about one kind of thing are grouped, as in `client.files.read(…)`.

    `idempotency_key`: a key of your own, for a program that may be started again and must not do it twice. Each call
    has one anyway, the same for all its attempts.
    """

    def __init__(self, caller: C) -> None:
        super().__init__(caller)
        self.files = FileCalls(caller)
        self.agents = AgentCalls(caller)
        self.tools = ToolCalls(caller)
        self.mcp_servers = McpServerCalls(caller)
        self.tool_secrets = ToolSecretCalls(caller)
        self.notifications = NotificationCalls(caller)
        self.prompts = PromptCalls(caller)
        self.memories = MemoryCalls(caller)

    @property
    def deployment(self) -> Deployment:
        return self.caller.deployment

    @property
    def url(self) -> str:
        return self.caller.url


class Client(EveryCall[Caller]):
    """Calls one deployment (default: the one that ACTA_API_URL and ACTA_TOKEN name); every call raises ClientError.

    A request is sent several times where no answer comes or a status says to try again. That is safe for a POST too:
    each carries an Idempotency-Key, the same one in every attempt. `pause` waits between attempts; it takes seconds.
    A client may be used by several threads.
    """

    def __init__(
        self, deployment: Deployment | None = None, *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        super().__init__(Caller(deployment or Deployment.from_environ(), pause))

    def close(self) -> None:
        self.caller.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(EveryCall[AsyncCaller]):
    """`Client` for asyncio: its methods are awaited, its lists and followings are iterated over with `async for`."""

    def __init__(
        self,
        deployment: Deployment | None = None,
        *,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        super().__init__(AsyncCaller(deployment or Deployment.from_environ(), pause))

    async def close(self) -> None:
        await self.caller.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

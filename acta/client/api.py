"""`acta.Client` and `acta.AsyncClient`: every call of the API, waiting or with `await`. Most calls are generated. Those
in this file are written by hand: they send more than one request, or they are about files, which are not JSON.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from acta.client.callers import AsyncCaller, C, Calls, SyncCaller, listing, operation
from acta.client.calls import (
    AgentCalls,
    ApiCalls,
    McpServerCalls,
    MemoryCalls,
    NotificationCalls,
    PromptCalls,
    ScheduleCalls,
    ToolCalls,
    ToolSecretCalls,
    TriggerCalls,
)
from acta.client.deployment import Deployment
from acta.client.flows import (
    Flow,
    HttpRequest,
    Stream,
    content,
    data,
    file_path,
    first,
    flattened,
    given,
    pages,
    path_of,
    session_path,
)
from acta.client.following import PATIENCE_SECONDS, Told, Update, updates, whole_inputs

if TYPE_CHECKING:
    from acta.client import shapes


class SessionCalls(Calls[C]):
    """Calls that do more than send one request."""

    @operation
    def session(self, session_id: str) -> Flow[shapes.Session]:
        """The session as it is now."""
        answer = yield from data(HttpRequest("GET", session_path(session_id), {"after": "0", "wait": 0}))
        session: shapes.Session = answer["session"]
        return session

    @listing
    def sessions(
        self,
        *,
        state: str | None = None,
        agent_id: str | None = None,
        created_by: str | None = None,
        metadata: tuple[str, str] | None = None,
        goal: str | None = None,
        goal_met: bool | None = None,
        children: bool = False,
        limit: int | None = None,
    ) -> Stream[shapes.Session]:
        """Newest first. `metadata`: a name and its value. `goal`: how the goal begins. `goal_met`: only completed ones
        that met it, or did not. `children`: also sessions that calls of other sessions have started.
        `limit`: the size of a page; pages are read as far as you iterate.
        """
        return pages(
            path_of("sessions"),
            state=state,
            agent_id=agent_id,
            created_by=created_by,
            metadata=None if metadata is None else "=".join(metadata),
            goal=goal,
            goal_met=None if goal_met is None else str(goal_met).lower(),
            children="true" if children else None,
            limit=limit,
        )

    @listing
    def updates(
        self,
        session_id: str,
        *,
        after: str = "0",
        patience_seconds: float = PATIENCE_SECONDS,
        on_outage: Told | None = None,
    ) -> Stream[Update]:
        """The session with its new events, each time that there is something new, until it ends.

        To go on later, keep `Update.cursor` and give it as `after`. Broken connections and restarts of the stack are
        waited out for `patience_seconds`.
        """
        return updates(session_id, after, patience_seconds=patience_seconds, on_outage=on_outage)

    @listing
    def follow(
        self, session_id: str, *, after: str = "0", patience_seconds: float = PATIENCE_SECONDS
    ) -> Stream[shapes.Event]:
        """Every event until the session ends, each once and in order. Outages on the way are waited out."""
        found = updates(session_id, after, patience_seconds=patience_seconds, looks_below=False)
        return flattened(found, lambda one: one.events)

    @operation
    def wait(self, session_id: str, *, for_people: bool = False) -> Flow[shapes.Session]:
        """The session once it has ended, is idle, or needs a person: see `state` and `interventions`. What a session
        below it asks is not in there: it is one of `interventions(state="pending")` whose `chain` names this session.

        `for_people`: go on waiting while it needs a person.
        """
        found = updates(session_id, looks_below=not for_people)
        update = yield from first(found, lambda one: one.waits_for_a_person and not for_people)
        assert update is not None, "a session that can be followed has an update"
        return update.session

    @listing
    def interventions(
        self, session_id: str | None = None, *, state: str | None = None, limit: int | None = None
    ) -> Stream[shapes.Intervention]:
        """Of one session, the pending ones; or of all that you may see, in every state. `state` names another one, or
        `all`.
        """
        path = path_of("interventions") if session_id is None else session_path(session_id, "interventions")
        return pages(path, state=state, limit=limit)

    @operation
    def with_whole_inputs(self, session_id: str, intervention: Mapping[str, Any]) -> Flow[dict[str, Any]]:
        """The intervention with the whole input of each of its tool calls: a person must see all of what they approve.

        Raises UnexpectedAnswerError if an input is not the one to which the decision will be bound.
        """
        return whole_inputs(session_id, intervention)

    @operation
    def edit_plan(
        self,
        session_id: str,
        operations: Sequence[Mapping[str, Any]],
        *,
        version: int,
        comment: str | None = None,
    ) -> Flow[shapes.Plan]:
        """Adds, edits, skips and reorders pending steps, all or none; the agent is told. `version`: that of the plan
        that you read. Raises PreconditionFailedError if the plan has another version by now.
        """
        body = given(operations=list(operations), comment=comment)
        headers = {"If-Match": f'"{version}"'}
        return data(HttpRequest("PATCH", session_path(session_id, "plan"), body=body, headers=headers))


class FileCalls(Calls[C]):
    """The tenant's storage, which the agents' file tools see. A path `~/…` is your own; nobody else sees it."""

    @listing
    def list(self, prefix: str | None = None) -> Stream[shapes.File]:
        return pages(path_of("files"), prefix=prefix)

    @operation
    def read(self, path: str, version_id: str | None = None) -> Flow[bytes]:
        """The file's bytes, of the present version or of the one that is named."""
        return content(HttpRequest("GET", file_path(path), {"version": version_id}))

    @operation
    def write(
        self, path: str, content: bytes, *, new: bool = False, etag: str | None = None
    ) -> Flow[shapes.WrittenFile]:
        """Writes a file and replaces what is there. Raises PreconditionFailedError with `new` if there is a file, and
        with `etag` if the file is not the version with this etag.
        """
        headers = {"Content-Type": "application/octet-stream", **given(**{"If-Match": etag})}
        if new:
            headers["If-None-Match"] = "*"
        return data(HttpRequest("PUT", file_path(path), content=content, headers=headers))

    @operation
    def delete(self, path: str, *, etag: str | None = None) -> Flow[None]:
        """Raises PreconditionFailedError with `etag` if the file is not the version with this etag."""
        return data(HttpRequest("DELETE", file_path(path), headers=given(**{"If-Match": etag})))

    @listing
    def deleted(self, prefix: str | None = None) -> Stream[shapes.DeletedFile]:
        """The files that were deleted and not written again. `versions` and `restore` bring one back."""
        return pages(path_of("files"), prefix=prefix, deleted="1")

    @listing
    def versions(self, path: str) -> Stream[shapes.FileVersion]:
        """The versions of a file, newest first, also of a deleted file."""
        return pages(file_path(path), versions="1")

    @operation
    def restore(self, path: str, version_id: str) -> Flow[shapes.WrittenFile]:
        """Writes an earlier version again."""
        return data(HttpRequest("POST", file_path(path), {"restore": version_id}, body={}))


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
        """The sums of what the tenant has used; somebody who is no admin gets their own. Times are RFC 3339. `limit`:
        rows of the answer, whose total is of all rows in any case.
        """
        query = {"by": by, "from": since, "to": until, "limit": limit, "cursor": cursor}
        return data(HttpRequest("GET", path_of("usage"), query))

    @operation
    def get(self, /, path: str, **query: Any) -> Flow[Any]:
        """The `data` of the answer. A query parameter that is None is left out."""
        return data(HttpRequest("GET", path, query))

    @listing
    def items(self, /, path: str, **query: Any) -> Stream[Any]:
        """The items of every page of a list, a page fetched when it is needed."""
        return pages(path, **query)

    @operation
    def post(self, /, path: str, body: Mapping[str, Any] | None = None, **query: Any) -> Flow[Any]:
        """The `data` of the answer."""
        return data(HttpRequest("POST", path, query, body=dict(body or {})))

    @operation
    def put(self, path: str, body: Mapping[str, Any]) -> Flow[Any]:
        """The `data` of the answer."""
        return data(HttpRequest("PUT", path, body=dict(body)))


class EveryCall(ApiCalls[C], SessionCalls[C], DeploymentCalls[C]):
    """Calls of the API. Those about one kind of thing are grouped, as in `client.files.read(…)`.

    `idempotency_key`: a key of your own, for a program that may be started again and must not do the same thing twice.
    Without it each call gets a new key, which all its attempts share.
    """

    def __init__(self, caller: C) -> None:
        super().__init__(caller)
        self.files = FileCalls(caller)
        self.agents = AgentCalls(caller)
        self.tools = ToolCalls(caller)
        self.mcp_servers = McpServerCalls(caller)
        self.tool_secrets = ToolSecretCalls(caller)
        self.notifications = NotificationCalls(caller)
        self.triggers = TriggerCalls(caller)
        self.prompts = PromptCalls(caller)
        self.memories = MemoryCalls(caller)
        self.schedules = ScheduleCalls(caller)

    @property
    def deployment(self) -> Deployment:
        return self.caller.deployment

    @property
    def url(self) -> str:
        return self.caller.url


class Client(EveryCall[SyncCaller]):
    """Calls one deployment (default: the one that ACTA_API_URL and ACTA_TOKEN name); every call raises ClientError.

    A request is sent again if no answer comes or a status says to try again. That is safe for a POST too: each carries
    an Idempotency-Key, the same one in every attempt. `pause` waits between attempts; it takes seconds. A client may be
    used by several threads.
    """

    def __init__(
        self, deployment: Deployment | None = None, *, pause: Callable[[float], None] = time.sleep
    ) -> None:
        super().__init__(SyncCaller(deployment or Deployment.from_environ(), pause))

    def close(self) -> None:
        self.caller.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(EveryCall[AsyncCaller]):
    """`Client` for asyncio: its methods are awaited, and its lists and streams of updates are read with `async for`."""

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

"""Long-term memories: `/v1/memories` (design §3). Members read and write their tenant's."""

from collections.abc import Callable
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body, Query

from functions.admin.paging import Cursor, bad_cursor
from shared.api.app import Api
from shared.api.request.bodies import CreateMemory, PutMemory
from shared.api.request.idempotency import IdempotencyGuard
from shared.api.response.definition_views import memory_view
from shared.api.response.envelope import no_content, success
from shared.api.response.etag import admits, etag
from shared.domain.definitions.memory import MAX_PER_AGENT, Memory, MemoryKind, Source
from shared.domain.errors import Conflict, NotFound, ValidationFailed
from shared.domain.ids import MEMORY
from shared.ports.clock import Clock
from shared.ports.definitions import DefinitionStore
from shared.ports.log import IdempotencyRecord
from shared.ports.memories import MemoryChanged, MemoryFull, MemoryStore

MAX_PAGE = 200


def add_memories(
    api: Api, store: MemoryStore, agents: DefinitionStore, once: IdempotencyGuard, clock: Clock
) -> None:
    @api.get("/v1/memories")
    def list_memories(
        agent_id: Annotated[str | None, Query(min_length=1, max_length=64)] = None,
        kind: Annotated[MemoryKind | None, Query()] = None,
        limit: Annotated[int, Query(ge=1, le=MAX_PAGE)] = 50,
        cursor: Cursor = None,
    ) -> Response[str]:
        with bad_cursor():
            page = store.list(api.caller.tenant, agent_id=agent_id, kind=kind, limit=limit, cursor=cursor)
        return success({"items": [memory_view(each) for each in page.memories], "next_cursor": page.cursor})

    @api.post("/v1/memories")
    def create_memory(body: Annotated[CreateMemory, Body()]) -> Response[str]:
        tenant, now = api.caller.tenant, clock.now()
        if agents.agent(tenant, body.agent_id) is None:
            raise ValidationFailed("There is no such agent.", {"agent_id": ["There is no agent of that id."]})
        memory = Memory(
            memory_id=clock.new_id(MEMORY),
            agent_id=body.agent_id,
            kind=body.kind,
            text=body.text.strip(),
            tags=_tags(body),
            source=Source(user=api.caller.user),
            created_at=now,
            updated_at=now,
        )

        def act(record: Callable[[Memory], IdempotencyRecord] | None) -> dict[str, Any]:
            try:
                store.add(tenant, memory, record and record(memory))
            except MemoryFull:
                raise Conflict(
                    f"The agent has {MAX_PER_AGENT} memories and no summary that could make room. Delete some."
                ) from None
            return memory_view(memory)

        view, _ = once.answer(api.incoming, tenant, memory_view, act, status=201)
        return success(view, 201, {"Location": f"/v1/memories/{view['memory_id']}"})

    @api.get("/v1/memories/{memory_id}")
    def read_memory(memory_id: str) -> Response[str]:
        return _answer(_found(store, api.caller.tenant, memory_id))

    @api.put("/v1/memories/{memory_id}")
    def replace_memory(memory_id: str, body: Annotated[PutMemory, Body()]) -> Response[str]:
        """Its source is then whoever wrote it last; the session it came from stays named."""
        caller = api.caller
        old = _as_expected(api, store, memory_id)
        new = old.model_copy(
            update={
                "kind": body.kind,
                "text": body.text.strip(),
                "tags": _tags(body),
                "source": Source(session_id=old.source.session_id, user=caller.user),
                "updated_at": clock.now(),
            }
        )
        try:
            store.update(caller.tenant, old, new)
        except MemoryChanged:
            raise _changed() from None
        return _answer(new)

    @api.delete("/v1/memories/{memory_id}")
    def delete_memory(memory_id: str) -> Response[str]:
        old = _as_expected(api, store, memory_id)
        try:
            store.delete(api.caller.tenant, old)
        except MemoryChanged:
            raise _changed() from None
        return no_content()


def _tags(body: PutMemory) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.strip() for tag in body.tags))


def _found(store: MemoryStore, tenant: str, memory_id: str) -> Memory:
    memory = store.get(tenant, memory_id)
    if memory is None:
        raise NotFound("There is no such memory.")
    return memory


def _as_expected(api: Api, store: MemoryStore, memory_id: str) -> Memory:
    memory = _found(store, api.caller.tenant, memory_id)
    if not admits(api.incoming.headers.get("if-match"), _tag(memory)):
        raise _changed()
    return memory


def _changed() -> Conflict:
    return Conflict("The memory was changed meanwhile. Read it again and decide anew.")


def _tag(memory: Memory) -> str:
    return etag(int(memory.updated_at.timestamp() * 1_000_000))


def _answer(memory: Memory) -> Response[str]:
    return success(memory_view(memory), headers={"ETag": _tag(memory)})

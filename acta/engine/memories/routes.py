"""Long-term memories: `/v1/memories` (docs/design/files.md 11). Members read and write those of their tenant."""

from functools import partial
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from acta.engine.agents.agent import AGENT_ID_PATTERN, DEFAULT_AGENT, AgentDefinition, require_start_role
from acta.engine.api.app import Api
from acta.engine.api.envelope import Response, page, success
from acta.engine.api.etag import etag
from acta.engine.api.idempotency import Json, idempotency_key, record_of, stored_answer
from acta.engine.api.json_body import RequestBody
from acta.engine.api.listing_cursor import MAX_LONG_PAGE, ListingCursor, listing_cursor
from acta.engine.api.resource import Resource
from acta.engine.clock import MEMORY
from acta.engine.errors import Conflict, ValidationFailed
from acta.engine.memories.answers import memory_view
from acta.engine.memories.memory import (
    MAX_PER_AGENT,
    MAX_TAGS,
    MAX_TEXT_CHARS,
    Memory,
    MemoryChanged,
    MemoryFull,
    MemoryKind,
    Source,
    Tag,
)
from acta.engine.untrusted.texts import NOT_BLANK, READABLE


class MemoryBody(RequestBody):
    kind: MemoryKind
    """What sort of memory."""
    text: Annotated[str, Field(max_length=MAX_TEXT_CHARS), READABLE, NOT_BLANK]
    """What is to be remembered."""
    tags: Annotated[list[Annotated[Tag, READABLE, NOT_BLANK]], Field(max_length=MAX_TAGS)] = Field(
        default_factory=list
    )
    """Words by which it is found."""


class PutMemory(MemoryBody):
    """The whole memory."""

    EXAMPLES: ClassVar = {
        "shared": {
            "kind": "fact",
            "text": "Invoices are in the folder billing/2026/.",
            "shared": True,
        },
    }

    shared: Literal[True] | None = None
    """true: everybody's sessions may be reminded of it from now on. Absent: it stays for the same people."""


class CreateMemory(MemoryBody):
    """A memory."""

    EXAMPLES: ClassVar = {
        "fact": {
            "kind": "fact",
            "text": "Invoices are in the folder billing/.",
            "tags": ["billing"],
        },
    }

    agent_id: Annotated[str, Field(pattern=AGENT_ID_PATTERN)] = DEFAULT_AGENT
    """Whose sessions are reminded of it."""


def _find(api: Api, tenant: str, memory_id: str) -> Memory | None:
    """None also if it is for another user. Admins see such memories, but none that comes from a private session."""
    memory = api.app.memories.get(tenant, memory_id)
    return memory if memory is not None and memory.is_seen_by(api.caller.user, admin=_is_admin(api)) else None


def _is_admin(api: Api) -> bool:
    return "admin" in api.caller.roles


def _memories(api: Api) -> Resource[Memory]:
    return Resource[Memory](
        api,
        find=partial(_find, api),
        view=memory_view,
        tag=lambda memory: etag(int(memory.updated_at.timestamp() * 1_000_000)),
        stale=(MemoryChanged,),
        missing="There is no such memory.",
        changed="The memory was changed meanwhile. Read it again and decide again.",
    )


def _check_may_write(api: Api, agent: AgentDefinition | None) -> None:
    """A memory is words for the agent's sessions. Raises StartRoleMissing."""
    if agent is not None:
        require_start_role(agent, api.caller.roles)


def list_memories(
    api: Api,
    agent_id: Annotated[str | None, Field(min_length=1, max_length=64)] = None,
    kind: MemoryKind | None = None,
    limit: Annotated[int, Field(ge=1, le=MAX_LONG_PAGE)] = 50,
    cursor: ListingCursor = None,
) -> Response:
    with listing_cursor():
        found = api.app.memories.list(
            api.caller.tenant,
            agent_id=agent_id,
            kind=kind,
            user=api.caller.user,
            admin=_is_admin(api),
            limit=limit,
            cursor=cursor,
        )
    return page([memory_view(memory) for memory in found.memories], found.cursor)


def create_memory(api: Api, body: CreateMemory) -> Response:
    tenant, now = api.caller.tenant, api.app.clock.now()
    agent = api.app.definitions.agent(tenant, body.agent_id)
    if agent is None:
        raise ValidationFailed("There is no such agent.", {"agent_id": ["There is no agent of that id."]})
    _check_may_write(api, agent)
    memory = Memory(
        memory_id=api.app.clock.new_id(MEMORY),
        agent_id=body.agent_id,
        kind=body.kind,
        text=body.text,
        tags=_tags(body),
        source=Source(user=api.caller.user),
        created_at=now,
        updated_at=now,
        origin="person",
    )

    key = idempotency_key(api.request, 201)
    # The record of the key may outlive the memory, so it holds nothing of what was said. A repeat says the same
    # again, else it is refused.
    said = {"text": memory.text, "tags": list(memory.tags)}

    def create() -> Json:
        view = memory_view(memory)
        try:
            api.app.memories.add(
                tenant, memory, record_of(key, {k: v for k, v in view.items() if k not in said}, now)
            )
        except MemoryFull:
            raise Conflict(
                f"The agent has {MAX_PER_AGENT} memories and no summary that could make room. Delete some."
            ) from None
        return view

    view = api.app.idempotency.answer(key, create, repeat=lambda record: {**said, **stored_answer(record)})
    return success(view, 201, {"Location": f"/v1/memories/{view['memory_id']}"})


def read_memory(api: Api, memory_id: str) -> Response:
    memories = _memories(api)
    return memories.answer(memories.get(memory_id))


def replace_memory(api: Api, memory_id: str, body: PutMemory) -> Response:
    """Its source becomes the user who wrote it last; the session that it came from stays named. It stays for the same
    people, unless the body says `shared`.
    """
    memories = _memories(api)
    old = memories.get_as_read(memory_id)
    _check_may_write(api, api.app.definitions.agent(api.caller.tenant, old.agent_id))
    new = old.model_copy(
        update={
            "kind": body.kind,
            "text": body.text,
            "tags": _tags(body),
            "source": Source(session_id=old.source.session_id, user=api.caller.user),
            "updated_at": api.app.clock.now(),
            **({"origin": "person", "only_for": None, "private": False} if body.shared else {}),
        }
    )
    return memories.replaced(api.app.memories.update, old, new)


def delete_memory(api: Api, memory_id: str) -> Response:
    memories = _memories(api)
    return memories.deleted(api.app.memories.delete, memories.get_as_read(memory_id))


def _tags(body: MemoryBody) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tag.strip() for tag in body.tags))

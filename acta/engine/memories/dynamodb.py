"""Long-term memories on DynamoDB. Each memory is two items, so that one strongly consistent read finds it by its id, in
the listing of its tenant, and in the listing of its agent.

    pk                        sk                        attributes
    T#{tenant}                M#{memory}                k kind, u updated at, v, z body
    T#{tenant}#M#{agent}      M#{memory}                the same
    T#{tenant}#M#{agent}      H                         n how many, r revision, another text after each write

An agent's head item counts its memories and has their revision. Every write changes this item, on condition that it is
as it was read.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from acta.engine.clock import Clock
from acta.engine.errors import StoreThrottled
from acta.engine.log.commit import IdempotencyRecord
from acta.engine.log.store import KeyTaken
from acta.engine.memories import memory as ranking
from acta.engine.memories.memory import (
    MAX_PER_AGENT,
    Memory,
    MemoryChanged,
    MemoryFull,
    MemoryKind,
    MemoryPage,
)
from acta.engine.store.dynamodb import (
    ATTEMPTS,
    FREE,
    PAUSE_SECONDS,
    Action,
    ClockedTable,
    ConditionFailed,
    between,
    delete,
    put,
    put_record,
    query,
    transact,
)
from acta.engine.store.keys import from_cursor, key_part, position_near, tenant_pk, to_cursor
from acta.engine.store.schema import CURRENT
from acta.engine.store.table_layout import Item, dump, item_key, load, stored


def to_memory(version: int, data: bytes) -> Memory:
    return load("memory", Memory, version, data)


MEMORY = "M#"


def agent_pk(tenant: str, agent_id: str) -> str:
    return f"{tenant_pk(tenant)}#M#{key_part(agent_id)}"


def listed_key(tenant: str, memory_id: str) -> Item:
    """The key of the item in its tenant's listing."""
    return item_key(tenant_pk(tenant), MEMORY + key_part(memory_id))


def own_key(tenant: str, agent_id: str, memory_id: str) -> Item:
    """The key of the item in its agent's listing."""
    return item_key(agent_pk(tenant, agent_id), MEMORY + key_part(memory_id))


def memory_items(tenant: str, memory: Memory, version: int) -> tuple[Item, Item]:
    """The item in the tenant's listing and the item in the agent's."""
    attributes: Item = {
        "k": {"S": memory.kind},
        "u": {"S": memory.updated_at.isoformat()},
        "v": {"N": str(version)},
        "z": {"B": dump(memory, version)},
    }
    listed = listed_key(tenant, memory.memory_id)
    return {**listed, **attributes}, {**own_key(tenant, memory.agent_id, memory.memory_id), **attributes}


def item_memory(item: Item) -> Memory:
    return to_memory(*stored(item))


def head_key(tenant: str, agent_id: str) -> Item:
    return item_key(agent_pk(tenant, agent_id), "H")


AGENTS_KEPT = 16
QUERIES = 5
FILTERED_LIMIT = 200
"""A page looks at no more than QUERIES × FILTERED_LIMIT items: with a filter it may come back short, with a cursor."""

_AS_READ = "u = :u"
_RECORD_AT = 3
"""The record's place in the transaction of an addition: head, both items, record."""


class _Head(NamedTuple):
    size: int
    revision: str


class _Stretch(NamedTuple):
    """What one Query found. `last`: id of the last item that it looked at; empty: there are no more."""

    memories: tuple[Memory, ...]
    last: str


class DynamoMemories(ClockedTable):
    """A MemoryStore. `most`: how many memories one agent may have."""

    def __init__(
        self,
        table: str,
        clock: Clock,
        client: Any = None,
        most: int = MAX_PER_AGENT,
        *,
        write_version: int = CURRENT,
    ) -> None:
        super().__init__(table, clock, client, write_version=write_version)
        self._most = most
        self._known: OrderedDict[tuple[str, str], tuple[str, tuple[Memory, ...]]] = OrderedDict()

    def add(self, tenant: str, memory: Memory, record: IdempotencyRecord | None = None) -> bool:
        if self.get(tenant, memory.memory_id) is not None:
            return False
        one, other = memory_items(tenant, memory, self._write_version)
        added = [put(self._table, one, FREE), put(self._table, other)]
        if record is not None:
            added.append(put_record(self._table, record, self._clock))

        def change(head: _Head) -> tuple[int, Sequence[Action]]:
            if head.size < self._most:
                return head.size + 1, added
            return head.size, [*added, *self._removal(tenant, self._oldest_summary(tenant, memory))]

        try:
            self._change(tenant, memory.agent_id, change)
        except ConditionFailed as failed:
            if record is not None and _RECORD_AT in failed.failed:
                raise KeyTaken from None
            return False
        return True

    def get(self, tenant: str, memory_id: str) -> Memory | None:
        item = self._get(listed_key(tenant, memory_id))
        return None if item is None else item_memory(item)

    def list(
        self,
        tenant: str,
        *,
        agent_id: str | None,
        kind: MemoryKind | None,
        user: str | None = None,
        admin: bool = False,
        limit: int,
        cursor: str | None,
    ) -> MemoryPage:
        pk = tenant_pk(tenant) if agent_id is None else agent_pk(tenant, agent_id)
        scope, limit = f"M#{tenant}#{agent_id or ''}", max(limit, 1)
        before = None if cursor is None else from_cursor(scope, cursor)
        size = limit + 1 if kind is None and user is None else max(limit + 1, FILTERED_LIMIT)
        found: tuple[Memory, ...] = ()
        for number, stretch in enumerate(self._newest_first(pk, before, kind, size), start=1):
            found += tuple(
                memory for memory in stretch.memories if user is None or memory.is_seen_by(user, admin=admin)
            )
            if len(found) > limit:
                return MemoryPage(found[:limit], to_cursor(scope, found[limit - 1].memory_id))
            if not stretch.last or number < QUERIES:
                continue
            # The last item may be for somebody else alone, so its id is not given.
            position = found[-1].memory_id if found else position_near(stretch.last)
            if before is None or position < before:
                return MemoryPage(found, to_cursor(scope, position))
        return MemoryPage(found, None)

    def update(self, tenant: str, old: Memory, new: Memory) -> None:
        one, other = memory_items(tenant, new, self._write_version)
        actions = [put(self._table, one, _AS_READ, **_as_read(old)), put(self._table, other)]
        try:
            self._change(tenant, old.agent_id, lambda head: (head.size, actions))
        except ConditionFailed:
            raise MemoryChanged from None

    def delete(self, tenant: str, old: Memory) -> None:
        actions = self._removal(tenant, old)
        try:
            self._change(tenant, old.agent_id, lambda head: (head.size - 1, actions))
        except ConditionFailed:
            raise MemoryChanged from None

    def relevant(
        self,
        tenant: str,
        agent_id: str,
        user: str,
        query: str,
        limit: int,
        max_chars: int,
        *,
        private: bool = False,
    ) -> tuple[Memory, ...]:
        own = [memory for memory in self._all(tenant, agent_id) if memory.is_for(user, private=private)]
        return tuple(ranking.relevant(own, query, limit, max_chars))

    def _all(self, tenant: str, agent_id: str) -> tuple[Memory, ...]:
        """All memories of the agent. They are read again only where the head has another revision than before."""
        key, head = (tenant, agent_id), self._head(tenant, agent_id)
        known = self._known.get(key)
        if known is None or known[0] != head.revision:
            pk = agent_pk(tenant, agent_id)
            stretches = self._newest_first(pk, None, None, MAX_PER_AGENT) if head.size else ()
            memories = tuple(memory for stretch in stretches for memory in stretch.memories)
            known = self._known[key] = (head.revision, memories)
        self._known.move_to_end(key)
        if len(self._known) > AGENTS_KEPT:
            self._known.popitem(last=False)
        return known[1]

    def _oldest_summary(self, tenant: str, added: Memory) -> Memory:
        """Reads all summaries; this happens only when the agent has as many memories as it may have."""
        pk = agent_pk(tenant, added.agent_id)
        oldest = None
        for stretch in self._newest_first(pk, None, "summary", MAX_PER_AGENT):
            fitting = [memory for memory in stretch.memories if memory.makes_room_for(added)]
            oldest = fitting[-1] if fitting else oldest
        if oldest is None:
            raise MemoryFull
        return oldest

    def _removal(self, tenant: str, memory: Memory) -> tuple[Action, Action]:
        listed = listed_key(tenant, memory.memory_id)
        own = own_key(tenant, memory.agent_id, memory.memory_id)
        return delete(self._table, listed, _AS_READ, **_as_read(memory)), delete(self._table, own)

    def _change(
        self, tenant: str, agent_id: str, change: Callable[[_Head], tuple[int, Sequence[Action]]]
    ) -> None:
        """`change`: takes the head that was read, and gives the new count and what is written with it.

        Raises ConditionFailed, in which the head is action 0, only where the head itself stood still.
        """
        pause = PAUSE_SECONDS
        for _ in range(ATTEMPTS):
            head = self._head(tenant, agent_id)
            count, actions = change(head)
            revision = {"n": {"N": str(count)}, "r": {"S": self._clock.new_id("rev")}}
            item = {**head_key(tenant, agent_id), **revision}
            moved = put(self._table, item, "r = :r", r={"S": head.revision})
            try:
                transact(
                    self._dynamodb,
                    self._clock,
                    [moved if head.revision else put(self._table, item, FREE), *actions],
                )
                return
            except ConditionFailed as failed:
                if 0 not in failed.failed:
                    raise
            self._clock.back_off(pause)
            pause *= 2
        raise StoreThrottled("transact_write_items: other writers were in the way")

    def _head(self, tenant: str, agent_id: str) -> _Head:
        item = self._get(head_key(tenant, agent_id))
        return _Head(0, "") if item is None else _Head(int(item["n"]["N"]), item["r"]["S"])

    def _newest_first(
        self, pk: str, before: str | None, kind: MemoryKind | None, size: int
    ) -> Iterator[_Stretch]:
        """Makes one Query after another while the caller goes on. `size`: how many items each of them looks at."""
        request: dict[str, Any] = {
            "TableName": self._table,
            "ConsistentRead": True,
            "ScanIndexForward": False,
            "Limit": size,
            **between(pk, MEMORY),
        }
        if kind is not None:
            request["FilterExpression"] = "k = :k"
            request["ExpressionAttributeValues"][":k"] = {"S": kind}
        if before is not None:
            request["ExclusiveStartKey"] = {"pk": {"S": pk}, "sk": {"S": MEMORY + before}}
        for answer in query(self._dynamodb, **request):
            last = answer["LastEvaluatedKey"]["sk"]["S"] if "LastEvaluatedKey" in answer else ""
            memories = tuple(item_memory(item) for item in answer["Items"])
            yield _Stretch(memories, last.removeprefix(MEMORY))


def _as_read(memory: Memory) -> dict[str, dict[str, str]]:
    return {"u": {"S": memory.updated_at.isoformat()}}

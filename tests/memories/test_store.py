"""Long-term memories: an agent's own, within a bound, found again by what a task is about."""

import base64
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from acta.engine.log.store import KeyTaken
from acta.engine.memories.dynamodb import DynamoMemories, memory_items
from acta.engine.memories.memory import Memory, MemoryChanged, MemoryFull, MemoryKind, Source
from acta.engine.store.schema import CURRENT
from tests.stores.backends import MOST_MEMORIES, Aws, Stores, aws_stores
from tests.stores.documents import record_for

pytestmark = pytest.mark.contract


def make_memory(
    stores: Stores, text: str = "The printer is on floor 3", kind: MemoryKind = "fact", agent: str = "a"
) -> Memory:
    now = stores.clock.now()
    return Memory(
        memory_id=stores.clock.new_id("mem"),
        agent_id=agent,
        kind=kind,
        text=text,
        tags=("büro",),
        source=Source(session_id="ses_1", user="ann"),
        created_at=now,
        updated_at=now,
        origin="agent",
    )


def marked(memory: Memory, user: str | None) -> Memory:
    """As an agent notes it after it has read text from outside; `user` None: a person has lifted that."""
    origin = "person" if user is None else "after_outside_data"
    return memory.model_copy(update={"only_for": user, "origin": origin})


def fill(stores: Stores, tenant: str, kinds: Sequence[MemoryKind], agent: str = "a") -> list[Memory]:
    """Oldest first."""
    memories = [make_memory(stores, f"number {n}", kind, agent) for n, kind in enumerate(kinds)]
    for memory in memories:
        assert stores.memories.add(tenant, memory)
    return memories


def listed(
    stores: Stores, tenant: str, limit: int, agent_id: str | None = None, kind: MemoryKind | None = None
) -> list[list[str]]:
    pages, cursor = [], None
    while True:
        page = stores.memories.list(tenant, agent_id=agent_id, kind=kind, limit=limit, cursor=cursor)
        pages.append([memory.text for memory in page.memories])
        cursor = page.cursor
        if cursor is None:
            return pages


def test_a_memory_is_read_as_it_was_written_by_its_tenant_only(stores: Stores, tenant: str) -> None:
    memory = make_memory(stores, "Grüße 🪶")
    assert stores.memories.add(tenant, memory) is True
    assert stores.other_memories.get(tenant, memory.memory_id) == memory
    assert stores.memories.get(f"{tenant}x", memory.memory_id) is None
    assert stores.memories.get(tenant, "mem_unknown") is None


def test_adding_a_memory_again_changes_nothing(stores: Stores, tenant: str) -> None:
    memory = make_memory(stores)
    stores.memories.add(tenant, memory)
    assert stores.memories.add(tenant, memory.model_copy(update={"text": "other"})) is False
    assert stores.memories.get(tenant, memory.memory_id) == memory
    assert listed(stores, tenant, 5) == [[memory.text]]


def test_memories_are_listed_newest_first_by_agent_and_kind_in_pages(stores: Stores, tenant: str) -> None:
    fill(stores, tenant, ("fact", "lesson", "fact"), "a")
    fill(stores, tenant, ("fact", "summary"), "b")

    assert listed(stores, tenant, 9) == [["number 1", "number 0", "number 2", "number 1", "number 0"]]
    assert listed(stores, tenant, 2, "a") == [["number 2", "number 1"], ["number 0"]]
    assert listed(stores, tenant, 1, "a", "fact") == [["number 2"], ["number 0"]]
    assert listed(stores, tenant, 2, None, "fact") == [["number 0", "number 2"], ["number 0"]]
    assert listed(stores, tenant, 3, "c") == [[]]
    assert listed(stores, f"{tenant}x", 3) == [[]]


def test_a_cursor_of_another_listing_is_refused(stores: Stores, tenant: str) -> None:
    fill(stores, tenant, ("fact", "fact"))
    cursor = stores.memories.list(tenant, agent_id=None, kind=None, limit=1, cursor=None).cursor
    assert cursor is not None
    for other, agent, used in ((f"{tenant}x", None, cursor), (tenant, "a", cursor), (tenant, None, "x")):
        with pytest.raises(ValueError, match="cursor"):
            stores.memories.list(other, agent_id=agent, kind=None, limit=1, cursor=used)


def test_an_update_replaces_what_was_read_and_nothing_else(stores: Stores, tenant: str) -> None:
    old = make_memory(stores)
    stores.memories.add(tenant, old)
    stores.clock.advance(1)
    new = old.model_copy(update={"text": "It moved", "kind": "lesson", "updated_at": stores.clock.now()})
    stores.memories.update(tenant, old, new)

    assert stores.memories.get(tenant, old.memory_id) == new
    assert listed(stores, tenant, 5, "a", "lesson") == listed(stores, tenant, 5) == [["It moved"]]
    with pytest.raises(MemoryChanged):
        stores.other_memories.update(tenant, old, new)
    with pytest.raises(MemoryChanged):
        stores.other_memories.delete(tenant, old)
    with pytest.raises(MemoryChanged):
        stores.memories.update(f"{tenant}x", new, new)


def test_a_deleted_memory_is_gone_everywhere(stores: Stores, tenant: str) -> None:
    (memory,) = fill(stores, tenant, ("fact",))
    stores.memories.delete(tenant, memory)

    assert stores.memories.get(tenant, memory.memory_id) is None
    assert listed(stores, tenant, 5) == listed(stores, tenant, 5, "a") == [[]]
    assert stores.memories.relevant(tenant, "a", "ann", "number 0", 5, 1_000) == ()
    with pytest.raises(MemoryChanged):
        stores.memories.delete(tenant, memory)


def test_at_the_bound_the_oldest_summary_makes_room(stores: Stores, tenant: str) -> None:
    fill(stores, tenant, ("fact", "summary", "fact", "summary", "fact"))
    added = make_memory(stores, "newest")

    assert stores.memories.add(tenant, added) is True

    assert listed(stores, tenant, 9, "a") == [["newest", "number 4", "number 3", "number 2", "number 0"]]
    assert listed(stores, tenant, 9) == listed(stores, tenant, 9, "a")


@pytest.mark.parametrize("private", [True, False])
def test_a_summary_that_the_writer_does_not_see_makes_no_room(
    stores: Stores, tenant: str, private: bool
) -> None:
    anns = make_memory(stores, "of ann's alone", "summary").model_copy(
        update={"only_for": "ann", "private": private, "origin": "agent"}
    )
    stores.memories.add(tenant, anns)
    fill(stores, tenant, ["fact"] * (MOST_MEMORIES - 1))
    for source in (Source(user="mia"), Source(session_id="ses_2")):
        with pytest.raises(MemoryFull):
            stores.memories.add(tenant, make_memory(stores).model_copy(update={"source": source}))
    assert stores.memories.get(tenant, anns.memory_id) == anns
    assert stores.memories.add(tenant, make_memory(stores).model_copy(update={"source": Source(user="ann")}))
    assert stores.memories.get(tenant, anns.memory_id) is None


def test_on_aws_a_page_of_what_is_somebody_else_s_goes_on_and_names_none_of_it(
    account: Aws, tenant: str
) -> None:
    stores = aws_stores(account)
    memories = DynamoMemories(account.table, stores.clock, account.dynamodb, 2_000)
    oldest = make_memory(stores, "for everybody")
    memories.add(tenant, oldest)
    hidden: list[Memory] = []
    for second in (1, 2):
        stores.clock.advance(2)
        hidden += [
            make_memory(stores, f"hidden {second}").model_copy(update={"only_for": "ann"}) for _ in range(600)
        ]
    write(account, tenant, hidden)

    pages: list[tuple[Memory, ...]] = []
    cursor: str | None = None
    while not pages or cursor is not None:
        page = memories.list(tenant, agent_id=None, kind=None, user="mia", limit=1, cursor=cursor)
        pages.append(page.memories)
        cursor = page.cursor
        assert cursor is None or not any(
            memory.memory_id in base64.urlsafe_b64decode(cursor + "==").decode(errors="replace")
            for memory in hidden
        )
    assert pages == [(), (oldest,)]


def write(account: Aws, tenant: str, memories: Sequence[Memory]) -> None:
    """Into the tenant's listing, quickly."""
    for start in range(0, len(memories), 25):
        puts = [
            {"PutRequest": {"Item": memory_items(tenant, memory, CURRENT)[0]}}
            for memory in memories[start : start + 25]
        ]
        account.dynamodb.batch_write_item(RequestItems={account.table: puts})


def test_without_a_summary_the_bound_holds_until_something_is_deleted(stores: Stores, tenant: str) -> None:
    kept = fill(stores, tenant, ["fact"] * MOST_MEMORIES)
    added = make_memory(stores, "newest")
    with pytest.raises(MemoryFull):
        stores.memories.add(tenant, added)
    assert stores.memories.get(tenant, added.memory_id) is None
    assert stores.memories.add(tenant, kept[0]) is False
    assert stores.memories.add(tenant, make_memory(stores, "another agent's", agent="b")) is True

    stores.memories.delete(tenant, kept[2])
    assert stores.memories.add(tenant, added) is True
    with pytest.raises(MemoryFull):
        stores.memories.add(tenant, make_memory(stores))


def test_the_memory_and_its_idempotency_record_are_written_together_or_not_at_all(
    stores: Stores, tenant: str
) -> None:
    record = record_for(stores.clock, tenant)
    assert stores.memories.add(tenant, make_memory(stores), record) is True
    other = make_memory(stores, "other")
    with pytest.raises(KeyTaken):
        stores.memories.add(tenant, other, record)
    assert stores.memories.get(tenant, other.memory_id) is None
    assert stores.index.idempotency_record(tenant, record.route, record.key) == record


def test_what_is_relevant_is_found_in_the_agent_s_own_memories(stores: Stores, tenant: str) -> None:
    for text, agent in (
        ("Reports are kept in the folder finance", "a"),
        ("The cat is called Minka", "a"),
        ("Reports are due on Monday", "b"),
    ):
        stores.memories.add(tenant, make_memory(stores, text, agent=agent))

    def found(query: str, agent: str = "a") -> list[str]:
        return [each.text for each in stores.memories.relevant(tenant, agent, "ann", query, 5, 1_000)]

    assert found("reports") == ["Reports are kept in the folder finance"]
    assert found("reports", "b") == ["Reports are due on Monday"]
    assert found("invoices") == []
    assert found("reports", "c") == []
    assert stores.memories.relevant(f"{tenant}x", "a", "ann", "reports", 5, 1_000) == ()


def test_what_is_for_one_user_is_found_and_listed_for_that_user_alone(stores: Stores, tenant: str) -> None:
    for text, user in (("Reports are shared", None), ("Reports of ann", "ann"), ("Reports of bob", "bob")):
        stores.memories.add(tenant, marked(make_memory(stores, text), user))

    def found(user: str) -> set[str]:
        return {each.text for each in stores.memories.relevant(tenant, "a", user, "reports", 5, 1_000)}

    def seen(user: str | None) -> list[str]:
        pages, cursor = [], None
        while True:
            page = stores.memories.list(tenant, agent_id=None, kind=None, user=user, limit=1, cursor=cursor)
            pages += [memory.text for memory in page.memories]
            cursor = page.cursor
            if cursor is None:
                return pages

    assert found("ann") == {"Reports are shared", "Reports of ann"}
    assert found("eve") == {"Reports are shared"}
    assert seen("bob") == ["Reports of bob", "Reports are shared"]
    assert seen(None) == ["Reports of bob", "Reports of ann", "Reports are shared"]


def test_what_a_private_session_noted_is_found_by_private_sessions_and_listed_for_its_user_alone(
    stores: Stores, tenant: str
) -> None:
    own = marked(make_memory(stores, "Reports of ann"), "ann").model_copy(update={"private": True})
    stores.memories.add(tenant, own)
    stores.memories.add(tenant, marked(make_memory(stores, "Reports of bob"), "bob"))

    def found(user: str, private: bool) -> list[str]:
        memories = stores.memories.relevant(tenant, "a", user, "reports", 5, 1_000, private=private)
        return [each.text for each in memories]

    def seen(user: str, admin: bool) -> list[str]:
        page = stores.memories.list(
            tenant, agent_id=None, kind=None, user=user, admin=admin, limit=9, cursor=None
        )
        return [each.text for each in page.memories]

    assert stores.memories.get(tenant, own.memory_id) == own
    assert found("ann", private=True) == ["Reports of ann"]
    assert found("ann", private=False) == found("eve", private=True) == []
    assert found("bob", private=True) == found("bob", private=False) == ["Reports of bob"]
    assert seen("ann", admin=False) == ["Reports of ann"]
    assert seen("ann", admin=True) == ["Reports of bob", "Reports of ann"]
    assert seen("eve", admin=True) == ["Reports of bob"]


def test_a_warm_worker_finds_what_another_one_added_changed_or_deleted(stores: Stores, tenant: str) -> None:
    def found() -> list[str]:
        return [each.text for each in stores.memories.relevant(tenant, "a", "ann", "printer", 5, 1_000)]

    assert found() == []
    first = make_memory(stores, "The printer is on floor 3")
    stores.other_memories.add(tenant, first)
    assert found() == [first.text]

    stores.clock.advance(1)
    second = first.model_copy(update={"text": "The printer is gone", "updated_at": stores.clock.now()})
    stores.other_memories.update(tenant, first, second)
    assert found() == [second.text]

    stores.other_memories.delete(tenant, second)
    assert found() == []


class Racing:
    """A DynamoDB client before whose first transaction somebody else is faster."""

    def __init__(self, client: Any, first: Callable[[], object]) -> None:
        self._client = client
        self._first: Callable[[], object] | None = first

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def transact_write_items(self, **request: Any) -> Any:
        first, self._first = self._first, None
        if first is not None:
            first()
        return self._client.transact_write_items(**request)


def test_on_aws_two_additions_at_once_both_count(account: Aws, tenant: str) -> None:
    stores = aws_stores(account)
    fill(stores, tenant, ["fact"] * (MOST_MEMORIES - 2))
    fast, slow, late = (make_memory(stores, text) for text in ("fast", "slow", "late"))
    racing = Racing(account.dynamodb, lambda: stores.memories.add(tenant, fast))

    assert DynamoMemories(account.table, stores.clock, racing, MOST_MEMORIES).add(tenant, slow) is True

    assert listed(stores, tenant, 9, "a")[0][:2] == ["slow", "fast"]
    with pytest.raises(MemoryFull):
        stores.memories.add(tenant, late)


def test_on_aws_the_last_place_is_given_once(account: Aws, tenant: str) -> None:
    stores = aws_stores(account)
    fill(stores, tenant, ["fact"] * (MOST_MEMORIES - 1))
    fast, slow = make_memory(stores, "fast"), make_memory(stores, "slow")
    racing = Racing(account.dynamodb, lambda: stores.memories.add(tenant, fast))

    with pytest.raises(MemoryFull):
        DynamoMemories(account.table, stores.clock, racing, MOST_MEMORIES).add(tenant, slow)

    assert listed(stores, tenant, 9, "a")[0][0] == "fast"


def test_on_aws_a_change_lost_to_another_one_is_reported(account: Aws, tenant: str) -> None:
    stores = aws_stores(account)
    (old,) = fill(stores, tenant, ["fact"])
    stores.clock.advance(1)
    theirs, mine = (
        old.model_copy(update={"text": text, "updated_at": stores.clock.now()}) for text in ("theirs", "mine")
    )
    racing = Racing(account.dynamodb, lambda: stores.memories.update(tenant, old, theirs))

    with pytest.raises(MemoryChanged):
        DynamoMemories(account.table, stores.clock, racing, MOST_MEMORIES).update(tenant, old, mine)

    assert stores.memories.get(tenant, old.memory_id) == theirs

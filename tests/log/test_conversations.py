"""A conversation read back from the stores: by a worker that has it and by one that starts cold, compacted or not."""

import pytest

from acta.engine.errors import SchemaUnknown
from acta.engine.log.commit import Change, Position
from acta.engine.log.conversation import (
    INLINE_BYTES,
    AssistantEntry,
    Compacted,
    Content,
    Entry,
    ToolCall,
    ToolEntry,
    UserEntry,
)
from acta.engine.log.head import Run
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.turn.engine import position
from tests.stores.backends import Stores
from tests.stores.documents import make_head

SESSION = "ses_1"
LARGE = "line of a large text\n" * 400


class Worker:
    """One process: its repository, and what it writes."""

    def __init__(self, stores: Stores, tenant: str, *, other: bool = False) -> None:
        log, blobs = (stores.other_log, stores.other_blobs) if other else (stores.log, stores.blobs)
        self.repository = SessionRepository(log, blobs, stores.clock)
        self.tenant = tenant

    def begin(self) -> Position:
        head = make_head(
            self.tenant, SESSION, state="planning", run=Run(run_id="run_1", first=1, max_steps=9)
        )
        change = Change(head, 1, self.repository.clock.now())
        change.entry(UserEntry(message_id="msg_goal", content=Content.of("The goal.")))
        self.repository.create("start", change)
        return position(head)

    def turn(self, at: Position, number: int, delivered: tuple[str, ...] = ()) -> Session:
        """A reply with a large input and its large result."""
        call = ToolCall(
            call_id=f"call_{number}", effect_id="e", name="create_file", input={"content": f"{number}{LARGE}"}
        )
        reply = AssistantEntry(message_id=f"msg_{number}", content=Content.of("Writing."), calls=(call,))
        result = ToolEntry(
            call_id=call.call_id, name=call.name, content=Content.of(f"{number} result\n{LARGE}")
        )
        session = self.repository.conversation(at)
        for change in self.repository.attempts(session, f"turn/{number}"):
            change.entry(reply)
            change.entry(result)
            change.commit(delivered=delivered)
        return session

    def compact(self, at: Position) -> Session:
        """All but the goal and the last turn becomes a summary."""
        session = self.repository.conversation(at)
        summary = UserEntry(message_id="msg_sum", content=Content.of(f"Summary.\n{LARGE}"), origin="summary")
        kept = (session.entries[0], summary, session.entries[-1])
        stored = self.repository.as_stored(session.head, kept)
        results = self.repository.as_stored(session.head, session.results.values())
        self.replace(session, Compacted(entries=stored, results=results))
        self.repository.load(session)
        return session

    def replace(self, session: Session, compacted: Compacted) -> None:
        for change in self.repository.attempts(session, "compact"):
            change.compact(compacted)
            change.commit()


def seen(session: Session) -> list[Entry]:
    """What a model is shown, without where it is stored."""
    return [
        entry.model_copy(update={"content": Content.of(entry.content.loaded)})
        for entry in (*session.entries, *session.pending())
    ]


def test_large_texts_come_back_in_a_worker_that_starts_cold(stores: Stores, tenant: str) -> None:
    assert len(LARGE) > INLINE_BYTES
    warm, cold = Worker(stores, tenant), Worker(stores, tenant, other=True)
    at = warm.begin()
    warm.turn(at, 1, ("msg_goal",))
    session = warm.turn(at, 2)
    assert seen(cold.repository.conversation(at)) == seen(session)


def test_cold_and_warm_workers_agree_on_a_compacted_conversation(stores: Stores, tenant: str) -> None:
    warm, idle, cold = Worker(stores, tenant), Worker(stores, tenant), Worker(stores, tenant, other=True)
    at = warm.begin()
    warm.turn(at, 1, ("msg_goal",))
    idle.repository.conversation(at)
    for number in (2, 3):
        warm.turn(at, number)
    compacted = warm.compact(at)

    assert [entry.kind for entry in seen(compacted)] == ["user", "user", "assistant", "tool"]
    assert compacted.head.compacted_at == compacted.number
    assert seen(idle.repository.conversation(at)) == seen(compacted)
    assert seen(cold.repository.conversation(at)) == seen(compacted)
    after = warm.turn(at, 4)
    assert len(seen(after)) == 6
    assert seen(cold.repository.conversation(at)) == seen(after)
    assert seen(Worker(stores, tenant).repository.conversation(at)) == seen(after)


def test_who_reads_the_turn_only_has_nothing_to_do_with_a_compaction(stores: Stores, tenant: str) -> None:
    worker = Worker(stores, tenant)
    at = worker.begin()
    worker.turn(at, 1, ("msg_goal",))
    worker.compact(at)
    session = worker.repository.turn(at)
    assert session.number == 3
    assert session.call("call_1") is not None


def test_a_conversation_of_another_release_is_refused(stores: Stores, tenant: str) -> None:
    worker = Worker(stores, tenant)
    at = worker.begin()
    session = worker.repository.conversation(at)
    with pytest.raises(SchemaUnknown, match="99"):
        worker.replace(session, Compacted(version=99, entries=()))
    with pytest.raises(SchemaUnknown, match="99"):
        Worker(stores, tenant).repository.conversation(at)

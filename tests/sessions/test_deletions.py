"""A session is removed once its log says that it is deleted, and not before (docs/design/log.md 37)."""

import pytest

from acta.engine.errors import (
    CommitContention,
    PoisonedSession,
    SchemaUnknown,
    SessionNotFound,
    StoreThrottled,
    StoreUnavailable,
)
from acta.engine.log.commit import Commit
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.store import NO_ITEMS, TransactionItems
from acta.testing.workflow import MemoryWorkflow
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

LONG = "A line that is stored elsewhere.\n" * 200
TURNS = [
    plans("look"),
    says(LONG, call("list_files")),
    says("", step(1, "completed", "ok")),
    completes("Done."),
]
ASKS = [plans("tidy up"), says("", call("delete_file", path="a.md"))]


class Refusing(DynamoLog):
    """`error` comes instead of every commit that steers."""

    def __init__(self, log: DynamoLog, error: Exception) -> None:
        vars(self).update(vars(log))
        self.error = error

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        if commit.key.startswith(("cancel/", "delete/")):
            raise self.error
        super().append(commit, extra_items)


class Unreadable(DynamoLog):
    """`error` comes instead of every head."""

    def __init__(self, log: DynamoLog, error: Exception) -> None:
        vars(self).update(vars(log))
        self.error = error

    def latest(self, tenant: str, session_id: str) -> Commit | None:
        raise self.error


class Tired(MemoryWorkflow):
    """Stops an execution at the second request only."""

    asked = 0

    def stop(self, session_id: str, run_id: str, generation: int) -> None:
        self.asked += 1
        if self.asked == 1:
            raise StoreUnavailable("away")
        super().stop(session_id, run_id, generation)


@pytest.mark.parametrize("error", [StoreThrottled("x"), StoreUnavailable("x"), CommitContention("x")])
def test_a_deletion_that_could_not_be_committed_while_a_model_thinks_removes_nothing(
    error: Exception,
) -> None:
    model = ScriptedModel(TURNS)
    house = House(model)
    session = house.start("Look").session_id
    real = house.log

    def delete() -> None:
        if len(model.requests) == 3:
            house.log = Refusing(real, error)
            with pytest.raises(type(error)):
                house.delete(session)
            house.log = real

    model.meanwhile = delete
    house.run()

    assert house.head(session).state == "completed"
    placed, _ = house.history(session).messages(0, 50)
    assert LONG in [one.entry.content.text for one in placed]


def test_a_session_of_a_later_release_is_not_removed() -> None:
    house = House(ScriptedModel(TURNS))
    session = house.start("Look").session_id
    house.run()
    real = house.log
    house.log = Unreadable(real, SchemaUnknown("version 9"))
    with pytest.raises(SchemaUnknown):
        house.delete(session)
    house.log = real
    assert house.head(session).state == "completed"


def test_a_damaged_session_can_be_deleted() -> None:
    house = House(ScriptedModel(TURNS))
    session = house.start("Look").session_id
    house.run()
    real = house.log
    house.log = Unreadable(real, PoisonedSession("damaged"))
    house.delete(session)
    house.log = real
    with pytest.raises(SessionNotFound):
        house.head(session)


class Twice(DynamoLog):
    """Another request deletes the session, all of it, before this one's commit."""

    def __init__(self, house: House) -> None:
        vars(self).update(vars(house.log))
        self.house, self.real = house, house.log

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        if self.house.log is not self.real:
            self.house.log = self.real
            self.house.delete(commit.head.session_id)
        super().append(commit, extra_items)


def test_two_deletions_at_once_are_both_done() -> None:
    house = House(ScriptedModel(TURNS))
    session = house.start("Look").session_id
    house.run()
    house.log = Twice(house)
    house.delete(session)
    with pytest.raises(SessionNotFound):
        house.delete(session)


def test_a_deletion_whose_execution_could_not_be_stopped_is_repeated_and_leaves_none_waiting() -> None:
    house = House(ScriptedModel(ASKS))
    tired = house.workflow = Tired()
    house.files.write(TENANT, "a.md", b"x")
    session = house.start("Tidy up").session_id
    house.run()
    with pytest.raises(StoreUnavailable):
        house.delete(session)
    house.delete(session)
    assert not any(tired.executions.values())
    with pytest.raises(SessionNotFound):
        house.head(session)

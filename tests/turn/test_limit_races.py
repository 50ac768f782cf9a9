"""A turn that comes to a limit, or to a new lease, of a session that has moved on meanwhile writes nothing
(docs/design/budgets.md 20)."""

from collections.abc import Callable
from typing import Any

import pytest

from acta.engine.errors import Fenced
from acta.engine.log.commit import Commit, Decision
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.store import NO_ITEMS, TransactionItems
from acta.engine.recovery.recover import recover
from acta.engine.turn.turn import take_turn
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, plans

LIMITS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "budget": ({}, {"token_budget": 10}),
    "hour": ({"tenant_tokens_per_hour": 1_000}, {}),
    "lease": ({"tenant_tokens_per_hour": 1_000_000}, {}),
}
"""The house's settings and the session's limits that bring a turn to a commit of that kind."""


class Before(DynamoLog):
    """Something happens once, just before a commit of that kind."""

    def __init__(self, log: DynamoLog, kind: str, happens: Callable[[], object]) -> None:
        vars(self).update(vars(log))
        self.kind, self.due = kind, [happens]

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        while self.due and f"/{self.kind}-" in commit.key:
            self.due.pop()()
        super().append(commit, extra_items)


def coming_to(kind: str) -> tuple[House, ScriptedModel, str, Decision]:
    settings, limits = LIMITS[kind]
    model = ScriptedModel([plans("look")])
    house = House(model, **settings)
    session = house.start("Look", **limits).session_id
    first = house.workflow.take()
    assert first is not None
    return house, model, session, first


def while_committing(house: House, kind: str, happens: Callable[[], object]) -> None:
    real = house.log

    def once() -> None:
        house.log = real
        happens()

    house.log = Before(real, kind, once)
    house.repository = house.fresh_repository()


@pytest.mark.parametrize("kind", LIMITS)
def test_a_session_that_was_cancelled_is_not_asked_about_and_its_model_neither(kind: str) -> None:
    house, model, session, first = coming_to(kind)
    while_committing(house, kind, lambda: house.cancel(session))
    assert take_turn(house.worker, "plan", first.at, 0, 60).decision.next == "done"
    head = house.head(session)
    assert (head.state, head.lease, model.requests) == ("cancelled", None, [])
    assert [commit.key.partition("/")[0] for commit in kept(house, session)] == ["start", "cancel"]


@pytest.mark.parametrize("kind", LIMITS)
def test_an_execution_that_was_overtaken_writes_nothing(kind: str) -> None:
    house, model, session, first = coming_to(kind)

    def overtake() -> None:
        house.workflow.close(first)
        assert recover(house.fresh_repository(), house.workflow, TENANT, session) == "restarted"

    while_committing(house, kind, overtake)
    with pytest.raises(Fenced):
        take_turn(house.worker, "plan", first.at, 0, 60)
    assert model.requests == []
    assert [commit.key.rpartition("/")[2] for commit in kept(house, session)] == ["start", "revive"]


def kept(house: House, session: str) -> tuple[Commit, ...]:
    return house.log.read(TENANT, session, 1).commits

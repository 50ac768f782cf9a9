"""A parent at every point of its life against a child at every point of its own: nothing is lost, and all end
(docs/design/sub-agents.md)."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from acta.engine.errors import Conflict, SessionNotFound
from acta.engine.log.commit import Decision
from acta.engine.log.head import Head
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.turn.budget import all_tokens, reserved
from tests.in_process.family import Scripts
from tests.in_process.scripted import call, says
from tests.in_process.tree import AGENTS, TREE, TreeHouse, goal_of

MOST_ROUNDS = 60


class Reached(BaseException):
    """The child is at the point that is wanted. What was about to happen is kept."""


def patient(request: ModelRequest) -> ModelReply:
    """The first of the leads sleeps before it goes on, or asks; its goal says which."""
    name = goal_of(request).split()[-1]
    if name == "sleeps":
        return says("", call("wait_until", seconds=3_600))
    if name == "asks":
        return says("", call("update_plan", action="wait_for_user", reason="Which one?"))
    return says("Led.")


class House(TreeHouse):
    """A boss with two leads, one after the other. The first one is looked at."""

    def __init__(self, first: str) -> None:
        maps = [first, "second"]
        scripts: Scripts = {
            **TREE,
            "boss": [says("", call("lead", goal="Lead", map=maps, at_once=1)), says("All done.")],
            "lead": [patient, says("Led.")],
        }
        super().__init__(scripts, AGENTS)
        self.boss = self.begin("boss", token_budget=200_000).session_id

    @property
    def first(self) -> Head | None:
        there = [one for one in self.children(self.boss) if one.parent is not None and one.parent.item == 0]
        return there[0] if there else None

    def until(self, reached: Callable[[Decision], bool]) -> None:
        def before(decision: Decision) -> None:
            if reached(decision):
                self.workflow._decisions.insert(0, decision)
                raise Reached

        with suppress(Reached):
            self.run(before)

    def at(self, decision: Decision, kind: str = "") -> bool:
        first = self.first
        return (
            first is not None and decision.at.session_id == first.session_id and kind in ("", decision.next)
        )


def _id(house: House) -> str:
    assert house.first is not None
    return house.first.session_id


def _over(house: House) -> bool:
    return house.first is not None and house.first.is_over


def _told(house: House) -> bool:
    return house.first is not None and house.first.parent is not None and house.first.parent.told


def cancelled(house: House) -> None:
    house.run()
    house.cancel(_id(house))


def deleted(house: House) -> None:
    house.run()
    house.delete(_id(house))


CHILD: dict[str, tuple[str, Callable[[House], None]]] = {
    "created": ("first", lambda house: house.until(lambda decision: house.at(decision))),
    "has replied": ("sleeps", lambda house: house.until(lambda decision: house.at(decision, "act"))),
    "asks": ("asks", lambda house: house.run()),
    "waits": ("sleeps", lambda house: house.run()),
    "has ended and not told": (
        "first",
        lambda house: house.until(lambda decision: house.at(decision, "think") and _over(house)),
    ),
    "has told": ("first", lambda house: house.until(lambda decision: _told(house))),
    "cancelled": ("sleeps", cancelled),
    "deleted": ("sleeps", deleted),
}


def nothing(house: House) -> None:
    pass


def paused(house: House) -> None:
    house.pause(house.boss)
    house.run()
    house.recover()
    house.run()
    house.resume(house.boss)


def lost(house: House) -> None:
    """Every execution of the tree is gone."""
    for head in house.tree(house.boss):
        house.lose(head.session_id)


def written_to(house: House) -> None:
    house.say(house.boss, "And quickly.")


PARENT: dict[str, Callable[[House], Any]] = {
    "parked": nothing,
    "paused": paused,
    "written to": written_to,
    "lost": lost,
    "cancelled": lambda house: house.cancel(house.boss),
    "deleted": lambda house: house.delete(house.boss),
}


def to_the_end(house: House) -> None:
    """Time passes, people answer, and recovery looks, until nothing moves any more."""
    for _ in range(MOST_ROUNDS):
        house.run()
        house.recover()
        house.run()
        heads = everybody(house)
        for head in heads:
            for one in head.interventions:
                option = "answer" if "answer" in one.options else one.options[0]
                with suppress(Conflict):
                    house.resolve(
                        head.session_id, one, option, **({"text": "This."} if option == "answer" else {})
                    )
        if not any(head.is_open or head.owes_family for head in heads):
            return
        house.clock.advance(600)
    raise AssertionError([(head.agent_id, head.state, head.state_reason) for head in everybody(house)])


def everybody(house: House) -> list[Head]:
    found = []
    for session_id in house.sessions:
        with suppress(SessionNotFound):
            found.append(house.head(session_id))
    return found


@pytest.mark.parametrize("parent", PARENT)
@pytest.mark.parametrize("child", CHILD)
def test_whatever_befalls_a_parent_and_wherever_its_child_stands_all_come_to_an_end(
    child: str, parent: str
) -> None:
    first, reach = CHILD[child]
    house = House(first)
    reach(house)
    PARENT[parent](house)
    to_the_end(house)

    if parent == "deleted":
        assert everybody(house) == []
        return
    boss = house.head(house.boss)
    assert reserved(boss) == (0, 0.0)
    assert boss.state == ("cancelled" if parent == "cancelled" else "completed")
    children = house.children(house.boss)
    assert all(one.parent is not None and one.parent.told for one in children)
    if child != "deleted":
        assert boss.budget.children_tokens == sum(all_tokens(one.budget) for one in children)
    if parent != "cancelled":
        ((text, ok),) = house.results(house.boss)
        assert ok
        assert '"item": 2, "state": "completed"' in text
        state = {"cancelled": "cancelled", "deleted": "deleted"}.get(child, "completed")
        assert f'"item": 1, "state": "{state}"' in text

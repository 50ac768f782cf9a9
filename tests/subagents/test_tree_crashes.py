"""Whatever dies in a tree of three levels, it ends as an undisturbed one does (docs/design/sub-agents.md)."""

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from acta.engine.errors import Conflict, EngineError
from tests.in_process.deaths import Deaths, Died, Point, points
from tests.in_process.family import Scripts
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, says
from tests.in_process.tree import FILES, MODEL, TreeHouse

MOST_RECOVERIES = 40
SAMPLE = 23
"""Each so-many-th point is met by the usual run of the tests; all of them by the thorough one."""


def retried(house: TreeHouse) -> None:
    """The engine makes a state again whose worker died."""
    while True:
        try:
            house.run()
            return
        except Died:
            house.new_worker()
            decision = house.decisions[-1]
            house.workflow._decisions.insert(0, decision)


def recovered(house: "Begun") -> None:
    """The execution is lost with its worker, and only recovery finds the session."""
    for _ in range(MOST_RECOVERIES):
        try:
            house.run()
            house.recover()
            house.run()
        except (Died, EngineError):
            house.new_worker()
            at = house.decisions[-1].at
            house.mortal.stop(at.session_id, at.run_id, at.generation)
        if not any(head.is_open or head.owes_family for head in house.tree(house.boss)):
            return
    raise AssertionError("it does not end")


class Begun(TreeHouse):
    def __init__(self, **limits: Any) -> None:
        super().__init__()
        self.boss = self.begin(
            "boss", **{"token_budget": 200_000, "cost_budget_usd": 2.0, **limits}
        ).session_id


def scenario(drive: Callable[[Any], None], deaths: Deaths) -> Begun:
    house = Begun()
    house.mortal_workers(deaths)
    drive(house)
    house.mortal_workers(Deaths())
    return house


def told(house: Begun) -> list[Any]:
    """What came of every session, without ids."""
    found = []
    for head in house.tree(house.boss):
        results = [(re.sub(r"ses_\w+|#\d+", "…", text), ok) for text, ok in house.results(head.session_id)]
        answer = head.result and head.result.answer
        found.append((head.agent_id, head.state, answer, results, head.parent and head.parent.told))
    return found


def sweep(drive: Callable[[Any], None], every: int) -> None:
    clean = told(scenario(drive, Deaths()))
    assert next(row[:3] for row in clean) == ("boss", "completed", "All done.")
    assert len(clean) == 7
    numbers = list(points(lambda deaths: scenario(drive, deaths)))
    assert len(numbers) > 300
    for number in numbers[::every]:
        deaths = Deaths(number)
        house = scenario(drive, deaths)
        died_at = (number, deaths.met[number - 1])
        assert told(house) == clean, died_at
        assert house.written() == FILES, died_at
        house.check_accounts(house.boss)


@pytest.mark.parametrize("every", [SAMPLE, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("drive", [retried, recovered])
def test_a_tree_ends_the_same_wherever_a_worker_dies(drive: Callable[[Any], None], every: int) -> None:
    sweep(drive, every)


@pytest.mark.parametrize("every", [9, pytest.param(1, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("long", [3, 40])
def test_a_tree_outlives_an_outage_of_the_store_wherever_it_begins(long: int, every: int) -> None:
    clean = told(scenario(recovered, Deaths()))
    for first in range(2, 64, every):
        house = Begun()
        house.watched.down = range(first, first + long)
        recovered(house)
        assert told(house) == clean, first
        assert house.written() == FILES, first
        house.check_accounts(house.boss)


class Interrupted(Deaths):
    """At its `number`-th point a worker rests, and somebody else does something meanwhile."""

    def __init__(self, number: int, meanwhile: Callable[[], None]) -> None:
        super().__init__()
        self.number, self.meanwhile = number, meanwhile

    def meet(self, point: Point) -> None:
        self.met.append(point)
        if len(self.met) == self.number:
            self.meanwhile()


def starts(house: Begun) -> list[tuple[str, Any]]:
    """Every start of a tool call that is in a log of the tree."""
    return [
        (head.agent_id, event.data["call_id"])
        for head in house.tree(house.boss)
        for commit in house.watched.read(TENANT, head.session_id, 1).commits
        for event in commit.events
        if event.type == "tool.started"
    ]


@pytest.mark.parametrize("every", [SAMPLE, pytest.param(1, marks=pytest.mark.thorough)])
def test_after_a_cancel_no_call_starts_anywhere_in_the_tree_wherever_its_workers_stand(every: int) -> None:
    passed = len(interrupted(0)[1].met)
    assert passed > 300
    for number in range(1, passed + 1, every):
        house, workers, before = interrupted(number)
        at = (number, workers.met[number - 1])
        heads = house.tree(house.boss)
        if before is None:
            assert heads[0].state == "completed", at  # it was over
            continue
        assert starts(house) == before, at
        assert {head.state for head in heads} <= {"cancelled", "completed"}, at
        assert heads[0].state == "cancelled", at
        house.check_accounts(house.boss)


def interrupted(number: int) -> tuple[Begun, Interrupted, list[tuple[str, Any]] | None]:
    """The tree after its end, and the starts of calls that were in its logs when the cancel returned. None: it was
    over by then.
    """
    house, before = Begun(), None

    def cancel() -> None:
        nonlocal before
        with suppress(Conflict):
            house.cancel(house.boss)
            before = starts(house)

    workers = Interrupted(number, cancel)
    house.mortal_workers(workers)
    recovered(house)
    house.mortal_workers(Deaths())
    return house, workers, before


@pytest.mark.thorough
def test_a_thousand_children_of_one_parent_pass_through_fifty_at_once() -> None:
    """And the parent's log is not read from its beginning at each one's end."""
    calls = [
        call("worker", goal="Write", map=[f"{n}-{m}" for m in range(100)], at_once=50) for n in range(10)
    ]
    scripts: Scripts = {"boss": [says("", *calls), says("All done.")], "worker": [says("Found it.")]}
    agents: dict[str, Any] = {
        "boss": {
            "agents": [{"agent": "worker"}],
            "model": MODEL,
            "limits": {"children": 1_000, "children_at_once": 50},
        },
        "worker": {"model": MODEL},
    }
    house = TreeHouse(scripts, agents)
    boss = house.begin("boss", token_budget=50_000_000, cost_budget_usd=500.0).session_id
    asked = Deaths()
    house.mortal_workers(asked)
    house.run()
    assert house.head(boss).state == "completed"
    assert len(house.children(boss)) == 1_000
    assert all(ok and text.count('"completed"') == 100 for text, ok in house.results(boss))
    house.check_accounts(boss)
    log = house.watched.of(boss)
    assert log.most_at_work == 50
    assert log.commits < 1_100
    assert log.read < 6_000
    assert log.largest < 40_000

"""Whatever dies in a tree of three levels, it ends as an undisturbed one does (docs/design/sub-agents.md)."""

import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.in_process.deaths import Deaths, Died, points
from tests.in_process.tree import FILES, TreeHouse

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
    try:
        house.run()
    except Died:
        house.new_worker()
        at = house.decisions[-1].at
        house.workflow.stop(at.session_id, at.run_id, at.generation)
    for _ in range(MOST_RECOVERIES):
        try:
            house.recover()
            house.run()
        except Died:
            house.new_worker()
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

"""Children in their tenant's limits: they take places of its open sessions, and wait where there is none (ADR 223)."""

from contextlib import suppress
from typing import Any

import pytest

from acta.engine.errors import TooManyOpenSessions
from acta.engine.log.head import Head
from tests.in_process.deaths import Deaths, Died
from tests.in_process.family import FamilyHouse
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, says
from tests.in_process.tree import AGENTS, TREE, TreeHouse

SLEEPS = [says("", call("wait_until", seconds=86_400)), says("Found it.")]


def limited(most: int, *, items: int, worker: Any = SLEEPS, **limits: Any) -> tuple[FamilyHouse, str]:
    asks = says("", call("worker", goal="Find", map=[str(n) for n in range(items)], at_once=items))
    house = FamilyHouse(
        {"boss": [asks, says("All done.")], "worker": worker},
        {"boss": {"agents": [{"agent": "worker"}]}},
        tenant_limits={"*": {"open_sessions": most, **limits}},
    )
    return house, house.begin("boss").session_id


def there(house: FamilyHouse, boss: str) -> list[Head]:
    return [house.head(each) for each in house.log.children(TENANT, boss)]


def places(house: FamilyHouse) -> int:
    return house.index.counts(TENANT).open


def test_children_take_places_and_those_without_one_begin_when_there_is_one() -> None:
    house, boss = limited(2, items=5)
    house.run()
    assert [head.state_reason for head in there(house, boss)] == ["waiting_until"] * 2
    assert (house.head(boss).state_reason, places(house)) == ("waiting_for_agents", 2)
    with pytest.raises(TooManyOpenSessions):
        house.start("Me, too")

    for _ in range(200):
        house.clock.advance(3_600)
        house.recover()
        house.run()
        assert places(house) <= 2
        if house.head(boss).is_over:
            break

    assert house.head(boss).state == "completed"
    assert [head.state for head in there(house, boss)] == ["completed"] * 5
    assert places(house) == 0


def test_a_tree_goes_on_in_one_place_because_whoever_waits_for_children_has_none() -> None:
    house = TreeHouse(TREE, AGENTS, tenant_limits={"*": {"open_sessions": 1, "starts_per_minute": 1}})
    boss = house.begin("boss", token_budget=200_000).session_id
    for _ in range(60):
        house.run()
        if house.head(boss).is_over:
            break
        house.recover()
        house.clock.advance(300)

    assert {head.state for head in house.tree(boss)} == {"completed"}
    assert len(house.tree(boss)) == 7
    house.check_accounts(boss)
    assert places(house) == 0


def test_the_starts_of_children_are_no_starts_of_the_tenants_minute() -> None:
    house, boss = limited(10, items=5, worker=[says("Found it.")], starts_per_minute=2)
    house.run()
    assert house.head(boss).state == "completed"
    assert house.begin("worker").state == "planning"


def test_a_cancel_and_a_pause_reach_children_that_wait_for_a_place() -> None:
    house, boss = limited(2, items=4)
    house.run()
    house.pause(boss)
    assert [head.state_reason for head in there(house, boss)] == ["paused"] * 4
    house.cancel(boss)
    assert [head.state for head in there(house, boss)] == ["cancelled"] * 4
    assert places(house) == 0


@pytest.mark.parametrize("dies_at", [*range(40, 140, 9)])
def test_wherever_a_worker_dies_no_place_is_lost(dies_at: int) -> None:
    house = TreeHouse(TREE, AGENTS, tenant_limits={"*": {"open_sessions": 2}})
    boss = house.begin("boss", token_budget=200_000).session_id
    house.mortal_workers(Deaths(dies_at))
    for _ in range(60):
        with suppress(Died):
            house.run()
            house.recover()
            house.clock.advance(300)
            if house.head(boss).is_over and not any(head.owes_family for head in house.tree(boss)):
                break
            continue
        house.mortal_workers(Deaths())
        at = house.decisions[-1].at
        house.mortal.stop(at.session_id, at.run_id, at.generation)

    assert {head.state for head in house.tree(boss)} == {"completed"}
    house.check_accounts(boss)
    assert places(house) == sum(head.counted for head in house.tree(boss)) == 0

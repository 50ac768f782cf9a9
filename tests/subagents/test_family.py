"""Agents call agents: each call starts sessions, which get a part of the budget, and answer later (ADR 210)."""

from contextlib import suppress
from typing import Any

import pytest

from acta.engine.turn.budget import all_tokens, reserved, spent_usd
from tests.in_process.family import FamilyHouse
from tests.in_process.scripted import call, says
from tests.runs.fragile import Crash

CALLS = {"boss": {"agents": [{"agent": "worker"}]}}


def house_of(*calls: Any, worker: str = "Found it.", agents: Any = CALLS, **settings: Any) -> FamilyHouse:
    """A boss that makes these calls in one reply, and then answers."""
    scripts = {"boss": [says("", *calls), says("All done.")], "worker": [says(worker)]}
    return FamilyHouse(scripts, agents, **settings)


def test_a_call_of_an_agent_is_a_session_whose_answer_is_the_calls_result() -> None:
    house = house_of(call("worker", goal="Find the blue one"))
    boss = house.begin("boss")
    house.run()

    (worker,) = house.children(boss.session_id)
    assert worker.result is not None
    assert (worker.agent_id, worker.state, worker.result.answer) == ("worker", "completed", "Found it.")
    assert worker.parent is not None
    assert worker.parent.told
    ((text, ok),) = house.results(boss.session_id)
    assert "Found it." in text
    assert ok
    assert house.head(boss.session_id).state == "completed"
    assert house.head(boss.session_id).read_outside
    (goal,) = house.family_model.told("worker")
    assert "The agent boss asks this of you" in goal
    assert "Find the blue one" in goal


def test_a_call_that_a_person_has_changed_ends_as_it_ran() -> None:
    agents = {"boss": {"agents": [{"agent": "worker"}], "high_stakes": ["worker"]}}
    house = house_of(call("worker", goal="Look at", map=["a", "b"]), agents=agents)
    boss = house.begin("boss").session_id
    house.run()
    (one,) = house.head(boss).interventions
    house.resolve(boss, one, "modify", input={"goal": "Look at c"})
    house.run()

    assert len(house.children(boss)) == 1
    ((text, ok),) = house.results(boss)
    assert ok
    assert "Found it." in text
    assert '"item"' not in text, "one child was asked, so its answer is the result"
    assert "Look at c" in text, "the model is told with which input the call ran"


def test_while_children_work_their_parent_has_no_execution() -> None:
    house = house_of(call("worker", goal="Find it"))
    boss = house.begin("boss")

    def before(decision: Any) -> None:
        if decision.at.session_id != boss.session_id and decision.next == "plan":
            assert house.head(boss.session_id).state_reason == "waiting_for_agents"
            assert boss.session_id not in house.workflow.running()

    house.run(before)
    assert house.head(boss.session_id).state == "completed"


def test_map_runs_a_session_for_each_item_so_many_at_once_and_tells_the_results_in_order() -> None:
    house = house_of(call("worker", goal="Look at", map=[str(n) for n in range(7)], at_once=3))
    boss = house.begin("boss")
    most = 0

    def before(decision: Any) -> None:
        nonlocal most
        most = max(most, len(house.head(boss.session_id).children_at_work))

    house.run(before)

    assert most == 3
    assert len(house.children(boss.session_id)) == 7
    ((text, ok),) = house.results(boss.session_id)
    assert ok
    assert [text.index(f'"item": {n}') for n in range(1, 8)] == sorted(
        text.index(f'"item": {n}') for n in range(1, 8)
    )
    assert house.head(boss.session_id).state == "completed"


def test_what_children_use_is_charged_to_their_parent_and_the_rest_of_their_budgets_goes_back() -> None:
    house = house_of(call("worker", goal="Look at", map=["a", "b", "c"]), call("worker", goal="And this"))
    boss = house.begin("boss", token_budget=100_000)
    house.run()

    head, children = house.head(boss.session_id), house.children(boss.session_id)
    used = sum(all_tokens(child.budget) for child in children)
    assert head.budget.children_tokens == used > 0
    assert head.budget.children_usd == pytest.approx(sum(map(spent_usd, children)))
    assert reserved(head) == (0, 0.0)
    assert len(children) == 4
    assert all(child.budget.token_budget <= 33_333 for child in children)


@pytest.mark.parametrize("request_lost", ["start", "stop"])
def test_a_worker_that_dies_on_its_way_loses_no_child_and_starts_none_twice(request_lost: str) -> None:
    house = house_of(call("worker", goal="Look at", map=["a", "b", "c"], at_once=1))
    boss = house.begin("boss")
    for _ in range(12):
        house.mortal.dies_before = request_lost
        with suppress(Crash):
            house.run()
        house.mortal.dies_before = ""
        house.mortal.executions = dict.fromkeys(house.mortal.executions, False)  # the worker took it along
        house.recover()
    house.run()

    assert house.head(boss.session_id).state == "completed"
    assert len(house.children(boss.session_id)) == 3
    assert house.head(boss.session_id).budget.children_tokens == sum(
        all_tokens(child.budget) for child in house.children(boss.session_id)
    )


def test_a_cancel_ends_every_session_below() -> None:
    agents = {"boss": {"agents": [{"agent": "lead"}]}, "lead": {"agents": [{"agent": "worker"}]}}
    scripts = {
        "boss": [says("", call("lead", goal="Do it", map=["a", "b"]))],
        "lead": [says("", call("worker", goal="Do it"))],
        "worker": [says("", call("wait_until", seconds=86_400))],
    }
    house = FamilyHouse(scripts, agents)
    boss = house.begin("boss").session_id
    house.run()
    leads = house.children(boss)
    assert [lead.state_reason for lead in leads] == ["waiting_for_agents"] * 2

    house.cancel(boss)

    workers = [worker for lead in leads for worker in house.children(lead.session_id)]
    every = [house.head(boss), *house.children(boss), *workers]
    assert [head.state for head in every] == ["cancelled"] * 5
    assert not any(head.owes_family for head in every)
    assert reserved(house.head(boss)) == (0, 0.0)

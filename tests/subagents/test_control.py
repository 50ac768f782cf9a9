"""What is done to a session is done to the tree below it: pauses, cancels, ends by time (ADR 217)."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from acta.engine.app import App
from acta.engine.errors import Conflict, TreeBusy
from acta.engine.log.head import Head
from acta.engine.people.effects import lift_hold
from acta.engine.people.intervention import Intervention
from acta.engine.people.requester import Requester
from acta.engine.recovery.store import RoundCounts
from acta.engine.sessions.control import pause, resume
from acta.engine.subagents.control import align
from acta.engine.subagents.family import Family
from acta.engine.turn.budget import reserved
from acta.engine.turn.endings import cancelled
from tests.in_process.family import FamilyHouse
from tests.in_process.house import TENANT
from tests.in_process.scripted import call, says
from tests.runs.fragile import Crash

AGENTS: dict[str, Any] = {"boss": {"agents": [{"agent": "lead"}]}, "lead": {"agents": [{"agent": "worker"}]}}
LEADS = [says("", call("worker", goal="Do it")), says("Led.")]
SLEEPS = [says("", call("wait_until", seconds=86_400)), says("Found it.")]


def tree_of(
    *,
    leads: int = 2,
    lead: Any = LEADS,
    worker: Any = SLEEPS,
    agents: Any = AGENTS,
    at_once: int = 10,
    **settings: Any,
) -> FamilyHouse:
    """A boss with leads, each of which has a worker."""
    scripts = {
        "boss": [
            says("", call("lead", goal="Do it", map=[str(n) for n in range(leads)], at_once=at_once)),
            says("All done."),
        ],
        "lead": lead,
        "worker": worker,
    }
    return FamilyHouse(scripts, agents, **settings)


def at_work(house: FamilyHouse) -> str:
    """The boss, once its leads and workers work."""
    boss = house.begin("boss").session_id
    house.run()
    assert len(everybody(house, boss)) == 5
    return boss


def everybody(house: FamilyHouse, session_id: str) -> list[Head]:
    """The session and all below, from the top to the bottom."""
    return [
        house.head(session_id),
        *(each for child in house.children(session_id) for each in everybody(house, child.session_id)),
    ]


def states(house: FamilyHouse, session_id: str) -> set[tuple[str, str | None]]:
    return {(head.state, head.state_reason) for head in everybody(house, session_id)}


def inbox(house: FamilyHouse) -> list[Intervention]:
    return list(house.index.interventions(TENANT, state="pending", limit=50, cursor=None).items)


PAUSED = {("waiting_for_user", "paused")}


def test_a_pause_holds_the_whole_tree_and_is_one_question() -> None:
    house = tree_of()
    boss = at_work(house)

    house.pause(boss)
    asked = len(house.family_model.requests)
    house.clock.advance(86_401)  # what the workers wait for
    house.recover()
    house.run()

    assert states(house, boss) == PAUSED
    assert [one.session_id for one in inbox(house)] == [boss]
    assert len(house.family_model.requests) == asked

    house.resume(boss)
    house.recover()
    house.run()

    assert {head.state for head in everybody(house, boss)} == {"completed"}
    assert inbox(house) == []


def test_no_child_begins_while_its_parent_is_paused_and_the_rest_begin_afterwards() -> None:
    house = tree_of(leads=3, at_once=1, worker=[says("Found it.")])
    boss = house.begin("boss").session_id

    def before(decision: Any) -> None:
        children = house.log.children(TENANT, boss)
        if len(children) == 1 and house.head(children[0]).is_over:  # and its parent is not told yet
            raise Crash

    with pytest.raises(Crash):
        house.run(before)
    house.pause(boss)
    house.mortal.executions = dict.fromkeys(house.mortal.executions, False)
    house.recover()
    house.run()

    assert len(house.children(boss)) == 1
    assert house.head(boss).children_at_work == ()
    assert house.head(boss).state_reason == "paused"

    house.resume(boss)
    house.run()

    assert len(house.children(boss)) == 3
    assert house.head(boss).state == "completed"
    assert all('"state": "not_started"' not in text for text, _ in house.results(boss))


def test_a_child_that_was_paused_by_itself_stays_paused() -> None:
    house = tree_of()
    boss = at_work(house)
    lead = house.children(boss)[0].session_id
    house.pause(lead)
    assert [head.state_reason for head in everybody(house, lead)] == ["paused"] * 2

    house.pause(boss)
    house.resume(boss)

    assert [head.state_reason for head in everybody(house, lead)] == ["paused"] * 2
    assert [one.session_id for one in inbox(house)] == [lead]
    assert house.head(boss).state_reason == "waiting_for_agents"

    house.resume(lead)
    assert PAUSED.isdisjoint(states(house, boss))


def test_a_held_child_goes_on_only_with_the_pause_above() -> None:
    house = tree_of()
    boss = at_work(house)
    house.pause(boss)
    worker = everybody(house, boss)[2].session_id

    with pytest.raises(Conflict, match=f"the pause of the session {boss} above"):
        house.resume(worker)
    assert house.head(worker).state_reason == "paused"


def test_a_pause_that_was_cut_short_is_finished_by_repeating_it() -> None:
    house = tree_of()
    boss = at_work(house)
    house.pause(boss)
    lost = house.children(boss)[1].session_id
    session = house.fresh_repository().newest(TENANT, lost)
    for change in house.fresh_repository().attempts(session, "lifted"):  # as if the pause had not come to it
        lift_hold(change, change.head.interventions[0])
        change.commit()

    house.pause(boss)
    assert states(house, boss) == PAUSED


def dies() -> Family:
    raise Crash


def cut_short(
    act: Callable[[App, Requester, str, Callable[[], Family]], Head], house: FamilyHouse, session_id: str
) -> None:
    """The worker dies before it comes to the children."""
    with suppress(Crash):
        act(house.app(), house.requester, session_id, dies)


def test_a_pause_and_its_end_that_were_cut_short_are_finished_by_the_engine() -> None:
    house = tree_of()
    boss = at_work(house)
    cut_short(pause, house, boss)
    assert states(house, boss) != PAUSED

    house.recover()
    house.run()
    assert states(house, boss) == PAUSED
    assert [one.session_id for one in inbox(house)] == [boss]
    assert house.sweep() == RoundCounts(), "nothing is left to be looked after"

    for _ in range(2):  # the second time the session's execution waits for the end of the pause
        cut_short(resume, house, boss)
        cut_short(pause, house, boss)
        house.recover()
        house.run()
        assert not house.head(boss).owes_family
        assert states(house, boss) == PAUSED
    cut_short(resume, house, boss)
    house.recover()
    house.run()
    assert PAUSED.isdisjoint(states(house, boss))
    house.clock.advance(86_401)
    house.recover()
    house.run()
    assert {head.state for head in everybody(house, boss)} == {"completed"}


def test_a_pause_that_was_followed_costs_the_session_one_commit_more() -> None:
    house = tree_of()
    boss = at_work(house)
    number = house.fresh_repository().newest(TENANT, boss).number
    house.pause(boss)
    assert house.fresh_repository().newest(TENANT, boss).number == number + 2
    assert not house.head(boss).owes_family
    house.pause(boss)
    assert house.fresh_repository().newest(TENANT, boss).number == number + 2


def test_a_pause_creates_and_holds_the_children_that_a_worker_is_late_with() -> None:
    house = tree_of()
    boss = house.begin("boss").session_id

    def before(decision: Any) -> None:
        if decision.next == "act":
            house.mortal.dies_before = "start"  # of the first child

    with pytest.raises(Crash):
        house.run(before)
    assert len(house.children(boss)) == 1

    house.pause(boss)

    assert len(house.children(boss)) == 2
    assert states(house, boss) == PAUSED


def test_a_cancel_whose_time_is_too_short_says_so_and_is_finished_by_repeating_it() -> None:
    house = tree_of()
    boss = at_work(house)
    repository = house.fresh_repository()
    house.cancel(house.children(boss)[0].session_id)

    session = repository.newest(TENANT, boss)
    for change in repository.attempts(session, "cancel"):
        cancelled(change, "ann")
        change.commit()
    with pytest.raises(TreeBusy):
        align(house.app().family, session, 0.0)
    assert house.head(boss).owes_family

    house.cancel(boss)

    assert {head.state for head in everybody(house, boss)} == {"cancelled"}
    assert not any(head.owes_family for head in everybody(house, boss))
    assert reserved(house.head(boss)) == (0, 0.0)


def test_what_a_cancel_leaves_the_engine_goes_on_with() -> None:
    house = tree_of()
    boss = at_work(house)
    repository = house.fresh_repository()
    session = repository.newest(TENANT, boss)
    for change in repository.attempts(session, "cancel"):
        cancelled(change, "ann")
        change.commit()

    house.recover()
    house.run()

    assert {head.state for head in everybody(house, boss)} == {"cancelled"}
    assert not any(head.owes_family for head in everybody(house, boss))


def test_the_cancel_of_a_child_is_a_result_that_the_model_of_its_parent_reads() -> None:
    house = tree_of(leads=1)
    boss = house.begin("boss").session_id
    house.run()
    (lead,) = house.children(boss)

    house.cancel(lead.session_id)
    house.run()

    assert house.head(boss).state == "completed"
    ((text, ok),) = house.results(boss)
    assert "cancelled" in text
    assert not ok
    assert {head.state_reason for head in everybody(house, lead.session_id)} == {"cancelled", "parent_ended"}


def test_after_thirty_days_the_children_are_cancelled_and_the_call_ends_with_what_there_is() -> None:
    house = tree_of(leads=2, lead=[says("", call("wait_until", seconds=31 * 86_400)), says("Led.")])
    boss = house.begin("boss").session_id
    house.run()

    for _ in range(40):
        house.clock.advance(86_400)
        house.recover()
        house.run()
        if house.head(boss).is_over:
            break

    heads = everybody(house, boss)
    assert heads[0].state == "completed"
    assert {head.state for head in heads[1:]} == {"cancelled"}
    ((text, ok),) = house.results(boss)
    assert text.count('"state": "cancelled"') == 2
    assert not ok


ASKS = [says("Which one?", call("update_plan", action="wait_for_user", reason="Which one?"))]


@pytest.mark.parametrize("parks", [False, True])
def test_a_child_whose_question_nobody_answers_ends_and_its_parent_reads_that(parks: bool) -> None:
    asks = {"interventions": {"clarification_needed": {"timeout_seconds": 60, "default_action": "cancel"}}}
    house = tree_of(leads=1, worker=ASKS, agents={**AGENTS, "worker": asks})
    boss = house.begin("boss").session_id
    house.run()
    worker = everybody(house, boss)[2]
    assert worker.state_reason == "clarification_needed"

    house.clock.advance(61)
    if parks:
        house.lose(worker.session_id)
        house.recover()
    else:
        house.time_out(worker.session_id)
    house.run()

    assert [head.state for head in everybody(house, boss)] == ["completed", "completed", "cancelled"]


EndsIt = Callable[[FamilyHouse, str], object]


def _by_option(house: FamilyHouse, boss: str) -> None:
    house.pause(boss)
    (one,) = inbox(house)
    house.resolve(boss, one, "cancel")


@pytest.mark.parametrize("ends", [FamilyHouse.cancel, _by_option])
def test_however_a_person_ends_a_session_everything_below_has_ended_when_they_are_told(ends: EndsIt) -> None:
    house = tree_of()
    boss = at_work(house)
    with suppress(Conflict):
        ends(house, boss)
    assert {head.state for head in everybody(house, boss)} == {"cancelled"}

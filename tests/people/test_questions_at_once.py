"""Several things wait for a person at once: each of them holds the turn until it is decided (docs/design/api.md 31,
people.md)."""

import pytest

from acta.engine.errors import Conflict, Forbidden, Refused
from acta.engine.log.commit import Decision
from acta.engine.models.model import ModelReply, TokenUsage
from acta.engine.people.intervention import with_pause_lifted
from acta.engine.people.policies import Policy
from acta.engine.tools.execute import abandon_call, run_call
from acta.engine.turn.engine import position
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, plans, says, step
from tests.people.policies import DELETE, ENDS, files, house_with, recorded, waiting
from tests.runs.planner import made

WRITE = says("I write.", call("create_file", path="x.txt", content="x"))


def dear(reply: ModelReply) -> ModelReply:
    """It uses up the session's budget."""
    return reply._replace(usage=TokenUsage(input=30_000, output=20))


def open_types(house: House, session: str) -> list[str]:
    return [one.type for one in house.head(session).interventions]


def started(house: House, session: str) -> bool:
    return any(seen.event.type == "tool.started" for seen in house.poll(session).events)


@pytest.mark.parametrize("budget_first", [True, False])
def test_a_high_stakes_call_of_the_reply_that_uses_up_the_budget_still_needs_its_approval(
    budget_first: bool,
) -> None:
    house = house_with(plans("delete"), dear(DELETE), *ENDS)
    session = house.start("Go", token_budget=20_000).session_id
    house.run()
    assert open_types(house, session) == ["budget_exceeded", "approval_required"]
    assert house.head(session).state_reason == "budget_exceeded"
    budget, approval = house.head(session).interventions

    if budget_first:
        house.resolve(session, budget, "raise", token_budget=1_000_000)
    else:
        house.resolve(session, approval, "approve")
    house.run()
    assert files(house) == ["a.txt", "b.txt"]

    if budget_first:
        house.resolve(session, approval, "approve")
    else:
        house.resolve(session, budget, "raise", token_budget=1_000_000)
    house.run()
    assert (house.head(session).state, files(house)) == ("completed", ["b.txt"])


def test_what_is_rejected_beside_the_budget_never_runs() -> None:
    house = house_with(plans("delete"), dear(DELETE), *ENDS)
    session = house.start("Go", token_budget=20_000).session_id
    house.run()
    budget, approval = house.head(session).interventions
    house.resolve(session, approval, "reject")
    house.resolve(session, budget, "raise", token_budget=1_000_000)
    house.run()
    assert (house.head(session).state, files(house)) == ("completed", ["a.txt", "b.txt"])


def test_finishing_at_the_budget_withdraws_the_approval_and_runs_nothing() -> None:
    house = house_with(plans("delete"), dear(DELETE), *ENDS)
    session = house.start("Go", token_budget=20_000).session_id
    house.run()
    budget, approval = house.head(session).interventions
    house.resolve(session, budget, "finish")
    house.run()
    assert (recorded(house, approval).state, files(house)) == ("withdrawn", ["a.txt", "b.txt"])


def test_a_turn_that_uses_up_the_budget_is_reviewed_like_any_other() -> None:
    house = house_with(plans("write"), dear(WRITE), *ENDS)
    session = house.start("Go", token_budget=20_000, review_every=1).session_id
    house.run()
    assert open_types(house, session) == ["budget_exceeded", "checkpoint_review"]
    house.resolve(session, house.head(session).interventions[0], "raise", token_budget=1_000_000)
    house.run()
    assert "x.txt" not in files(house)
    house.resolve(session, house.head(session).interventions[0], "continue")
    house.run()
    assert "x.txt" in files(house)


def test_a_permission_of_the_plan_is_asked_for_beside_the_budget() -> None:
    house = house_with(
        made(steps=[{"description": "Write", "requires_permission": True}]), dear(WRITE), *ENDS
    )
    session = house.start("Go", token_budget=20_000).session_id
    house.run()
    assert open_types(house, session) == ["budget_exceeded", "approval_required"]
    house.resolve(session, house.head(session).interventions[0], "raise", token_budget=1_000_000)
    house.run()
    assert "x.txt" not in files(house)


def test_a_call_that_needs_an_approval_does_not_run_without_one_whatever_led_to_it() -> None:
    house, session, _ = waiting("approval_required")
    stored = house.fresh_repository().newest(TENANT, session)
    for change in house.fresh_repository().attempts(stored, "forgotten"):
        (waits,) = change.head.calls
        change.set(interventions=(), calls=(waits.model_copy(update={"state": "ready"}),))
        change.to_state("waiting_for_tool")
        change.commit()
    head = house.head(session)
    at, (ready,) = position(head), head.calls
    with pytest.raises(Refused):
        run_call(house.runtime, at, ready.call_id, 0, 60)
    abandon_call(house.runtime, at, ready.call_id, "Refused")
    house.go_on(Decision(next="think", at=at))
    assert (house.head(session).state, files(house)) == ("completed", ["a.txt", "b.txt"])


def paused_while_it_thinks(*turns: ModelReply, **limits: int) -> tuple[House, str]:
    """A member pauses while the first Think turn is under way; the review needs the role `approver`."""
    model = ScriptedModel(turns)
    house = house_with(policies={"checkpoint_review": Policy(role="approver")})
    house.model = model
    session = house.start("Go", **limits).session_id

    def pause() -> None:
        if len(model.requests) == 2:
            house.pause(session)

    model.meanwhile = pause
    house.run()
    return house, session


def test_a_pause_does_not_stand_in_for_the_review_of_its_turn() -> None:
    house, session = paused_while_it_thinks(plans("write"), WRITE, *ENDS, review_every=1)
    assert open_types(house, session) == ["checkpoint_review", "checkpoint_review"]
    pause, review = house.head(session).interventions
    assert (pause.role, review.role, house.head(session).state_reason) == (None, "approver", "paused")

    house.resume(session)
    house.run()
    head = house.head(session)
    assert (head.state_reason, head.interventions) == ("checkpoint_review", (with_pause_lifted(review),))
    with pytest.raises(Forbidden):
        house.resume(session)
    assert "x.txt" not in files(house)

    house.roles = frozenset({"approver"})
    with pytest.raises(Conflict):  # lifting a pause twice is lifting it once
        house.resume(session)
    house.resolve(session, review, "continue")
    house.run()
    assert "x.txt" in files(house)


def test_a_session_that_is_paused_while_it_comes_to_a_question_stays_paused() -> None:
    asks = says("Hm.", call("update_plan", action="wait_for_user", reason="Which?"))
    for turns, type in (
        ((plans("ask"), asks), "clarification_needed"),
        ((plans("delete"), DELETE), "approval_required"),
        ((plans("delete"), dear(says("", call("list_files")))), "budget_exceeded"),
    ):
        house, session = paused_while_it_thinks(*turns, token_budget=20_000)
        assert (open_types(house, session)[1], house.head(session).state_reason) == (type, "paused")
        house.resume(session)
        assert house.head(session).state_reason == type


@pytest.mark.parametrize("option", ["continue", "cancel"])
def test_a_pause_beside_a_review_is_a_pause_of_its_own(option: str) -> None:
    house, session, review = waiting("checkpoint_review", timeout_seconds=60, default_action="continue")
    head = house.pause(session)
    assert (head.state_reason, len(head.interventions)) == ("paused", 2)
    assert house.pause(session).interventions == head.interventions
    pause = head.interventions[1]
    assert pause.timeout_at is None

    house.resolve(session, review, option)
    house.run()
    head = house.head(session)
    if option == "cancel":
        assert (head.state, recorded(house, pause).state) == ("cancelled", "withdrawn")
        return
    assert (head.state, head.interventions, started(house, session)) == ("waiting_for_user", (pause,), False)
    house.resume(session)
    house.run()
    assert started(house, session)


def test_a_pause_outlasts_the_review_that_goes_on_by_itself() -> None:
    house, session, review = waiting("checkpoint_review", timeout_seconds=60, default_action="continue")
    pause = house.pause(session).interventions[1]
    house.clock.advance(61)
    house.time_out(session)
    house.run()
    head = house.head(session)
    assert (recorded(house, review).state, head.interventions) == ("expired", (pause,))
    assert not started(house, session)
    house.resume(session)
    house.run()
    assert started(house, session)


def test_a_reply_without_calls_that_uses_up_the_budget_asks_for_the_budget_alone() -> None:
    house = house_with(plans("write"), dear(says("", step(1, "in_progress"))), *ENDS)
    session = house.start("Go", token_budget=20_000).session_id
    house.run()
    assert open_types(house, session) == ["budget_exceeded"]
    assert house.head(session).calls == ()

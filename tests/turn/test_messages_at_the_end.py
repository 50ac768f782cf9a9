"""A run does not complete over a message that nobody has read, and it does end (docs/design/log.md 36)."""

import pytest

from acta.engine.errors import Conflict
from acta.engine.log.head import Head
from acta.engine.models.model import ModelReply, TokenUsage
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step
from tests.people.policies import house_with, recorded, waiting

LOOKS = says("I look.", call("list_files"))


def after_a_message_in_the_last_turn(*turns: ModelReply) -> Head:
    """Of two steps; the last head."""
    model = ScriptedModel([plans("look"), *turns])
    house = House(model)
    session = house.start("Look", max_steps=2).session_id

    def write() -> None:
        if len(model.requests) == 3:
            house.say(session, "And this!")

    model.meanwhile = write
    house.run()
    return house.head(session)


def test_a_message_that_comes_in_the_last_turn_is_answered_with_as_many_steps_as_a_new_run_has() -> None:
    answer = (says("", step(1, "completed", "ok")), completes("Both done."))
    head = after_a_message_in_the_last_turn(LOOKS, says("", call("list_files", path="x")), *answer)
    assert (head.state, head.undelivered) == ("completed", ())
    assert head.result is not None
    assert (head.result.goal_met, head.result.answer) == (True, "Both done.")
    assert head.run is not None
    assert (head.run.iteration, head.run.max_steps) == (4, 4)


def test_a_message_at_the_step_limit_moves_it_once_and_no_further() -> None:
    head = after_a_message_in_the_last_turn(*(says("", call("list_files", path=f"f{n}")) for n in range(9)))
    assert head.result is not None
    assert (head.state, head.result.reason, head.undelivered) == ("completed", "max_steps", ())
    assert head.run is not None
    assert head.run.iteration == 4


GIVES_UP = says("", call("update_plan", action="fail", reason="There is no such file."))


def run_with_a_message_in_turn(number: int, *turns: ModelReply, **limits: int) -> tuple[House, Head]:
    """The message comes while the model thinks about its `number`th reply."""
    model = ScriptedModel(turns)
    house = House(model)
    session = house.start("Look", **limits).session_id

    def write() -> None:
        if len(model.requests) == number:
            house.say(session, "Then make one!")

    model.meanwhile = write
    house.run()
    return house, house.head(session)


def test_a_run_does_not_fail_over_a_message_that_came_while_the_model_gave_up() -> None:
    done = (says("", step(1, "completed", "made")), completes("Made."))
    house, head = run_with_a_message_in_turn(2, plans("look"), GIVES_UP, *done)
    assert (head.state, head.undelivered) == ("completed", ())
    assert head.result is not None
    assert (head.result.goal_met, head.result.answer) == (True, "Made.")
    rejected = [one.event for one in house.poll(head.session_id).events if one.event.type == "plan.rejected"]
    assert [event.data["code"] for event in rejected] == ["NEW_MESSAGE"]


def test_who_gives_up_again_after_the_message_fails() -> None:
    _, head = run_with_a_message_in_turn(2, plans("look"), GIVES_UP, GIVES_UP)
    assert (head.state, head.undelivered) == ("failed", ())
    assert head.error is not None
    assert head.error.code == "PLAN_FAILED"


def test_a_run_that_goes_in_circles_reads_a_message_before_it_fails_for_that() -> None:
    fails = says("", call("read_file", path="gone.txt"))
    turns = [plans("read"), *[fails] * 4, *[says("", step(1, "skipped")), completes("Then not.")]]
    house, head = run_with_a_message_in_turn(9, *turns)
    (asked,) = head.interventions
    model = house.model
    assert isinstance(model, ScriptedModel)
    came = len(model.requests) + 1
    model.meanwhile = lambda: len(model.requests) == came and house.say(head.session_id, "Leave it.")
    house.resolve(head.session_id, asked, "retry")
    house.run()
    ended = house.head(head.session_id)
    assert (ended.state, ended.undelivered) == ("completed", ())


def test_a_plan_is_not_closed_as_failed_while_calls_of_the_same_reply_still_run() -> None:
    both = says(
        "", call("list_files"), call("update_plan", action="fail", reason="There is nothing to read.")
    )
    house, head = run_with_a_message_in_turn(9, plans("look"), both, GIVES_UP)
    codes = [
        seen.event.data["code"]
        for seen in house.poll(head.session_id).events
        if seen.event.type == "plan.rejected"
    ]
    assert (head.state, codes) == ("failed", ["CALLS_PENDING"])


def out_of_budget() -> tuple[House, str]:
    dear: list[ModelReply] = [turn._replace(usage=TokenUsage(9_000, 900)) for turn in (plans("look"), LOOKS)]
    end = (says("", step(1, "completed", "ok")), completes("Both done."))
    house = house_with(*dear, *end)
    session = house.start("Look", token_budget=10_000).session_id
    house.run()
    return house, session


def test_a_run_is_not_finished_at_its_budget_over_a_message_but_raised_or_cancelled() -> None:
    house, session = out_of_budget()
    house.say(session, "And this!")
    (asked,) = house.head(session).interventions
    with pytest.raises(Conflict, match="A message waits for the agent"):
        house.resolve(session, asked, "finish")
    assert house.head(session).interventions == (asked,)
    house.resolve(session, asked, "raise", token_budget=1_000_000)
    house.run()
    head = house.head(session)
    assert (head.state, head.undelivered) == ("completed", ())


def test_who_does_not_want_the_message_answered_cancels() -> None:
    house, session = out_of_budget()
    house.say(session, "And this!")
    house.resolve(session, house.head(session).interventions[0], "cancel")
    house.run()
    assert house.head(session).state == "cancelled"


def test_the_message_a_run_began_with_does_not_keep_it_from_being_finished() -> None:
    house, session, asked = waiting("budget_exceeded")
    assert len(house.head(session).undelivered) == 1
    house.resolve(session, asked, "finish")
    assert house.head(session).state == "completed"


def test_a_budget_question_does_not_finish_by_itself_over_a_message() -> None:
    house, session, asked = waiting("budget_exceeded", timeout_seconds=60)
    house.say(session, "And this!")
    house.clock.advance(61)
    house.time_out(session)
    house.run()
    (still,) = house.head(session).interventions
    assert (still.intervention_id, still.timeout_at) == (asked.intervention_id, None)
    house.resolve(session, still, "raise", token_budget=1_000_000)
    house.run()
    head = house.head(session)
    assert (head.state, head.undelivered) == ("completed", ())


def test_a_paused_session_does_not_end_by_itself() -> None:
    house, session, review = waiting("checkpoint_review", timeout_seconds=60, default_action="cancel")
    pause = house.pause(session).interventions[1]
    house.clock.advance(61)
    house.time_out(session)
    house.run()
    kept, held = house.head(session).interventions
    assert (kept.intervention_id, kept.timeout_at, held) == (review.intervention_id, None, pause)
    house.resolve(session, kept, "continue")
    assert recorded(house, review).state == "resolved"
    house.resume(session)
    house.run()
    assert "tool.started" in {seen.event.type for seen in house.poll(session).events}

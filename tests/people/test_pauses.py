"""Replies that their provider paused, over whole runs: what came is kept, and the model is asked again
(docs/design/providers.md)."""

from acta.engine.log.conversation import AssistantEntry
from acta.engine.models.model import ModelReply
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, call, completes, plans, says, step

DONE = says("", step(1, "completed", "ok"))


def paused(text: str) -> ModelReply:
    return says(text)._replace(stop="pause")


def test_a_paused_reply_is_kept_and_gone_on_from() -> None:
    model = ScriptedModel([plans("tell"), DONE, paused("First I look."), completes("Told.")])
    house = House(model)
    session = house.start("Tell me").session_id

    house.run()

    head = house.head(session)
    assert (head.state, head.result and head.result.answer) == ("completed", "Told.")
    last = model.requests[-1].entries[-1]
    assert isinstance(last, AssistantEntry)
    assert last.content.text == "First I look."


def test_a_paused_reply_is_no_answer_whatever_it_says() -> None:
    model = ScriptedModel([plans("tell"), DONE, paused("GOAL_COMPLETE\nHalf of"), completes("All of it.")])
    house = House(model)
    session = house.start("Tell me").session_id

    house.run()

    result = house.head(session).result
    assert result is not None
    assert result.answer == "All of it."


def test_pauses_do_not_count_as_idle_talk_but_as_turns() -> None:
    pauses = [paused(f"Part {n}.") for n in range(4)]
    house = House(
        ScriptedModel([plans("tell"), *pauses, says("", call("list_files")), DONE, completes("Told.")])
    )
    going_on = house.start("Tell me").session_id
    house.run()
    assert house.head(going_on).state == "completed"

    house = House(ScriptedModel([plans("tell"), *pauses]))
    limited = house.start("Tell me", max_steps=4).session_id
    house.run()
    result = house.head(limited).result
    assert result is not None
    assert (result.goal_met, result.reason) == (False, "max_steps")

"""Replies that are cut off at their length limit, over whole runs (docs/design/turn.md 3)."""

import pytest

from acta.engine.errors import StreamBroken
from acta.engine.log.commit import Decision
from acta.engine.log.conversation import AssistantEntry, ToolEntry
from acta.engine.log.events import Event
from acta.engine.log.repository import SessionRepository
from acta.engine.models.model import ModelReply, RequestedCall
from acta.engine.turn.reply import AGAIN, CALLS_STAND, GO_ON, SMALLER
from tests.in_process.house import TENANT, House
from tests.in_process.lossy import LossyLog
from tests.in_process.scripted import ScriptedModel, Turn, call, completes, plans, says, step

DONE = says("", step(1, "completed", "ok"))
HALF_CALL = RequestedCall("create_file", None, "the input was cut off at the output limit")


def cut(text: str, *calls: RequestedCall) -> ModelReply:
    return says(text, *calls)._replace(stop="max_tokens")


def run(*turns: Turn, **limits: int) -> tuple[House, str, ScriptedModel]:
    model = ScriptedModel(turns)
    house = House(model)
    session = house.start("Tell me", **limits).session_id
    house.run()
    return house, session, model


def answer(house: House, session: str) -> str | None:
    result = house.head(session).result
    assert result is not None
    return result.answer


def of(house: House, session: str, kind: str) -> list[Event]:
    return [one.event for one in house.poll(session).events if one.event.type == kind]


def test_a_text_that_was_cut_off_is_gone_on_with_and_both_parts_are_one_answer() -> None:
    house, session, model = run(
        plans("tell"), DONE, cut("GOAL_COMPLETE\nThe answer is fo"), says("rty-two. And more.")
    )
    head = house.head(session)
    assert (head.state, head.result and head.result.goal_met) == ("completed", True)
    assert answer(house, session) == "The answer is forty-two. And more."
    assert model.requests[-1].suffix.endswith(GO_ON)
    first, rest = of(house, session, "message.assistant")
    assert (first.data["content"], rest.data["content"]) == (
        "The answer is fo",
        "rty-two. And more.",
    )
    assert rest.data["continues"] == first.data["message_id"]
    assert head.result is not None
    assert head.result.message_id == rest.data["message_id"]


def test_the_conversation_keeps_what_each_reply_said() -> None:
    _, _, model = run(
        plans("tell"), cut("One, tw"), says("o, three.", step(1, "completed", "ok")), completes("Told.")
    )
    said = [entry for entry in model.requests[-1].entries if isinstance(entry, AssistantEntry)]
    assert [entry.content.text for entry in said[1:]] == ["One, tw", "o, three."]
    assert said[2].continues == said[1].message_id


def test_a_cut_off_text_completes_nothing_by_itself() -> None:
    house, session, _ = run(plans("tell"), DONE, cut("GOAL_COMPLETE\nAll of"), max_steps=2)
    result = house.head(session).result
    assert result is not None
    assert (result.goal_met, result.reason) == (False, "max_steps")


def test_a_person_s_hint_in_the_same_words_joins_no_replies() -> None:
    fails = says("", call("read_file", path="gone.txt"))
    stuck = (plans("read"), fails, fails, fails, says("It is not there."))
    house, session, model = run(*stuck, says("Then not."), DONE, completes("Nothing there."))
    (asked,) = house.head(session).interventions
    assert asked.type == "error_recovery"

    house.resolve(session, asked, "retry", hint=GO_ON)
    house.run()

    assert GO_ON in model.requests[5].suffix
    said = of(house, session, "message.assistant")
    assert [message.data["content"] for message in said[:2]] == ["It is not there.", "Then not."]
    assert not any("continues" in message.data for message in said)
    assert answer(house, session) == "Nothing there."


def test_one_that_claims_the_goal_anew_is_taken_as_a_whole_reply() -> None:
    house, session, _ = run(plans("tell"), DONE, cut("GOAL_COMPLETE\nThe ans"), completes("Forty-two."))
    assert answer(house, session) == "Forty-two."


def test_the_model_reads_of_a_second_cut_off_in_a_row_and_nothing_is_joined() -> None:
    house, session, model = run(
        plans("tell"), cut("A long te"), cut("xt that does not e"), DONE, completes("Short.")
    )
    suffixes = [request.suffix for request in model.requests]
    assert [GO_ON in suffix for suffix in suffixes] == [False, False, True, False, False]
    assert [SMALLER in suffix for suffix in suffixes] == [False, False, False, True, False]
    assert answer(house, session) == "Short."
    assert house.head(session).progress.cut_offs == 0


def test_after_a_whole_reply_the_next_cut_off_is_a_first_one_again() -> None:
    house, session, model = run(
        plans("tell"), cut("One, tw"), says("o."), cut("Three, fo"), says("ur."), DONE, completes("Told.")
    )
    one, two, three, four = (event.data for event in of(house, session, "message.assistant"))
    assert (two["continues"], four["continues"]) == (one["message_id"], three["message_id"])
    assert not {"continues"} & (one.keys() | three.keys())
    assert [GO_ON in request.suffix for request in model.requests] == [
        False,
        False,
        True,
        False,
        True,
        False,
        False,
    ]


def test_a_model_that_is_always_cut_off_ends_with_a_person() -> None:
    house, session, _ = run(plans("tell"), *(cut(f"Part {n} of many") for n in range(9)))
    head = house.head(session)
    assert head.state == "waiting_for_user"
    assert [one.type for one in head.interventions] == ["clarification_needed"]
    assert "cut off at `max_output_tokens`" in str(head.interventions[0].context["question"])


def test_a_call_that_was_cut_off_is_not_run_and_asked_for_again() -> None:
    whole = call("create_file", path="a.md", content="whole")
    house, session, model = run(
        plans("write"), cut("Writing.", HALF_CALL), says("", whole), DONE, completes("Written.")
    )
    told = [entry for entry in model.requests[2].entries if isinstance(entry, ToolEntry)][-1]
    assert (told.ok, "cut off" in told.content.loaded) == (False, True)
    assert model.requests[2].suffix.endswith(AGAIN)
    assert house.files.read(TENANT, "a.md") == b"whole"
    assert len(of(house, session, "tool.started")) == 1


def test_whole_calls_before_the_cut_run_and_the_model_reads_what_was_cut_after_their_results() -> None:
    listing = call("list_files")
    house, session, model = run(plans("look"), cut("Looking.", listing, HALF_CALL), DONE, completes("Seen."))
    assert [event.data["name"] for event in of(house, session, "tool.finished")] == ["list_files"]
    assert model.requests[2].suffix.endswith(AGAIN)
    assert house.files.list(TENANT, "", 10, None).files == ()


def test_a_last_call_that_is_whole_runs_once_and_is_not_asked_for_again() -> None:
    whole = call("create_file", path="a.md", content="whole")
    house, session, model = run(plans("write"), cut("Writing.", whole), DONE, completes("Written."))
    assert house.files.read(TENANT, "a.md") == b"whole"
    told = [entry for entry in model.requests[2].entries if isinstance(entry, ToolEntry)][-1]
    assert told.ok
    assert model.requests[2].suffix.endswith(CALLS_STAND)
    assert AGAIN not in model.requests[2].suffix
    assert len(of(house, session, "tool.started")) == 1


def test_a_call_that_is_cut_off_again_is_to_be_made_in_smaller_pieces() -> None:
    _, _, model = run(plans("write"), cut("", HALF_CALL), cut("", HALF_CALL), DONE, completes("Given up."))
    assert model.requests[2].suffix.endswith(AGAIN)
    assert SMALLER in model.requests[3].suffix


def test_a_reply_that_was_cut_off_completes_no_plan() -> None:
    complete = call("update_plan", action="complete", reason="done")
    house, session, _ = run(
        plans("tell"), cut("It is", step(1, "completed", "ok"), complete), completes("It is so.")
    )
    assert [event.data["code"] for event in of(house, session, "plan.rejected")] == ["CUT_OFF"]
    assert answer(house, session) == "It is so."


def test_a_model_that_reached_its_limit_before_it_said_anything_is_asked_to_be_shorter() -> None:
    _, _, model = run(plans("tell"), cut("")._replace(thinking="Hm, hm"), DONE, completes("Told."))
    assert SMALLER in model.requests[2].suffix


@pytest.mark.parametrize(
    ("half", "told"),
    [
        (cut("First I would"), GO_ON),
        (cut("", RequestedCall("update_plan", None, "cut off")), AGAIN),
        (cut("", call("update_plan", action="create", goal=" ")), CALLS_STAND),
    ],
)
def test_a_plan_that_was_cut_off_is_asked_for_again_then_in_smaller_pieces(
    half: ModelReply, told: str
) -> None:
    house, session, model = run(half, half, plans("tell"), DONE, completes("Told."))
    assert told in model.requests[1].suffix
    assert SMALLER in model.requests[2].suffix
    assert SMALLER not in model.requests[3].suffix
    assert house.head(session).state == "completed"


def test_a_crash_does_not_begin_the_ladder_anew() -> None:
    model = ScriptedModel([plans("tell"), cut("One, tw"), cut("o, thr"), DONE, completes("Told.")])
    house = House(model)
    session = house.start("Tell me").session_id

    def cold(_: Decision) -> None:
        house.repository = house.fresh_repository()

    house.run(cold)
    assert SMALLER in model.requests[3].suffix
    assert house.head(session).state == "completed"


@pytest.mark.parametrize("nth", range(1, 6))
def test_a_lost_answer_joins_the_parts_once(nth: int) -> None:
    house = House(ScriptedModel([plans("tell"), DONE, cut("GOAL_COMPLETE\nOne, tw"), says("o.")]))
    session = house.start("Tell me").session_id
    house.log = LossyLog(house, nth)  # type: ignore[assignment]
    house.repository = SessionRepository(house.log, house.blobs, house.clock)
    house.run()
    assert answer(house, session) == "One, two."


def test_a_stream_without_an_end_is_no_cut_off_reply() -> None:
    house, session, _ = run(plans("tell"), StreamBroken("half"), DONE, completes("Told."))
    retried = [seen.event for seen in house.poll(session).events if seen.event.type == "llm.retried"]
    assert [event.data["code"] for event in retried] == ["PROVIDER_STREAM_BROKEN"]
    assert answer(house, session) == "Told."
    assert house.head(session).progress.cut_offs == 0

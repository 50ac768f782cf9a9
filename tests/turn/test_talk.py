"""What a stranger types first, with models that behave well and models that do not (docs/design/turn.md 16).

Nobody is asked a question that they cannot answer, and what needs no work is one call.
"""

from collections.abc import Iterable
from typing import Any

import pytest

from acta.engine.agents.agent import AgentDefinition, Models
from acta.engine.errors import ProviderRejected
from acta.engine.log.head import Result
from acta.engine.models.model import ModelReply
from acta.engine.prompts.prompt import WHEN_NEEDED
from acta.engine.turn.reply import PLAN_FIRST
from acta.engine.turn.turn import WRITE_ANSWER
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import USAGE, ScriptedModel, Turn, call, completes, plans, says, step

HELLO = says("Hello! How can I help you today?")
LOOK = call("list_files")
OK = says("", step(1, "completed", "ok"))


def talk(
    *turns: Turn, says_first: str = "hi", forever: bool = False, **agent: Any
) -> tuple[House, ScriptedModel, str]:
    model = ScriptedModel(turns, forever=forever)
    house = House(model)
    house.definitions.create_agent(TENANT, AgentDefinition(agent_id="a", name="A", version=1, **agent))
    session = house.start(says_first, agent_id="a").session_id
    house.run()
    return house, model, session


def result_of(house: House, session: str) -> Result:
    head = house.head(session)
    assert head.state == "completed", [one.context for one in head.interventions]
    assert head.result is not None
    return head.result


def types(house: House, session: str) -> list[str]:
    return [seen.event.type for seen in house.poll(session).events]


@pytest.mark.parametrize("planning", ["always", "when_needed"])
@pytest.mark.parametrize("greeting", ["hi", "thanks", "What can you do?"])
def test_talk_with_the_marker_is_one_call(greeting: str, planning: str) -> None:
    house, model, session = talk(says("GOAL_COMPLETE\nHello!"), says_first=greeting, planning=planning)
    result = result_of(house, session)
    assert (result.answer, result.reason, result.goal_met) == ("Hello!", "goal_complete", True)
    assert len(model.requests) == 1
    assert house.head(session).plan is None


def test_only_an_agent_whose_plans_are_optional_is_told_so() -> None:
    systems = [
        talk(HELLO, HELLO, planning=planning)[1].requests[0].system for planning in ("always", "when_needed")
    ]
    assert [WHEN_NEEDED in system for system in systems] == [False, True]


def test_where_plans_are_optional_prose_is_the_answer_in_one_call() -> None:
    house, model, session = talk(HELLO, planning="when_needed")
    result = result_of(house, session)
    assert (result.answer, result.reason, result.goal_met) == (HELLO.text, "answered", True)
    assert len(model.requests) == 1


def test_a_model_that_answers_in_prose_is_reminded_once_and_then_its_text_is_the_answer() -> None:
    house, model, session = talk(HELLO, forever=True)
    result = result_of(house, session)
    assert (result.answer, result.reason, result.goal_met) == (HELLO.text, "answered_without_plan", True)
    assert len(model.requests) == 2
    assert "begin with GOAL_COMPLETE" in model.requests[1].suffix
    assert "intervention.opened" not in types(house, session)


def test_the_marker_alone_after_the_reminder_makes_the_text_before_it_the_answer() -> None:
    house, _, session = talk(HELLO, says("GOAL_COMPLETE"))
    assert result_of(house, session).answer == HELLO.text


@pytest.mark.parametrize("planning", ["always", "when_needed"])
def test_a_call_in_the_text_is_no_answer_and_the_model_is_told_so(planning: str) -> None:
    written = says('<tool_call>\n{"name": "list_files", "arguments": {}}\n</tool_call>')
    begins = says("", call("update_plan", action="create", goal="g", steps=[{"description": "Look"}]), LOOK)
    house, model, session = talk(written, written, begins, OK, completes("None."), planning=planning)
    assert result_of(house, session).answer == "None."
    told = ["call in your text is not run" in request.suffix for request in model.requests]
    assert told == [False, True, True, False, False]


@pytest.mark.parametrize("planning", ["always", "when_needed"])
def test_what_is_only_announced_goes_on_by_itself(planning: str) -> None:
    begins = says("", call("update_plan", action="create", goal="g", steps=[{"description": "Look"}]), LOOK)
    house, model, session = talk(
        says("Let me look into the folders…"), begins, OK, completes("None."), planning=planning
    )
    assert result_of(house, session).answer == "None."
    assert len(model.requests) == 4


def test_a_model_that_only_announces_is_put_before_a_person_who_is_told_what_to_do() -> None:
    house, model, session = talk(says("I'll look into it."), forever=True)
    (asked,) = house.head(session).interventions
    assert len(model.requests) == 3
    assert (asked.type, asked.context["agent_said"]) == ("clarification_needed", "I'll look into it.")
    assert "3 times without doing anything" in asked.context["question"]
    assert "or cancel the run" in asked.context["question"]


def test_a_model_that_never_plans_is_refused_once_and_then_works_by_a_plan_of_acta() -> None:
    house, model, session = talk(
        says("", LOOK), says("", LOOK), says("", call("list_files", path="a")), says("There are no files."),
        says_first="How many files are there?",
    )  # fmt: skip
    result = result_of(house, session)
    assert (result.answer, result.reason) == ("There are no files.", "answered_without_plan")
    plan = house.head(session).plan
    assert plan is not None
    assert (plan.made_by_acta, plan.goal, plan.status) == (True, "How many files are there?", "completed")
    assert [(one.status, one.result) for one in plan.steps] == [("completed", "There are no files.")]
    assert house.head(session).usage.tool_calls == 2
    assert PLAN_FIRST in model.requests[1].entries[-1].content.loaded
    rejected = [one.event.data for one in house.poll(session).events if one.event.type == "plan.rejected"]
    assert [data["calls"] for data in rejected] == [["list_files"]]
    assert "intervention.opened" not in types(house, session)
    assert [request.suffix for request in model.requests[2:]] == ["", ""], (
        "the user's message says it already"
    )


def test_what_was_done_may_be_announced_in_the_answer() -> None:
    """Of "I will remember that" after the call nobody is asked what the agent should do."""
    note = call("remember", text="No meetings on Tuesdays.", scope="agent")
    house, _, session = talk(says("", note), says("", note), *[says("I will remember that.")] * 2)
    result = result_of(house, session)
    assert (result.answer, result.goal_met) == ("I will remember that.", True)


def test_a_plan_of_acta_whose_calls_all_failed_is_not_done() -> None:
    missing = says("", call("read_file", path="no.txt"))
    house, _, session = talk(missing, missing, says("There is no such file."))
    result, plan = result_of(house, session), house.head(session).plan
    assert (result.reason, result.goal_met) == ("answered_without_plan", False)
    assert plan is not None
    assert [one.status for one in plan.steps] == ["failed"]


def test_talk_after_a_plan_of_acta_was_cancelled_leaves_it_as_it_was() -> None:
    model = ScriptedModel([says("", LOOK), says("", LOOK), says("Hello!"), says("Hello!")])
    house = House(model)
    session = house.start("Look").session_id
    house.run(
        lambda decision: decision.next == "think" and len(model.requests) == 2 and house.cancel(session)
    )
    before = house.head(session).plan
    house.say(session, "hi")
    house.run()
    assert result_of(house, session).answer == "Hello!"
    assert before is not None
    assert house.head(session).plan == before


def test_who_gives_the_answer_again_and_again_over_open_steps_ends_without_the_goal() -> None:
    house, _, session = talk(plans("a", "b"), says("GOAL_COMPLETE\nFine, I leave it."), forever=True)
    result, types_seen = result_of(house, session), types(house, session)
    assert (result.answer, result.goal_met, result.reason) == ("Fine, I leave it.", False, "steps_left_open")
    assert "intervention.opened" not in types_seen


def test_a_plan_of_acta_is_not_done_where_the_run_ends_at_a_limit() -> None:
    model = ScriptedModel([says("", LOOK)] * 4)
    house = House(model)
    session = house.start("Look", max_steps=2).session_id
    house.run()
    head = house.head(session)
    assert (head.result is not None and head.result.reason, head.plan_status) == ("max_steps", "failed")
    assert head.plan is not None
    assert [one.status for one in head.plan.steps] == ["in_progress"]


def test_a_plan_of_acta_lifts_no_approval() -> None:
    delete = says("", call("delete_file", path="a.txt"))
    house, _, session = talk(delete, delete, says_first="Delete a.txt", high_stakes=("delete_file",))
    assert [one.type for one in house.head(session).interventions] == ["approval_required"]


def test_where_plans_are_optional_calls_run_without_one() -> None:
    house, model, session = talk(says("", LOOK), says("None."), planning="when_needed")
    head = house.head(session)
    assert (result_of(house, session).reason, head.plan, head.usage.tool_calls) == ("answered", None, 1)
    assert head.run is not None
    assert (head.run.iteration, len(model.requests)) == (2, 2)


FOLLOW_UPS: dict[str, tuple[Turn, int]] = {
    "is answered at once": (says("GOAL_COMPLETE\nYou are welcome."), 1),
    "is answered in prose": (says("You are welcome."), 2),
}


@pytest.mark.parametrize(("reply", "calls"), FOLLOW_UPS.values(), ids=FOLLOW_UPS)
def test_a_follow_up_that_needs_no_work(reply: Turn, calls: int) -> None:
    house, model, session = talk(plans("look"), OK, completes("Three files."), *[reply] * calls)
    before = len(model.requests)
    house.say(session, "thanks")
    house.run()
    assert result_of(house, session).answer == "You are welcome."
    assert len(model.requests) - before == calls
    plan = house.head(session).plan
    assert plan is not None
    assert plan.version == 1


def left_off(*turns: Turn) -> tuple[House, ScriptedModel, str]:
    """A session whose run had no steps left, in the middle of its plan of two steps."""
    model = ScriptedModel([plans("a", "b"), says("", step(1, "completed", "ok"), LOOK), *turns])
    house = House(model)
    session = house.start("Go", max_steps=1).session_id
    house.run()
    assert house.head(session).state == "completed"
    house.limit(session, max_steps=9)
    return house, model, session


def test_a_follow_up_goes_on_with_the_plan_that_was_left_in_one_call() -> None:
    house, model, session = left_off(
        says(
            "GOAL_COMPLETE\nDone.",
            step(2, "completed", "ok"),
            call("update_plan", action="complete", reason="ok"),
        )
    )
    house.say(session, "go on")
    house.run()
    assert (result_of(house, session).answer, len(model.requests)) == ("Done.", 3)
    assert "2 open" in model.requests[-1].suffix


@pytest.mark.parametrize("reply", [says("GOAL_COMPLETE\nSure."), says("Sure.")])
def test_a_plan_that_was_left_holds_back_no_answer_and_stays_as_it_was(reply: Turn) -> None:
    house, _, session = left_off(reply, says("Sure."))
    house.say(session, "thanks, that is enough")
    house.run()
    result = result_of(house, session)
    assert (result.answer, result.goal_met) == ("Sure.", True)
    plan = house.head(session).plan
    assert plan is not None
    assert [one.status for one in plan.steps] == ["completed", "pending"]
    assert types(house, session).count("plan.closed") == 1


def test_a_plan_that_was_left_and_is_worked_on_holds_back_an_answer_again() -> None:
    finish = says("", step(2, "skipped"))
    house, _, session = left_off(
        says("", step(2, "in_progress")), says("GOAL_COMPLETE\nAll."), finish, completes("b.")
    )
    house.say(session, "go on")
    house.run()
    assert result_of(house, session).answer == "b."


def test_a_plan_that_was_left_takes_no_calls_of_a_new_plan_that_is_refused() -> None:
    bad = call("update_plan", action="create", goal="g", steps=[])
    house, _, session = left_off(
        says("", bad, call("create_file", path="a.txt", content="x")), says("GOAL_COMPLETE\nNo.")
    )
    house.say(session, "now write a.txt")
    house.run()
    assert result_of(house, session).answer == "No."
    assert house.files.list(TENANT, "", 10).files == ()


def test_a_question_about_a_plan_of_its_own_is_asked_as_ever() -> None:
    house, _, session = talk(plans("a"), says("", step(1, "completed", "ok")), says("Shall I go on?"))
    (asked,) = house.head(session).interventions
    assert asked.context["question"] == "Shall I go on?"


def test_an_empty_reply_is_no_answer() -> None:
    house, model, session = talk(says(""), says("GOAL_COMPLETE\nHello!"), planning="when_needed")
    assert (result_of(house, session).answer, len(model.requests)) == ("Hello!", 2)


# ---- the model for final answers


def names(model: ScriptedModel) -> list[str]:
    return [request.model for request in model.requests]


AT_ONCE = says(
    "GOAL_COMPLETE\nDraft.", step(1, "completed", "ok"), call("update_plan", action="complete", reason="ok")
)
FINAL: dict[str, tuple[Iterable[Turn], list[str]]] = {
    "the last step and the plan close in one reply": (
        [plans("a"), AT_ONCE, says("Written.")],
        ["m", "m", "f"],
    ),
    "the steps are done first": ([plans("a"), OK, says("GOAL_COMPLETE Written.")], ["m", "m", "f"]),
    "it closes the plan itself": ([plans("a"), OK, completes("Written.")], ["m", "m", "f"]),
    "one reply makes the plan and closes it without a reason": (
        [
            says(
                "Draft.",
                call("update_plan", action="create", goal="g", steps=[{"description": "a"}]),
                call("update_plan", action="complete", steps=[{"step_number": 1, "step_result": "ok"}]),
            ),
            says("Written."),
        ],
        ["m", "f"],
    ),
    "a plan of Acta's": (
        [says("", LOOK), says("", LOOK), says("Draft."), says("Written.")],
        ["m", "m", "m", "f"],
    ),
}


@pytest.mark.parametrize(("turns", "asked"), FINAL.values(), ids=FINAL)
def test_the_model_for_final_answers_writes_the_answer(turns: Iterable[Turn], asked: list[str]) -> None:
    house, model, session = talk(*turns, says_first="Go", model="m", models={"final": "f"})
    result = result_of(house, session)
    assert (result.answer, result.goal_met) == ("Written.", True)
    assert names(model) == asked


def test_talk_without_plan_and_calls_asks_no_other_model() -> None:
    _, model, _ = talk(says("GOAL_COMPLETE\nHello!"), model="m", models={"final": "f"})
    assert names(model) == ["m"]


def test_talk_after_a_run_that_was_cancelled_at_work_asks_no_other_model() -> None:
    model = ScriptedModel([plans("a"), says("", LOOK), says("GOAL_COMPLETE\nBye.")])
    house = House(model)
    final = AgentDefinition(agent_id="a", name="A", version=1, model="m", models=Models(final="f"))
    house.definitions.create_agent(TENANT, final)
    session = house.start("Go", agent_id="a").session_id
    house.run(
        lambda decision: decision.next == "think" and len(model.requests) == 2 and house.cancel(session)
    )
    house.say(session, "never mind")
    house.run()
    assert (result_of(house, session).answer, names(model)) == ("Bye.", ["m"] * 3)


def test_the_final_model_is_told_what_it_is_asked_for_and_may_begin_with_the_marker_or_not() -> None:
    house, model, session = talk(
        plans("a"), AT_ONCE, says("It is done."), says_first="Go", models={"final": "f"}
    )
    assert WRITE_ANSWER in model.requests[-1].suffix
    assert result_of(house, session).reason == "plan_completed"


def test_a_message_that_comes_before_the_final_answer_is_read_first() -> None:
    model = ScriptedModel([plans("a"), AT_ONCE, says("Draft."), says("GOAL_COMPLETE\nWith b.")])
    house = House(model)
    house.definitions.create_agent(
        TENANT, AgentDefinition(agent_id="a", name="A", version=1, models=Models(final="f"))
    )
    session = house.start("Go", agent_id="a").session_id

    def once() -> None:
        if len(model.requests) == 3:
            house.say(session, "and b")

    model.meanwhile = once
    house.run()
    assert result_of(house, session).answer == "With b."


DECLINED = ModelReply("", (), "refusal", USAGE)


@pytest.mark.parametrize(
    "answer", [ProviderRejected("no such model"), DECLINED], ids=["rejected", "declined"]
)
def test_where_the_final_model_fails_for_good_the_draft_is_the_answer(answer: Turn) -> None:
    turns = [says("", LOOK), says("", LOOK), says("Draft."), answer, says("GOAL_COMPLETE\nYou are welcome.")]
    house, model, session = talk(*turns, says_first="Go", models={"final": "f"})
    result = result_of(house, session)
    assert (result.answer, result.goal_met, result.reason) == ("Draft.", True, "final_model_failed")
    plan = house.head(session).plan
    assert plan is not None
    assert [(step.status, step.result) for step in plan.steps] == [("completed", "Draft.")]
    house.say(session, "Thanks")
    house.run()
    drafts = [entry for entry in model.requests[-1].entries if "Draft." in entry.content.loaded]
    assert len(drafts) == 1, "the conversation goes on with what the user was given"


@pytest.mark.parametrize(
    "answer", [ProviderRejected("no such model"), DECLINED], ids=["rejected", "declined"]
)
def test_where_it_fails_before_there_is_a_draft_the_agent_s_own_model_answers(answer: Turn) -> None:
    turns = [plans("a"), OK, answer, says("GOAL_COMPLETE\nMine.")]
    house, model, session = talk(*turns, says_first="Go", model="m", models={"final": "f"})
    result = result_of(house, session)
    assert (result.answer, result.goal_met, result.reason) == ("Mine.", True, "final_model_failed")
    assert names(model) == ["m", "m", "f", "m"]


def test_where_the_agent_s_own_model_fails_as_well_the_run_fails() -> None:
    fails = ProviderRejected("no such model")
    house, model, session = talk(plans("a"), OK, fails, fails, says_first="Go", models={"final": "f"})
    assert house.head(session).state == "failed"
    assert not model.left


def test_a_final_model_without_a_price_under_a_cost_budget_does_not_lose_the_draft() -> None:
    model = ScriptedModel([plans("a"), AT_ONCE])
    model.provider = "anthropic"
    house = House(model)

    def agent(version: int, final: str) -> AgentDefinition:
        models = Models(final=final)
        return AgentDefinition(
            agent_id="a", name="A", version=version, model="claude-sonnet-5-5", models=models
        )

    first, second = agent(1, "claude-haiku-4-5"), agent(2, "nobody-knows-it")
    house.definitions.create_agent(TENANT, first)
    session = house.start("Go", agent_id="a", cost_budget_usd=5.0).session_id

    def changed() -> None:
        if len(model.requests) == 2:
            house.definitions.replace_agent(TENANT, first, second)

    model.meanwhile = changed
    house.run()
    assert (result_of(house, session).answer, result_of(house, session).reason) == (
        "Draft.",
        "final_model_failed",
    )


def test_prose_that_becomes_the_answer_has_to_fit_the_session_s_schema() -> None:
    model = ScriptedModel([says("Three, I think."), says("Three, I think."), says('{"total": 3}')])
    house = House(model)
    schema = '{"type":"object","properties":{"total":{"type":"integer"}},"required":["total"]}'
    session = house.start("How many?", output_schema=schema).session_id
    house.run()
    assert "begin with GOAL_COMPLETE" in model.requests[1].suffix
    assert "The final answer was not taken" in model.requests[2].suffix
    assert result_of(house, session).answer_data == {"total": 3}


def test_a_text_that_is_cut_off_before_there_is_a_plan_is_continued_and_is_one_answer() -> None:
    half = says("GOAL_COMPLETE\nHello, how ")._replace(stop="max_tokens")
    house, model, session = talk(half, says("are you?"))
    assert (result_of(house, session).answer, len(model.requests)) == ("Hello, how are you?", 2)

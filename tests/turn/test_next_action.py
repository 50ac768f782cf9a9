"""Going on or stopping, rule by rule and by its properties (docs/design/turn.md 16)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.agents.agent import Planning
from acta.engine.plans.plan import ExecutionPlan, PlanStatus, PlanStep, StepStatus
from acta.engine.turn.final_answer import claims_completion
from acta.engine.turn.next_action import (
    MAX_TEXT_REPLIES,
    NO_ANSWER,
    Act,
    AskPerson,
    Complete,
    Facts,
    Fail,
    NextAction,
    Reaction,
    Stuck,
    ThinkAgain,
    ends_with_question,
    next_action,
)

NOW = datetime(2026, 5, 1, tzinfo=UTC)


def plan_with(*statuses: StepStatus, status: PlanStatus = "executing") -> ExecutionPlan:
    steps = tuple(PlanStep(step_number=i, description="d", status=s) for i, s in enumerate(statuses, 1))
    return ExecutionPlan(version=1, goal="g", steps=steps, status=status, created_at=NOW, updated_at=NOW)


OPEN, DONE = plan_with("completed", "pending"), plan_with("completed", "skipped")
FAILED, CLOSED = plan_with("failed", status="failed"), plan_with("completed", status="completed")
PARTLY = plan_with("completed", "failed", status="completed")
WAITING = plan_with("in_progress", status="waiting_for_user")
OF_ACTA = plan_with("in_progress").model_copy(update={"made_by_acta": True})
WITHOUT_PLAN = Complete(True, "answered_without_plan")
IDLE = (
    "The agent has answered 3 times without doing anything: it only says what it would do. Tell it how to go on, or "
    "cancel the run."
)
IDLE_IN_PLAN = (
    "The agent has answered 3 times without working on its plan. Still open: step 2, d. Tell it how to go on, or "
    "cancel the run."
)
REMINDER = (
    "Nothing was called, so nothing was done. If your reply answers the user and needs no work, send it again and "
    "begin with GOAL_COMPLETE. Make the plan and its first calls together if there is something to do. Ask the user "
    "with update_plan action wait_for_user."
)
CUT_OFF = (
    "The agent's last 3 replies were cut off at `max_output_tokens`. Raise it in the agent, or give the agent a "
    "smaller task. Tell it how to go on, or cancel the run."
)
CALL_TOLD = "A call in your text is not run; call the tool."
REMINDED_AFTER_WORK = ThinkAgain("no_tool_call", REMINDER.replace(", so nothing was done", ""))
ANSWERED = Complete(True, "answered")
PLANNINGS: tuple[tuple[Planning, str], ...] = (
    ("always", REMINDER),
    ("when_needed", REMINDER.replace("Make the plan and its first calls together", "Make the calls")),
)


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (Facts(plan=CLOSED, text="", closing="r"), Complete(True, "plan_completed")),
        (Facts(plan=DONE, text="GOAL_COMPLETE\nyes", text_replies=1), Complete(True, "goal_complete")),
        (Facts(text="GOAL_COMPLETE yes", text_replies=1), Complete(True, "goal_complete")),
        (Facts(plan=PARTLY, text="", closing="r"), Complete(False, "plan_completed")),
        (Facts(plan=FAILED, text="", closing="no way"), Fail("PLAN_FAILED", "no way")),
        (Facts(plan=OPEN, calls=1, iteration=50), Complete(False, "max_steps")),
        (Facts(plan=OPEN, calls=1, over_budget=True), AskPerson("budget_exceeded", "budget_exceeded")),
        (Facts(plan=OPEN, calls=2, text="GOAL_COMPLETE"), Act()),
        (
            Facts(plan=OPEN, text="", question="which?"),
            AskPerson("clarification_needed", "wait_for_user", "which?"),
        ),
        (Facts(plan=DONE, text="On?", text_replies=1), AskPerson("clarification_needed", "question", "On?")),
        (Facts(plan=DONE, text="hm", text_replies=3), AskPerson("clarification_needed", "no_progress", IDLE)),
        (
            Facts(plan=OPEN, text="hm", text_replies=3),
            AskPerson("clarification_needed", "no_progress", IDLE_IN_PLAN),
        ),
        (Facts(plan=OPEN, text="", text_replies=0), ThinkAgain("open_steps")),
        (Facts(text="Which?", text_replies=1, undelivered=1), ThinkAgain("new_message")),
        (Facts(plan=DONE, text="Shall I?", text_replies=0), ThinkAgain("no_tool_call")),
        (Facts(plan=DONE, text="{}", answer="fits"), Complete(True, "goal_complete")),
        (Facts(plan=OPEN, text="{}", answer="fits"), ThinkAgain("open_steps")),
        (Facts(plan=DONE, text="GOAL_COMPLETE", answer="wrong", answers_left=1), ThinkAgain("answer_invalid")),
        (Facts(plan=DONE, text="GOAL_COMPLETE", answer="wrong"), Fail("ANSWER_INVALID", NO_ANSWER)),
        (Facts(plan=DONE, text="", answer="wrong", iteration=50), Complete(False, "max_steps")),
        (
            Facts(plan=DONE, text="", answer="wrong", over_budget=True),
            AskPerson("budget_exceeded", "budget_exceeded"),
        ),
    ],
)  # fmt: skip
def test_the_first_rule_that_fits_wins(facts: Facts, expected: NextAction) -> None:
    assert next_action(facts) == expected


def test_a_claim_of_completion_with_open_steps_is_answered_with_what_is_open() -> None:
    answer = next_action(Facts(plan=OPEN, text="GOAL_COMPLETE\nall done", text_replies=1))
    assert isinstance(answer, ThinkAgain)
    assert "step 2 is open" in answer.hint


def test_no_run_completes_over_an_undelivered_message() -> None:
    closed = plan_with("completed", status="completed")
    assert isinstance(
        next_action(Facts(plan=closed, text="GOAL_COMPLETE", undelivered=1, closing="r")), ThinkAgain
    )


def test_text_without_a_call_mid_plan_goes_on_until_the_third() -> None:
    answers = [
        next_action(Facts(plan=OPEN, text="I will.", text_replies=n)) for n in range(1, MAX_TEXT_REPLIES + 1)
    ]
    assert [type(answer) for answer in answers] == [ThinkAgain, ThinkAgain, AskPerson]


def test_a_marker_further_down_claims_nothing() -> None:
    assert claims_completion("\n GOAL_COMPLETE: yes")
    assert not claims_completion("The file says:\nGOAL_COMPLETE")


@pytest.mark.parametrize(
    ("text", "question"),
    [("Which one?", True), ('He said "why?"', True), ("どれですか？", True), ("Why? Because.", False)],
)
def test_only_the_last_words_ask(text: str, question: bool) -> None:
    assert ends_with_question(text) is question


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        # A message that needs no work is answered in one call: by the marker, or where plans are optional by the text.
        (Facts(text="GOAL_COMPLETE\nHello!", text_replies=1), Complete(True, "goal_complete")),
        (Facts(text="Hello! How can I help?", text_replies=1, planning="when_needed"), Complete(True, "answered")),
        # Who is to plan always is reminded once. Then the text is the answer, also one that ends with a question.
        (Facts(text="Hello! How can I help?", text_replies=1), ThinkAgain("no_tool_call", REMINDER)),
        (Facts(text="Hello! How can I help?", text_replies=2), Complete(True, "answered_without_plan")),
        # What is only announced, and an empty reply, goes on; after the third a person is asked.
        *(
            (Facts(text=text, text_replies=1, planning=planning), ThinkAgain("no_tool_call", hint))
            for text in ("", "Let me look into the folders…")
            for planning, hint in PLANNINGS
        ),
        (Facts(text="I'll read it.", text_replies=3), AskPerson("clarification_needed", "no_progress", IDLE)),
        # A call in the text is no answer, nor is the marker with nothing but such a call.
        *(
            (Facts(text=text, text_replies=2, planning=planning, before_call=""), ThinkAgain(reason, CALL_TOLD))
            for text, reason in (("<tool_call>", "no_tool_call"), ("GOAL_COMPLETE\n<tool_call>", "no_tool_call"))
            for planning, _ in PLANNINGS
        ),
        (Facts(text="x", text_replies=2, has_worked=True, before_call="x"), ThinkAgain("no_tool_call", CALL_TOLD)),
        (Facts(text="x", text_replies=1, final="answered", before_call=""), ThinkAgain("no_tool_call", CALL_TOLD)),
        (Facts(plan=OPEN, text="x", text_replies=1, before_call=""), ThinkAgain("open_steps", CALL_TOLD)),
        (Facts(text="GOAL_COMPLETE It is so:", text_replies=1, before_call="It"), Complete(True, "goal_complete")),
        (Facts(text="{}", text_replies=1, before_call="", answer="fits"), Complete(True, "goal_complete")),
        # The plan that an earlier run left, and one that Acta made, hold back no answer.
        (Facts(plan=OPEN, is_left=True, text="You are welcome.", text_replies=2), WITHOUT_PLAN),
        (Facts(plan=OPEN, is_left=True, text="GOAL_COMPLETE Bye.", text_replies=1), Complete(True, "goal_complete")),
        (Facts(plan=OF_ACTA, is_left=True, text="Hello!", text_replies=1), ThinkAgain("no_tool_call", REMINDER)),
        (
            Facts(plan=OF_ACTA, text="Three files. Anything else?", text_replies=1, has_worked=True),
            WITHOUT_PLAN,
        ),
        (Facts(plan=OF_ACTA, text="Now I will read them.", text_replies=1), ThinkAgain("no_tool_call", REMINDER)),
        # Where every call failed, the answer says so, and the goal is not met.
        (
            Facts(plan=OF_ACTA, text="There is no such file.", text_replies=1),
            Complete(False, "answered_without_plan"),
        ),
        # After work, an announcement that comes again is the answer.
        (Facts(plan=OF_ACTA, text="I will remember it.", text_replies=1, has_worked=True), REMINDED_AFTER_WORK),
        (Facts(plan=OF_ACTA, text="I will remember it.", text_replies=2, has_worked=True), WITHOUT_PLAN),
        (Facts(text="I will remember it.", text_replies=2, has_worked=True, planning="when_needed"), ANSWERED),
        # An old plan with a failed step does not make a later answer fail.
        (Facts(plan=PARTLY, text="GOAL_COMPLETE Hello.", text_replies=1), Complete(True, "goal_complete")),
        # Calls that did not run for want of a plan are not claimed to be done.
        (
            Facts(text="GOAL_COMPLETE Done.", calls_refused=True, failed_plans=1),
            ThinkAgain("completion_refused", REMINDER),
        ),
        (Facts(text="", failed_plans=4), ThinkAgain("no_tool_call")),
        (Facts(plan=DONE, text="Here.", text_replies=1, final="plan_completed"), Complete(True, "plan_completed")),
        (Facts(plan=PARTLY, text="Here.", text_replies=1, final="plan_completed"), Complete(False, "plan_completed")),
        (Facts(plan=DONE, text="Here it is.", text_replies=1, undelivered=1, final="x"), ThinkAgain("new_message")),
    ],
)  # fmt: skip
def test_a_text_without_a_plan_answers_or_goes_on(facts: Facts, expected: NextAction) -> None:
    assert next_action(facts) == expected


def test_a_person_who_is_asked_about_plans_reads_what_was_wrong_and_what_to_do() -> None:
    action = next_action(Facts(text="", failed_plans=5, refusal="A plan needs a goal."))
    assert isinstance(action, AskPerson)
    assert (action.type, action.reason) == ("clarification_needed", "no_plan")
    assert "5 times" in action.question
    assert "cancel the run" in action.question
    assert action.question.endswith("A plan needs a goal.")


def test_a_person_who_is_asked_reads_why_the_agent_s_texts_do_nothing() -> None:
    for plan in (None, OPEN):
        cut = next_action(Facts(plan=plan, text="", text_replies=3, cut_offs=3))
        assert cut == AskPerson("clarification_needed", "no_progress", CUT_OFF)
    calls = next_action(Facts(text="<tool_call>", text_replies=3, before_call=""))
    assert isinstance(calls, AskPerson)
    assert "writes its calls into its text" in calls.question
    once = next_action(Facts(text="", text_replies=3, cut_offs=1))
    assert once == AskPerson("clarification_needed", "no_progress", IDLE)


REACTIONS: tuple[Reaction, ...] = ("hint", "ask", "fail")
FACTS = st.builds(
    Facts,
    plan=st.sampled_from([None, OPEN, DONE, FAILED, CLOSED, PARTLY, WAITING]),
    text=st.sampled_from([None, "", "well", "what?", "GOAL_COMPLETE\nx"]),
    calls=st.integers(0, 3),
    undelivered=st.integers(0, 2),
    iteration=st.integers(0, 6),
    max_steps=st.just(5),
    over_budget=st.booleans(),
    text_replies=st.integers(0, 5),
    question=st.sampled_from([None, "q"]),
    closing=st.sampled_from([None, "c"]),
    stuck=st.sampled_from([None, *(Stuck("no_progress", reaction) for reaction in REACTIONS)]),
    answers_left=st.integers(0, 3),
)  # fmt: skip


@given(FACTS)
def test_a_model_that_only_talks_is_put_before_a_person_after_a_few_replies(facts: Facts) -> None:
    facts = facts._replace(calls=0, text="well", max_steps=1_000)
    for _ in range(MAX_TEXT_REPLIES + 1):
        if not isinstance(next_action(facts), ThinkAgain):
            return
        # The next reply: it has read every message, and again calls nothing. A wrong answer used up one of its tries.
        facts = facts._replace(
            text_replies=facts.text_replies + 1, undelivered=0, question=None, closing=None,
            answers_left=max(0, facts.answers_left - (facts.answer == "wrong")),
        )  # fmt: skip
    raise AssertionError("the run goes on and on")


@given(FACTS)
def test_nothing_thinks_or_acts_past_its_limits(facts: Facts) -> None:
    answer = next_action(facts)
    if facts.iteration >= facts.max_steps or facts.over_budget:
        assert not isinstance(answer, ThinkAgain | Act)


@given(FACTS)
def test_the_goal_is_never_met_with_open_steps_calls_or_unread_messages(facts: Facts) -> None:
    answer = next_action(facts)
    if isinstance(answer, Complete) and answer.goal_met:
        assert not facts.calls
        assert not facts.undelivered
        assert facts.plan is None or not facts.plan.is_live or not facts.plan.open_steps

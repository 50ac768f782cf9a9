"""Decides after a model's reply whether the run goes on, and how (docs/design/turn.md 16). Pure functions.

The ladder of a run that goes in circles (hint, question, end) is in `loop_detection.py`; here its rung is only obeyed.
Whether `update_plan` may complete a plan is decided in `shared/acta_engine/plans/update.py`.
"""

import re
from typing import Literal, NamedTuple

from acta_engine.errors import AnswerInvalid
from acta_engine.plans.plan import ExecutionPlan
from acta_engine.turn.final_answer import GOAL_COMPLETE, claims_completion
from acta_engine.turn.loop_detection import Stuck

MAX_TEXT_REPLIES = 3
"""After this many replies in a row without a tool call, a person is asked."""
NO_ANSWER = AnswerInvalid("No final answer fits the session's output schema.").explained


class Facts(NamedTuple):
    """What the rules look at. All of it comes from the head and the last reply.

    `text`: the reply's text; None: there is no reply yet. `calls`: how many calls still have to run. `undelivered`: how
    many users' messages the model has not seen. `iteration`: Think turns so far. `max_steps`: `Run.max_steps`.
    `text_replies`: replies in a row without a call, this one included. `question`: the reason of this reply's
    `wait_for_user`. `closing`: the reason with which this reply completes or fails the plan. `stuck`: what loop
    detection says after this turn.
    `answer`: whether the reply gives a final answer that fits the session's schema, or one that does not; empty: it
    gives none, or the session has no schema. `answers_left`: how many may follow one that does not fit.
    """

    plan: ExecutionPlan | None = None
    text: str | None = None
    calls: int = 0
    undelivered: int = 0
    iteration: int = 0
    max_steps: int = 50
    over_budget: bool = False
    text_replies: int = 0
    question: str | None = None
    closing: str | None = None
    stuck: Stuck | None = None
    answer: Literal["", "fits", "wrong"] = ""
    answers_left: int = 0


class Complete(NamedTuple):
    """The run completes."""

    goal_met: bool
    reason: str


class Fail(NamedTuple):
    """The run fails."""

    code: str
    reason: str


class Act(NamedTuple):
    """The calls of the reply run."""

    reason: str = "tool_calls"


class AskPerson(NamedTuple):
    """A person is asked. `question`: empty where the type of the intervention says enough."""

    type: Literal["clarification_needed", "budget_exceeded", "error_recovery"]
    reason: str
    question: str = ""


class ThinkAgain(NamedTuple):
    """The model is asked again. `hint`: a text for it at the end of the next request; empty: none."""

    reason: str
    hint: str = ""


NextAction = Complete | Fail | Act | AskPerson | ThinkAgain


def next_action(facts: Facts) -> NextAction:
    """Applies the rules in their order. The first one that fits wins."""
    plan = facts.plan
    if plan is not None and plan.status == "failed" and facts.closing is not None and not facts.calls:
        return Fail("PLAN_FAILED", facts.closing)
    done = _goal_complete(facts)
    if done is not None:
        return done
    if facts.iteration >= facts.max_steps:
        return Complete(goal_met=False, reason="max_steps")
    if facts.over_budget:
        return AskPerson("budget_exceeded", "budget_exceeded")
    if facts.answer == "wrong" and not facts.answers_left and not facts.undelivered:
        return Fail(AnswerInvalid.code, NO_ANSWER)
    if facts.stuck is not None and facts.stuck.reaction == "fail" and not facts.undelivered:
        return Fail("STUCK", facts.stuck.description)
    if facts.stuck is not None and facts.stuck.reaction == "ask":
        return AskPerson("error_recovery", facts.stuck.kind, facts.stuck.question)
    if facts.calls:
        return Act()
    if facts.question is not None:
        return AskPerson("clarification_needed", "wait_for_user", facts.question)
    if facts.text is None:
        return ThinkAgain("begin")
    if facts.answer == "wrong" and not facts.undelivered:
        return ThinkAgain("answer_invalid")
    if claims_completion(facts.text):
        return ThinkAgain("completion_refused", _still_open(facts))
    if facts.undelivered:
        return ThinkAgain("new_message")
    if plan is not None and plan.is_live and plan.open_steps and facts.text_replies < MAX_TEXT_REPLIES:
        return ThinkAgain("open_steps", _still_open(facts) if facts.text_replies else "")
    if facts.text_replies and ends_with_question(facts.text):
        return AskPerson("clarification_needed", "question", facts.text)
    if facts.text_replies < MAX_TEXT_REPLIES:
        return ThinkAgain("no_tool_call", _still_open(facts) if facts.text_replies else "")
    return AskPerson("clarification_needed", "no_progress", facts.text)


def ends_with_question(text: str) -> bool:
    return re.search(r"\?[\s\"'»”)*_]*\Z", text) is not None


def _goal_complete(facts: Facts) -> Complete | None:
    """None: the goal is not complete, or calls or messages are still to be dealt with."""
    if facts.calls or facts.undelivered:
        return None
    plan = facts.plan
    if plan is not None and plan.status == "completed" and facts.closing is not None:
        return Complete(goal_met=_nothing_failed(plan), reason="plan_completed")
    open_steps = plan is not None and plan.is_live and plan.open_steps
    # What fits the schema is the answer, whether or not the model has said so with the marker.
    is_answer = facts.answer == "fits" or (facts.text is not None and claims_completion(facts.text))
    if facts.answer != "wrong" and not open_steps and is_answer:
        return Complete(goal_met=_nothing_failed(plan), reason="goal_complete")
    return None


def _nothing_failed(plan: ExecutionPlan | None) -> bool:
    """Whether the goal is met as far as the plan shows: a step that is still failed means that it is not, whatever the
    answer says. Where the model did the step in another way, it has reopened or skipped it.
    """
    return plan is None or all(step.status != "failed" for step in plan.steps)


def _still_open(facts: Facts) -> str:
    """A hint that says why the goal is not complete."""
    if facts.undelivered:
        return "The user has written again; answer that before you finish."
    if facts.plan is not None and facts.plan.is_live and facts.plan.open_steps:
        numbers = ", ".join(str(step.step_number) for step in facts.plan.open_steps)
        return (
            f"The goal is not complete: plan steps {numbers} are open. Work on the next one with a tool, or mark it "
            "with update_plan (completed, failed or skipped)."
        )
    return (
        f"Nothing was called. If the goal is reached, begin your reply with {GOAL_COMPLETE} and give the answer; "
        "otherwise go on with a tool, or ask with update_plan action wait_for_user."
    )

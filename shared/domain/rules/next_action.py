"""Going on or stopping: one pure function over a closed union (design §5). The first rule that fits wins."""

import re
from typing import Literal, NamedTuple

from shared.domain.plan.plan import ExecutionPlan
from shared.domain.rules.loop_detection import Stuck

MAX_TEXT_REPLIES = 3
"""Replies in a row without a tool call, after which a person is asked."""

GOAL_COMPLETE = "GOAL_COMPLETE"


class Facts(NamedTuple):
    """What the rules look at, all of it from the head and the last reply (`text` None: there is none yet).

    `calls`: calls that still have to run. `text_replies`: replies in a row without any call, this one included.
    `question`: the reason of a `wait_for_user`; `closing`: the reason of a plan's end in this reply. `stuck`: what
    the counters show after this turn.
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


class Complete(NamedTuple):
    goal_met: bool
    reason: str


class Fail(NamedTuple):
    code: str
    reason: str


class Act(NamedTuple):
    reason: str = "tool_calls"


class AskPerson(NamedTuple):
    type: Literal["clarification_needed", "budget_exceeded", "error_recovery"]
    reason: str
    question: str = ""


class ThinkAgain(NamedTuple):
    """`nudge` is told to the model in the next turn's tail."""

    reason: str
    nudge: str = ""


NextAction = Complete | Fail | Act | AskPerson | ThinkAgain


def next_action(facts: Facts) -> NextAction:
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
    if facts.stuck is not None and facts.stuck.rung == "fail":
        return Fail("STUCK", facts.stuck.seen)
    if facts.stuck is not None and facts.stuck.rung == "ask":
        return AskPerson("error_recovery", facts.stuck.kind, facts.stuck.question)
    if facts.calls:
        return Act()
    if facts.question is not None:
        return AskPerson("clarification_needed", "wait_for_user", facts.question)
    if facts.text is None:
        return ThinkAgain("begin")
    if claims_completion(facts.text):
        return ThinkAgain("completion_refused", _still_open(facts))
    if facts.undelivered:
        return ThinkAgain("new_message")
    if plan is not None and plan.is_live and plan.open_steps and facts.text_replies < MAX_TEXT_REPLIES:
        return ThinkAgain("open_steps", _still_open(facts) if facts.text_replies else "")
    if facts.text_replies and asks(facts.text):
        return AskPerson("clarification_needed", "question", facts.text)
    if facts.text_replies < MAX_TEXT_REPLIES:
        return ThinkAgain("no_tool_call", _still_open(facts) if facts.text_replies else "")
    return AskPerson("clarification_needed", "no_progress", facts.text)


def claims_completion(text: str) -> bool:
    """Only the first line counts: a marker quoted further down, from a file say, claims nothing."""
    return text.lstrip().split("\n", 1)[0].startswith(GOAL_COMPLETE)


def without_marker(text: str) -> str:
    """The answer itself."""
    text = text.strip()
    return text[len(GOAL_COMPLETE) :].lstrip(" :.-\n") if claims_completion(text) else text


def asks(text: str) -> bool:
    """Whether the reply's last words are a question."""
    return re.search(r"\?[\s\"'»”)*_]*\Z", text) is not None


def _goal_complete(facts: Facts) -> Complete | None:
    if facts.calls or facts.undelivered:
        return None
    plan = facts.plan
    if plan is not None and plan.status == "completed" and facts.closing is not None:
        return Complete(goal_met=_nothing_failed(plan), reason="plan_completed")
    open_steps = plan is not None and plan.is_live and plan.open_steps
    if facts.text is not None and claims_completion(facts.text) and not open_steps:
        return Complete(goal_met=_nothing_failed(plan), reason="goal_complete")
    return None


def _nothing_failed(plan: ExecutionPlan | None) -> bool:
    """A step that stayed failed means that what was wanted was not had, whatever the answer says; one that was done
    another way has been taken up again, or is skipped."""
    return plan is None or all(step.status != "failed" for step in plan.steps)


def _still_open(facts: Facts) -> str:
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

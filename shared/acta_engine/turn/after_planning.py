"""What follows a planning turn: Think with the plan, planning again, or a question to a person (design §2, §4)."""

from acta_engine.log.change import Change
from acta_engine.log.commit import Decision
from acta_engine.log.events import PlanRejected
from acta_engine.log.head import Ending, Failure
from acta_engine.log.repository import CommitDraft
from acta_engine.models.model import ModelReply
from acta_engine.people.excerpt import ends
from acta_engine.people.opening import MAX_SAID_CHARS, AskedBy, open_question, wait_for_people
from acta_engine.tools.builtin.specs import UPDATE_PLAN
from acta_engine.turn.apply_reply import AppliedReply
from acta_engine.turn.cut_off_replies import advice
from acta_engine.turn.engine_decision import position, wait_decision
from acta_engine.turn.outcomes import end_run
from acta_engine.turn.prompt import PLAN_RETRIES, hint
from acta_engine.turn.turn_context import TurnContext

STUCK_QUESTION = "No usable plan came about. What exactly should be done, and in which order?"

NO_PLAN = "The reply made no plan."


def after_planning(
    context: TurnContext, change: Change, applied: AppliedReply, reply: ModelReply
) -> CommitDraft:
    """Goes on to Think with a plan, else plans again with fuller feedback, else asks a person (design §4)."""
    head = change.head
    if head.plan is not None and head.plan.status == "failed" and applied.closing is not None:
        failure = Failure(code="PLAN_FAILED", message=applied.closing[:1_000])
        return end_run(context.deps, change, Ending(error=failure))
    progress = head.progress
    if applied.question is not None:
        change.set(progress=progress.model_copy(update={"planning_attempts": 0}))
        return _ask(context, change, applied, applied.question, "agent")
    if head.plan is not None and head.plan.is_live:
        change.set(progress=progress.model_copy(update={"planning_attempts": 0}))
        if change.head.interventions:  # paused meanwhile
            return CommitDraft(change, wait_decision(change.head, context.timeouts))
        change.to_state("executing")
        return CommitDraft(change, Decision(next="think", at=position(change.head)))
    if all(call.name != UPDATE_PLAN for call in reply.calls):  # a refused update has its own event
        change.event(PlanRejected(action="none", code="NO_PLAN", message=NO_PLAN))
    attempts = progress.planning_attempts + 1
    if attempts > PLAN_RETRIES + 1:
        change.set(progress=progress.model_copy(update={"planning_attempts": 0}))
        refused = change.newest(PlanRejected)
        cause = refused.message if refused is not None else ""
        return _ask(context, change, applied, STUCK_QUESTION, "acta", cause=cause)
    change.set(progress=progress.model_copy(update={"planning_attempts": attempts}))
    hint(change, advice(reply, progress.cut_offs, planning=True))
    if change.head.interventions:
        return CommitDraft(change, wait_decision(change.head, context.timeouts))
    return CommitDraft(change, Decision(next="plan", at=position(change.head)))


def _ask(
    context: TurnContext,
    change: Change,
    applied: AppliedReply,
    question: str,
    by: AskedBy,
    *,
    cause: str = "",
) -> CommitDraft:
    """`cause`: why there is no plan."""
    more = {"cause": ends(cause, MAX_SAID_CHARS)} if cause else {}
    open_question(
        change,
        "clarification_needed",
        question,
        context.rules,
        asked_by=by,
        said=applied.text,
        message_id=applied.message_id,
        **more,
    )
    wait_for_people(change)
    return CommitDraft(change, wait_decision(change.head, context.timeouts))

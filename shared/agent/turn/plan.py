"""The Plan state: the model makes a plan and nothing else; no tool can run (design §2, §4)."""

from shared.agent.interventions.opening import AskedBy, open_question, wait_for_people
from shared.agent.model_call.turn_context import TurnContext
from shared.agent.session.endings import failed
from shared.agent.session.engine_decision import position, wait_decision
from shared.agent.session.repository import CommitDraft
from shared.agent.turn.apply_reply import AppliedReply, advice
from shared.agent.turn.loop_hints import hint
from shared.agent.turn.prompt_suffix import PLAN_RETRIES, planning_suffix
from shared.domain.definitions.builtins import UPDATE_PLAN
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision
from shared.domain.session.conversation import Entry
from shared.domain.session.head import Head
from shared.ports.model import ModelReply, ModelRequest, ToolDefinition

STUCK_QUESTION = "No usable plan came about. What exactly should be done, and in which order?"

NO_PLAN = "The reply made no plan."


def request(context: TurnContext, head: Head, entries: tuple[Entry, ...]) -> ModelRequest:
    """Offers `update_plan` and nothing else, and makes the model call it."""
    spec = context.specs[UPDATE_PLAN]
    return ModelRequest(
        model=context.model_name,
        system=context.system,
        tools=(ToolDefinition(spec.name, spec.description, spec.input_schema),),
        entries=entries,
        suffix=planning_suffix(head, context.specs, context.notes),
        max_tokens=context.max_output_tokens,
        tool_choice=UPDATE_PLAN,
    )


def settle(context: TurnContext, change: Change, applied: AppliedReply, reply: ModelReply) -> CommitDraft:
    """Goes on to Think with a plan, else plans again with fuller feedback, else asks a person (design §4)."""
    head = change.head
    if head.plan is not None and head.plan.status == "failed" and applied.closing is not None:
        return failed(change, "PLAN_FAILED", applied.closing[:1_000])
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
        change.event("plan.rejected", {"action": "none", "code": "NO_PLAN", "message": NO_PLAN})
    attempts = progress.planning_attempts + 1
    if attempts > PLAN_RETRIES + 1:
        change.set(progress=progress.model_copy(update={"planning_attempts": 0}))
        return _ask(context, change, applied, STUCK_QUESTION, "acta")
    change.set(progress=progress.model_copy(update={"planning_attempts": attempts}))
    hint(change, advice(reply, progress.cut_offs, planning=True))
    if change.head.interventions:
        return CommitDraft(change, wait_decision(change.head, context.timeouts))
    return CommitDraft(change, Decision(next="plan", at=position(change.head)))


def _ask(
    context: TurnContext, change: Change, applied: AppliedReply, question: str, by: AskedBy
) -> CommitDraft:
    open_question(
        change,
        "clarification_needed",
        question,
        context.rules,
        asked_by=by,
        said=applied.text,
        message_id=applied.message_id,
    )
    wait_for_people(change)
    return CommitDraft(change, wait_decision(change.head, context.timeouts))

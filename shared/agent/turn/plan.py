"""The Plan state: the model makes a plan and nothing else; no tool can run (design §2, §4)."""

from shared.agent.interventions.opening import AskedBy, open_question, wait_for_people
from shared.agent.model_call.context import Mind, Worker
from shared.agent.session.endings import failed
from shared.agent.session.position import next_decision, position, wait_decision
from shared.agent.session.repository import CommitDraft
from shared.agent.turn.loop_detection import PreviousCall, hint
from shared.agent.turn.prompt_suffix import PLAN_RETRIES, planning_suffix
from shared.agent.turn.reply import AppliedReply, advice
from shared.agent.turn.turn import Stage, decided, take_turn
from shared.domain.definitions.builtins import UPDATE_PLAN
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision, Position
from shared.domain.session.conversation import Entry
from shared.domain.session.head import Head
from shared.ports.model import ModelReply, ModelRequest, ToolDefinition

STUCK_QUESTION = "No usable plan came about. What exactly should be done, and in which order?"

NO_PLAN = "The reply made no plan."


def plan(worker: Worker, at: Position, attempt: int, timeout: float) -> Decision:
    """Skipped when an open plan goes on and nobody has said anything new."""
    session = worker.repository.conversation(at)
    known = decided(session, at, "plan", worker)
    if known is not None:
        return known
    head = session.head
    if head.plan is not None and head.plan.is_live and not head.undelivered:
        return next_decision(head)
    return take_turn(worker, _STAGE, "plan", session, at, attempt, timeout)


def _request(mind: Mind, head: Head, entries: tuple[Entry, ...]) -> ModelRequest:
    spec = mind.specs[UPDATE_PLAN]
    return ModelRequest(
        model=mind.model_name,
        system=mind.system,
        tools=(ToolDefinition(spec.name, spec.description, spec.input_schema),),
        entries=entries,
        tail=planning_suffix(head, mind.specs, mind.notes),
        max_tokens=mind.max_output_tokens,
        tool_choice=UPDATE_PLAN,
    )


def _settle(
    mind: Mind, change: Change, absorbed: AppliedReply, reply: ModelReply, outcomes: tuple[PreviousCall, ...]
) -> CommitDraft:
    head = change.head
    if head.plan is not None and head.plan.status == "failed" and absorbed.closing is not None:
        return failed(change, "PLAN_FAILED", absorbed.closing[:1_000])
    progress = head.progress
    if absorbed.question is not None:
        change.set(progress=progress.model_copy(update={"planning_attempts": 0}))
        return _ask(mind, change, absorbed, absorbed.question, "agent")
    if head.plan is not None and head.plan.is_live:
        change.set(progress=progress.model_copy(update={"planning_attempts": 0}))
        if change.head.interventions:  # paused meanwhile
            return CommitDraft(change, wait_decision(change.head, mind.timeouts))
        change.to_state("executing")
        return CommitDraft(change, Decision(next="think", at=position(change.head)))
    if all(call.name != UPDATE_PLAN for call in reply.calls):  # a refused update has told of itself
        change.event("plan.rejected", {"action": "none", "code": "NO_PLAN", "message": NO_PLAN})
    attempts = progress.planning_attempts + 1
    if attempts > PLAN_RETRIES + 1:
        change.set(progress=progress.model_copy(update={"planning_attempts": 0}))
        return _ask(mind, change, absorbed, STUCK_QUESTION, "acta")
    change.set(progress=progress.model_copy(update={"planning_attempts": attempts}))
    hint(change, advice(reply, progress.cut_offs, planning=True))
    if change.head.interventions:
        return CommitDraft(change, wait_decision(change.head, mind.timeouts))
    return CommitDraft(change, Decision(next="plan", at=position(change.head)))


def _ask(mind: Mind, change: Change, absorbed: AppliedReply, question: str, by: AskedBy) -> CommitDraft:
    open_question(
        change,
        "clarification_needed",
        question,
        mind.clock,
        mind.agent.interventions,
        asked_by=by,
        said=absorbed.text,
        message_id=absorbed.message_id,
    )
    wait_for_people(change)
    return CommitDraft(change, wait_decision(change.head, mind.timeouts))


_STAGE = Stage(kind="plan", step_kind="plan", request=_request, settle=_settle)

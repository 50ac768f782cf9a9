"""The Think state: one model call, and what follows from it by the rules of design §5."""

from typing import assert_never

from shared.agent.budget.session_budget import open_budget_question
from shared.agent.interventions.opening import AskedBy, open_question
from shared.agent.model_call.context import Mind, Worker
from shared.agent.session.endings import completed, failed
from shared.agent.session.position import position
from shared.agent.session.repository import CommitDraft
from shared.agent.turn.loop_detection import PreviousCall, detect_loop, hint
from shared.agent.turn.next_state import act, drop, hold, open_questions, review
from shared.agent.turn.prompt_suffix import turn_suffix
from shared.agent.turn.reply import AppliedReply, advice, is_gone_on_with
from shared.agent.turn.turn import Stage, decided, take_turn
from shared.domain.rules.budget import tokens_left
from shared.domain.rules.next_action import (
    Act,
    AskPerson,
    Complete,
    Facts,
    Fail,
    Stop,
    ThinkAgain,
    decide,
    without_marker,
)
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision, Position
from shared.domain.session.conversation import Entry
from shared.domain.session.head import Head
from shared.ports.model import ModelReply, ModelRequest, ToolDefinition


def think(worker: Worker, at: Position, attempt: int, timeout: float) -> Decision:
    session = worker.repository.conversation(at)
    known = decided(session, at, "think", worker)
    if known is not None:
        return known
    plan = session.head.plan
    is_last = plan is not None and plan.is_live and not plan.open_steps
    return take_turn(worker, _STAGE, "final" if is_last else "think", session, at, attempt, timeout)


def _request(mind: Mind, head: Head, entries: tuple[Entry, ...]) -> ModelRequest:
    return ModelRequest(
        model=mind.model_name,
        system=mind.system,
        tools=tuple(
            ToolDefinition(spec.name, spec.description, spec.input_schema) for spec in mind.specs.values()
        ),
        entries=entries,
        tail=turn_suffix(head, mind.notes),
        max_tokens=mind.max_output_tokens,
    )


def _settle(
    mind: Mind, change: Change, absorbed: AppliedReply, reply: ModelReply, outcomes: tuple[PreviousCall, ...]
) -> CommitDraft:
    stuck = detect_loop(mind, change, absorbed, reply, outcomes)
    paused = reply.stop == "pause"  # what came is kept and is no answer yet
    cut_offs = change.head.progress.cut_offs
    is_half = paused or cut_offs == 1  # it and what goes on with it are one reply
    text_replies = 0 if absorbed.called else change.head.progress.text_replies + (not is_half)
    change.set(progress=change.head.progress.model_copy(update={"text_replies": text_replies}))
    _grant_steps(change)
    head = change.head
    assert head.run is not None
    facts = Facts(
        plan=head.plan,
        text="" if cut_offs or paused else absorbed.text,
        calls=len(absorbed.calls),
        undelivered=len(head.undelivered),
        iteration=head.run.iteration,
        max_steps=head.run.max_steps,
        over_budget=tokens_left(head) == 0,
        text_replies=text_replies,
        question=absorbed.question,
        closing=absorbed.closing,
        stuck=stuck,
    )
    told = advice(reply, cut_offs, planning=False)
    if stuck is not None and stuck.rung == "hint":
        hint(change, stuck.hint)
    match decide(facts):
        case Stop():
            return CommitDraft(change, Decision(next="done", at=position(change.head)))
        case Complete(goal_met, reason):
            if reason == "goal_complete":
                _close_plan(change)
            answer, message = _answer(absorbed), absorbed.message_id
            return completed(change, goal_met=goal_met, reason=reason, answer=answer, message_id=message)
        case Fail(code, reason):
            return failed(change, code, reason[:1_000])
        case Act():
            hint(change, told)
            return act(mind, change, absorbed.calls, absorbed.text)
        case AskPerson("budget_exceeded"):
            open_budget_question(mind, change)
            # The calls of this reply are kept, and run once the budget is raised.
            open_questions(mind, change, absorbed.calls, absorbed.text)
            return hold(mind, change)
        case AskPerson(kind, reason, question):
            drop(change, absorbed.calls)
            by: AskedBy = "agent" if kind == "clarification_needed" else "acta"
            policies, said = mind.agent.interventions, absorbed.text
            open_question(
                change,
                kind,
                question,
                mind.clock,
                policies,
                asked_by=by,
                said=said,
                message_id=absorbed.message_id,
                reason=reason,
            )
            return hold(mind, change)
        case ThinkAgain(_, nudge):
            hint(change, told or ("" if paused else nudge))
            if is_gone_on_with(reply, cut_offs, planning=False):
                progress = change.head.progress.model_copy(update={"continues": absorbed.message_id})
                change.set(progress=progress)
            review(mind, change, absorbed.text)
            if change.head.interventions:
                return hold(mind, change)
            change.to_state("executing")
            return CommitDraft(change, Decision(next="think", at=position(change.head)))
        case other:
            assert_never(other)


def _grant_steps(change: Change) -> None:
    """A message that comes at the step limit gets as many steps as it would get as a new run's (ADR 4)."""
    head, run = change.head, change.head.run
    if run is not None and head.undelivered and run.iteration >= run.max_steps:
        change.set(run=run.model_copy(update={"max_steps": run.iteration + head.max_steps}))


def _close_plan(change: Change) -> None:
    """The marker alone completed a run whose steps are all finished: the plan is as complete as its run."""
    plan = change.head.plan
    if plan is not None and plan.is_live:
        change.set(plan=plan.model_copy(update={"status": "completed", "updated_at": change.now}))
        change.event("plan.closed", {"version": plan.version, "status": "completed"})


def _answer(absorbed: AppliedReply) -> str | None:
    """The text without its marker, else the reason the plan was completed with."""
    return without_marker(absorbed.text) or absorbed.closing or None


_STAGE = Stage(kind="think", step_kind="llm", request=_request, settle=_settle)

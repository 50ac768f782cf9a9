"""The Plan state: the model makes a plan and nothing else; no tool can run (design §2, §4)."""

from shared.agent.circling import Outcome
from shared.agent.endings import failed
from shared.agent.journal import Draft
from shared.agent.people import asking, open_question, resumed
from shared.agent.reply import Absorbed
from shared.agent.tail import PLAN_RETRIES, planning_tail
from shared.agent.thread import position
from shared.agent.turn import Stage, decided, take_turn
from shared.agent.worker import Worker
from shared.domain.builtins import UPDATE_PLAN
from shared.domain.change import Change
from shared.domain.commit import Decision, Position
from shared.domain.conversation import Entry
from shared.domain.session import Head
from shared.ports.model import ModelReply, ModelRequest, ToolDefinition

STUCK_QUESTION = "No usable plan came about. What exactly should be done, and in which order?"


def plan(worker: Worker, at: Position, attempt: int, timeout: float) -> Decision:
    """Skipped when an open plan goes on and nobody has said anything new."""
    thread = worker.journal.conversation(at)
    known = decided(thread, at, "plan", worker)
    if known is not None:
        return known
    head = thread.head
    if head.plan is not None and head.plan.is_live and not head.undelivered:
        return resumed(head)
    return take_turn(worker, _STAGE, thread, at, attempt, timeout)


def _request(worker: Worker, head: Head, entries: tuple[Entry, ...]) -> ModelRequest:
    spec = worker.specs(head)[UPDATE_PLAN]
    return ModelRequest(
        model=worker.model_name,
        system=worker.agent.system,
        tools=(ToolDefinition(spec.name, spec.description, spec.input_schema),),
        entries=entries,
        tail=planning_tail(head, worker.specs(head)),
        max_tokens=worker.agent.max_output_tokens,
        tool_choice=UPDATE_PLAN,
    )


def _settle(
    worker: Worker, change: Change, absorbed: Absorbed, reply: ModelReply, outcomes: tuple[Outcome, ...]
) -> Draft:
    head = change.head
    if head.plan is not None and head.plan.status == "failed" and absorbed.closing is not None:
        return failed(change, "PLAN_FAILED", absorbed.closing[:1_000])
    progress = head.progress
    if absorbed.question is not None:
        change.set(progress=progress.model_copy(update={"planning_attempts": 0}))
        return _ask(worker, change, absorbed.question)
    if head.plan is not None and head.plan.is_live:
        change.set(progress=progress.model_copy(update={"planning_attempts": 0}))
        if change.head.interventions:  # paused meanwhile
            return Draft(change, asking(change.head, worker.timeouts))
        change.to_state("executing")
        return Draft(change, Decision(next="think", at=position(change.head)))
    attempts = progress.planning_attempts + 1
    if attempts > PLAN_RETRIES + 1:
        change.set(progress=progress.model_copy(update={"planning_attempts": 0}))
        return _ask(worker, change, STUCK_QUESTION)
    change.set(progress=progress.model_copy(update={"planning_attempts": attempts}))
    if change.head.interventions:
        return Draft(change, asking(change.head, worker.timeouts))
    return Draft(change, Decision(next="plan", at=position(change.head)))


def _ask(worker: Worker, change: Change, question: str) -> Draft:
    open_question(change, "clarification_needed", question, worker.clock)
    change.to_state("waiting_for_user", "clarification_needed")
    return Draft(change, asking(change.head, worker.timeouts))


_STAGE = Stage(kind="plan", step_kind="plan", request=_request, settle=_settle)

"""The Think state: one model call, and what follows from it by the rules of design §5."""

from typing import assert_never

from shared.agent.endings import completed, failed
from shared.agent.journal import Draft
from shared.agent.people import asking, open_approval, open_question
from shared.agent.reply import Absorbed
from shared.agent.tail import turn_tail
from shared.agent.thread import position
from shared.agent.turn import Stage, decided, take_turn
from shared.agent.worker import Worker
from shared.domain.change import Change
from shared.domain.commit import Decision, Position
from shared.domain.continuation import (
    GOAL_COMPLETE,
    Act,
    AskPerson,
    Complete,
    Facts,
    Fail,
    Stop,
    ThinkAgain,
    claims_completion,
    decide,
)
from shared.domain.conversation import Entry, ToolCall
from shared.domain.session import Head
from shared.ports.model import ModelReply, ModelRequest, ToolDefinition

CUT_OFF = (
    "Your last reply was cut off at its length limit and nothing of it was run. Go on in smaller pieces."
)


def think(worker: Worker, at: Position, attempt: int, timeout: float) -> Decision:
    thread = worker.journal.conversation(at)
    known = decided(thread, at, "think", worker)
    if known is not None:
        return known
    if over_budget(thread.head):
        return _budget(worker, at)
    return take_turn(worker, _STAGE, thread, at, attempt, timeout)


def over_budget(head: Head) -> bool:
    budget, usage = head.budget, head.usage
    if usage.total_tokens >= budget.token_budget:
        return True
    return budget.cost_budget_usd is not None and (usage.cost_usd or 0) >= budget.cost_budget_usd


def _budget(worker: Worker, at: Position) -> Decision:
    """Asks before spending: at the limit the run waits for a person instead of calling the model."""
    thread = worker.journal.turn(at)
    key = at.key("budget")

    def build(_: object, change: Change) -> Draft:
        if not change.head.interventions and not change.head.is_over:
            _ask_budget(worker, change)
        return Draft(change, asking(change.head, worker.timeouts))

    worker.journal.commit(thread, key, build)
    return asking(thread.head, worker.timeouts)


def _request(worker: Worker, head: Head, entries: tuple[Entry, ...]) -> ModelRequest:
    return ModelRequest(
        model=worker.model_name,
        system=worker.agent.system,
        tools=tuple(
            ToolDefinition(spec.name, spec.description, spec.input_schema)
            for spec in worker.specs(head).values()
        ),
        entries=entries,
        tail=turn_tail(head),
        max_tokens=worker.agent.max_output_tokens,
    )


def _settle(worker: Worker, change: Change, absorbed: Absorbed, reply: ModelReply) -> Draft:
    head = change.head
    run = head.run
    assert run is not None
    text_replies = 0 if absorbed.called else head.progress.text_replies + 1
    change.set(progress=head.progress.model_copy(update={"text_replies": text_replies}))
    cut_off = reply.stop == "max_tokens"
    facts = Facts(
        plan=head.plan,
        text="" if cut_off else absorbed.text,
        calls=len(absorbed.calls),
        undelivered=len(head.undelivered),
        iteration=run.iteration,
        max_steps=run.max_steps,
        over_budget=over_budget(head),
        text_replies=text_replies,
        question=absorbed.question,
        closing=absorbed.closing,
    )
    match decide(facts):
        case Stop():
            return Draft(change, Decision(next="done", at=position(change.head)))
        case Complete(goal_met, reason):
            answer = _answer(absorbed)
            return completed(
                change, goal_met=goal_met, reason=reason, answer=answer, message_id=absorbed.message_id
            )
        case Fail(code, reason):
            return failed(change, code, reason[:1_000])
        case Act():
            return _act(worker, change, absorbed.calls)
        case AskPerson(kind, reason, question):
            if kind == "budget_exceeded":
                _ask_budget(worker, change)
            else:
                open_question(change, kind, question, worker.clock, reason=reason)
                change.to_state("waiting_for_user", kind)
            return Draft(change, asking(change.head, worker.timeouts))
        case ThinkAgain(_, nudge):
            hint = CUT_OFF if cut_off else nudge
            change.set(progress=change.head.progress.model_copy(update={"hint": hint}))
            if hint:
                change.event("hint.injected", {"text": hint})
            _review(worker, change)
            if change.head.interventions:
                return _hold(worker, change)
            change.to_state("executing")
            return Draft(change, Decision(next="think", at=position(change.head)))
        case other:
            assert_never(other)


def _act(worker: Worker, change: Change, calls: tuple[ToolCall, ...]) -> Draft:
    """All approvals of a batch are settled before any of its calls runs (design §2)."""
    specs = worker.specs(change.head)
    plan = change.head.plan
    guarded = {
        step.tool
        for step in (plan.steps if plan is not None else ())
        if step.requires_permission and step.status == "in_progress"
    }
    for call in calls:
        if specs[call.name].high_stakes or call.name in guarded:
            open_approval(change, call, worker.timeouts, worker.clock)
    _review(worker, change)
    if change.head.interventions:
        return _hold(worker, change)
    change.to_state("waiting_for_tool")
    ready = tuple(call.call_id for call in calls)
    return Draft(change, Decision(next="act", at=position(change.head), calls=ready))


def _review(worker: Worker, change: Change) -> None:
    """`review_every` n: a person looks at every nth turn before it goes on; 1 is single-stepping (design §8)."""
    head = change.head
    due = head.review_every and head.run is not None and head.run.iteration % head.review_every == 0
    if due and not any(one.type == "checkpoint_review" for one in head.interventions):
        open_question(
            change, "checkpoint_review", "Go on?", worker.clock, calls=[call.name for call in head.calls]
        )


def _hold(worker: Worker, change: Change) -> Draft:
    """Something is open: a call to approve, a review, or a pause that came while the model was thinking."""
    if change.head.state != "waiting_for_user":
        change.to_state("waiting_for_user", change.head.interventions[0].type)
    return Draft(change, asking(change.head, worker.timeouts))


def _ask_budget(worker: Worker, change: Change) -> None:
    usage, budget = change.head.usage, change.head.budget
    open_question(
        change,
        "budget_exceeded",
        "The session's budget is used up.",
        worker.clock,
        total_tokens=usage.total_tokens,
        token_budget=budget.token_budget,
        cost_usd=usage.cost_usd,
        cost_budget_usd=budget.cost_budget_usd,
    )
    change.to_state("waiting_for_user", "budget_exceeded")


def _answer(absorbed: Absorbed) -> str | None:
    """The text without its marker, else the reason the plan was completed with."""
    text = absorbed.text.strip()
    if claims_completion(text):
        text = text[len(GOAL_COMPLETE) :].lstrip(" :.-\n")
    return text or absorbed.closing or None


_STAGE = Stage(kind="think", step_kind="llm", request=_request, settle=_settle)

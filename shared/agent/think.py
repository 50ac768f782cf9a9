"""The Think state: one model call, and what follows from it by the rules of design §5."""

from typing import assert_never

from shared.agent.acting import act, drop, hold, review
from shared.agent.circling import Outcome, hint, observe_turn
from shared.agent.endings import completed, failed
from shared.agent.journal import Draft
from shared.agent.people import asking, open_question
from shared.agent.reply import Absorbed
from shared.agent.spending import open_budget_question
from shared.agent.tail import turn_tail
from shared.agent.thread import position
from shared.agent.turn import Stage, decided, take_turn
from shared.agent.worker import Worker
from shared.domain.budget import tokens_left
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
from shared.domain.conversation import Entry
from shared.domain.session import Head
from shared.ports.model import ModelReply, ModelRequest, ToolDefinition

CUT_OFF = (
    "Your last reply was cut off at its length limit; what was cut was not run. Go on in smaller pieces."
)


def think(worker: Worker, at: Position, attempt: int, timeout: float) -> Decision:
    thread = worker.journal.conversation(at)
    known = decided(thread, at, "think", worker)
    return known or take_turn(worker, _STAGE, thread, at, attempt, timeout)


def _request(worker: Worker, head: Head, entries: tuple[Entry, ...]) -> ModelRequest:
    specs = worker.specs(head).values()
    return ModelRequest(
        model=worker.model_name,
        system=worker.agent.system,
        tools=tuple(ToolDefinition(spec.name, spec.description, spec.input_schema) for spec in specs),
        entries=entries,
        tail=turn_tail(head),
        max_tokens=worker.agent.max_output_tokens,
    )


def _settle(
    worker: Worker, change: Change, absorbed: Absorbed, reply: ModelReply, outcomes: tuple[Outcome, ...]
) -> Draft:
    stuck = observe_turn(worker, change, absorbed, reply, outcomes)
    text_replies = 0 if absorbed.called else change.head.progress.text_replies + 1
    change.set(progress=change.head.progress.model_copy(update={"text_replies": text_replies}))
    head = change.head
    assert head.run is not None
    cut_off = reply.stop == "max_tokens"
    facts = Facts(
        plan=head.plan,
        text="" if cut_off else absorbed.text,
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
    if stuck is not None and stuck.rung == "hint":
        hint(change, stuck.hint)
    match decide(facts):
        case Stop():
            return Draft(change, Decision(next="done", at=position(change.head)))
        case Complete(goal_met, reason):
            answer, message = _answer(absorbed), absorbed.message_id
            return completed(change, goal_met=goal_met, reason=reason, answer=answer, message_id=message)
        case Fail(code, reason):
            return failed(change, code, reason[:1_000])
        case Act():
            return act(worker, change, absorbed.calls)
        case AskPerson("budget_exceeded"):
            open_budget_question(change, worker.clock)
            return Draft(change, asking(change.head, worker.timeouts))
        case AskPerson(kind, reason, question):
            drop(change, absorbed.calls)
            open_question(change, kind, question, worker.clock, reason=reason)
            change.to_state("waiting_for_user", kind)
            return Draft(change, asking(change.head, worker.timeouts))
        case ThinkAgain(_, nudge):
            hint(change, CUT_OFF if cut_off else nudge)
            review(worker, change)
            if change.head.interventions:
                return hold(worker, change)
            change.to_state("executing")
            return Draft(change, Decision(next="think", at=position(change.head)))
        case other:
            assert_never(other)


def _answer(absorbed: Absorbed) -> str | None:
    """The text without its marker, else the reason the plan was completed with."""
    text = absorbed.text.strip()
    if claims_completion(text):
        text = text[len(GOAL_COMPLETE) :].lstrip(" :.-\n")
    return text or absorbed.closing or None


_STAGE = Stage(kind="think", step_kind="llm", request=_request, settle=_settle)

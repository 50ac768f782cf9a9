"""What follows a thinking turn, by the rules of design §5 (`shared/acta_engine/turn/next_action.py`).

Whether a run in circles gets a hint, a question or the end is decided in `shared/acta_engine/turn/loop_detection.py`.
"""

from typing import assert_never

from acta_engine.log.change import Change
from acta_engine.log.commit import Decision
from acta_engine.log.events import HintInjected
from acta_engine.log.head import Ending, Failure, Result
from acta_engine.log.repository import CommitDraft
from acta_engine.models.model import ModelReply
from acta_engine.people.opening import AskedBy, open_question
from acta_engine.turn.apply_reply import Answers, AppliedReply, FinalAnswer
from acta_engine.turn.budget import tokens_left
from acta_engine.turn.cut_off_replies import advice, is_first_half
from acta_engine.turn.detect_loop import PreviousCall, detect_loop
from acta_engine.turn.engine_decision import position
from acta_engine.turn.next_action import Act, AskPerson, Complete, Facts, Fail, ThinkAgain, next_action
from acta_engine.turn.outcomes import (
    drop_calls,
    end_run,
    open_questions,
    open_review_if_due,
    run_calls,
    wait,
)
from acta_engine.turn.prompt import hint
from acta_engine.turn.session_budget import NextCall, open_budget_question
from acta_engine.turn.structured_answer import ANSWER_RETRIES
from acta_engine.turn.turn_context import TurnContext


def after_thinking(
    context: TurnContext,
    change: Change,
    applied: AppliedReply,
    reply: ModelReply,
    previous: tuple[PreviousCall, ...],
) -> CommitDraft:
    """Finds the next action from the facts and does it. `previous`: the calls before this reply and how they went."""
    stuck = detect_loop(context.specs, change, applied, reply, previous)
    paused = reply.stop == "pause"  # what came is kept and is no answer yet
    cut_offs = change.head.progress.cut_offs
    is_half = paused or cut_offs == 1  # it and what goes on with it are one reply
    text_replies = 0 if applied.called else change.head.progress.text_replies + (not is_half)
    change.set(progress=change.head.progress.model_copy(update={"text_replies": text_replies}))
    _grant_steps(change)
    head = change.head
    assert head.run is not None
    text = "" if cut_offs or paused else applied.text
    answers = Answers(context.deps.check_answer, head.output_schema)
    answer = applied.answer
    if answer is None and not applied.calls:
        answer = answers.in_text(head, text, called=applied.called)
    wrong_answers = _count_wrong(change, answer)
    facts = Facts(
        plan=head.plan,
        text=text,
        calls=len(applied.calls),
        undelivered=len(head.undelivered),
        iteration=head.run.iteration,
        max_steps=head.run.max_steps,
        over_budget=tokens_left(head) == 0 and not context.waits_for_tokens,
        text_replies=text_replies,
        question=applied.question,
        closing=applied.closing,
        stuck=stuck,
        answer="" if answer is None else "wrong" if answer.problem else "fits",
        answers_left=max(0, ANSWER_RETRIES + 1 - wrong_answers),
    )
    advised = advice(reply, cut_offs, planning=False)
    if stuck is not None and stuck.reaction == "hint":
        if stuck.was_told:
            change.event(HintInjected(hint=stuck.hint))
        else:
            hint(change, stuck.hint)
    action = next_action(facts)
    if answer is not None and applied.answer is None and not isinstance(action, Complete | Fail):
        hint(change, answer.problem)  # what completes the plan has it as its result
    match action:
        case Complete(goal_met, reason):
            given = answer or answers.of(applied.text, applied.closing)
            message = applied.message_id
            result = Result.of(
                given.text, goal_met=goal_met, reason=reason, message_id=message, data=given.data
            )
            return end_run(context.deps, change, Ending(result=result))
        case Fail(code, reason):
            return end_run(context.deps, change, Ending(error=Failure(code=code, message=reason[:1_000])))
        case Act():
            hint(change, advised)
            return run_calls(context, change, applied.calls, applied.text)
        case AskPerson("budget_exceeded"):
            # The next request has at least all of this one, and the reply.
            bytes_so_far = (reply.usage.input + reply.usage.output) * head.budget.bytes_per_token
            following = NextCall(int(bytes_so_far), context.max_output_tokens, context.models)
            open_budget_question(change, context.rules, following)
            # The calls of this reply are kept, and run once the budget is raised.
            open_questions(context, change, applied.calls, applied.text)
            return wait(context, change)
        case AskPerson(kind, reason, question):
            drop_calls(change, applied.calls)
            by: AskedBy = "agent" if kind == "clarification_needed" else "acta"
            open_question(
                change,
                kind,
                question,
                context.rules,
                asked_by=by,
                said=applied.text,
                message_id=applied.message_id,
                reason=reason,
            )
            return wait(context, change)
        case ThinkAgain(_, following):
            hint(change, advised or ("" if paused else following))
            if is_first_half(reply, cut_offs, planning=False):
                progress = change.head.progress.model_copy(update={"continues": applied.message_id})
                change.set(progress=progress)
            open_review_if_due(context, change, applied.text)
            if change.head.interventions:
                return wait(context, change)
            change.to_state("executing")
            return CommitDraft(change, Decision(next="think", at=position(change.head)))
        case other:
            assert_never(other)


def _grant_steps(change: Change) -> None:
    """A message that comes at the step limit gets as many steps as it would get as a new run's (ADR 4)."""
    head, run = change.head, change.head.run
    if run is not None and head.undelivered and run.iteration >= run.max_steps:
        change.set(run=run.model_copy(update={"max_steps": run.iteration + head.max_steps}))


def _count_wrong(change: Change, answer: FinalAnswer | None) -> int:
    """How many final answers of the run have not fitted, this one included."""
    progress = change.head.progress
    if answer is not None and answer.problem:
        progress = progress.model_copy(update={"wrong_answers": progress.wrong_answers + 1})
        change.set(progress=progress)
    return progress.wrong_answers

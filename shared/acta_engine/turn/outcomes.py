"""What becomes of a turn: its calls run, wait for a person or are dropped (design §2, §8)."""

from acta_engine.log.change import Change
from acta_engine.log.commit import Decision
from acta_engine.log.conversation import ToolCall
from acta_engine.log.head import Ending
from acta_engine.log.repository import CommitDraft
from acta_engine.people.approval import approval_reason
from acta_engine.people.intervention import is_pause
from acta_engine.people.opening import open_approval, open_review, wait_for_people
from acta_engine.turn.apply_reply import own_result
from acta_engine.turn.endings import ended
from acta_engine.turn.engine_decision import position, wait_decision
from acta_engine.turn.next_turn import next_turn
from acta_engine.turn.turn_context import TurnContext, TurnDeps

NOT_RUN = (
    "Error: not run, because the run seemed to go in circles. A person has been asked; read what they say."
)


def run_calls(context: TurnContext, change: Change, calls: tuple[ToolCall, ...], said: str) -> CommitDraft:
    """Runs the calls, once all approvals of the batch are settled. `said`: the reply's text."""
    open_questions(context, change, calls, said)
    if change.head.interventions:
        return wait(context, change)
    change.to_state("waiting_for_tool")
    ready = tuple(call.call_id for call in calls)
    return CommitDraft(change, Decision(next="act", at=position(change.head), calls=ready))


def open_questions(context: TurnContext, change: Change, calls: tuple[ToolCall, ...], said: str) -> None:
    """Opens what a person has to decide before the calls run: approvals and the review."""
    for call in calls:
        tool, seconds = context.specs[call.name], context.timeouts.approval
        reason = approval_reason(change.head.plan, tool, call.input or {})
        if reason is not None:
            open_approval(change, call, context.rules, seconds, tool=tool, why=reason, said=said)
    open_review_if_due(context, change, said, calls)


def drop_calls(change: Change, calls: tuple[ToolCall, ...]) -> None:
    """Gives calls that will not run their one result now."""
    for call in calls:
        change.entry(own_result(call, NOT_RUN, ok=False))
    change.set(calls=())


def open_review_if_due(
    context: TurnContext, change: Change, said: str, calls: tuple[ToolCall, ...] = ()
) -> None:
    """Opens a review where `review_every` says so: a person looks at every nth turn before it goes on; 1 is
    single-stepping (design §8). `calls`: those of the reply that are to run. A pause is no review: anybody may end it.
    """
    head = change.head
    due = head.review_every and head.run is not None and head.run.iteration % head.review_every == 0
    if due and not any(one.type == "checkpoint_review" and not is_pause(one) for one in head.interventions):
        open_review(change, calls, context.rules, said=said)


def wait(context: TurnContext, change: Change) -> CommitDraft:
    """Waits for people: a call to approve, a review, or a pause that came while the model was thinking."""
    wait_for_people(change)
    return CommitDraft(change, wait_decision(change.head, context.timeouts))


def end_run(deps: TurnDeps, change: Change, ending: Ending) -> CommitDraft:
    """Ends the run. While a pause is open the ending is held until it is lifted: a paused session does not end by
    itself, and what the reply said is kept.
    """
    if not any(map(is_pause, change.head.interventions)):
        return ended(change, ending)
    run = change.head.run
    if run is not None and run.first != change.number:
        next_turn(change, thought=False)
    change.set(held=ending, calls=())
    return CommitDraft(change, wait_decision(change.head, deps.timeouts))

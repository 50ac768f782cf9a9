"""What becomes of a turn: its calls run, wait for a person or are dropped; the run moves on (design §2, §8)."""

from shared.agent.interventions.opening import open_approval, open_review, wait_for_people
from shared.agent.model_call.turn_context import TurnContext, TurnDeps, TurnKind
from shared.agent.recovery.retries_exhausted import failure_of
from shared.agent.session.endings import ended, failed
from shared.agent.session.engine_decision import next_decision, position, wait_decision
from shared.agent.session.repository import CommitDraft
from shared.agent.turn.refused_calls import own_result
from shared.domain.errors import Fenced, ProviderOverloaded
from shared.domain.interventions.approval import approval_reason
from shared.domain.interventions.intervention import is_pause
from shared.domain.rules.execution_history import EVENTS_PER_CALL, EVENTS_PER_TURN
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision
from shared.domain.session.conversation import ToolCall
from shared.domain.session.head import Ending

NOT_RUN = (
    "Error: not run, because the run seemed to go in circles. A person has been asked; read what they say."
)
HOLDS_SINCE = 2
"""The schema version that has `Head.held`."""
MAX_PROVIDER_WAIT_SECONDS = 900
MAX_PROVIDER_WAITS = 20
"""Waits a provider may ask for in a row before the run ends."""


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
        reason = approval_reason(change.head.plan, context.specs[call.name])
        if reason is not None:
            open_approval(change, call, context.rules, context.timeouts.approval, why=reason, said=said)
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


def wait_for_provider(change: Change, error: ProviderOverloaded, then: TurnKind) -> CommitDraft:
    """Has the engine wait as long as the provider asked for, at no compute cost, and then take the turn again."""
    if change.head.is_over:
        return CommitDraft(change, next_decision(change.head))
    progress = change.head.progress
    if progress.provider_waits >= MAX_PROVIDER_WAITS:
        failure = failure_of(type(error).__name__)
        return failed(change, failure.code, failure.message)
    seconds = max(1, min(MAX_PROVIDER_WAIT_SECONDS, round((error.retry_after or 0) + 0.5)))
    change.event("llm.retried", {"code": "PROVIDER_OVERLOADED", "wait_seconds": seconds})
    change.set(progress=progress.model_copy(update={"provider_waits": progress.provider_waits + 1}))
    next_turn(change, thought=False)
    return CommitDraft(
        change, Decision(next="wait", at=position(change.head), wait_seconds=seconds, then=then)
    )


def end_run(deps: TurnDeps, change: Change, ending: Ending) -> CommitDraft:
    """Ends the run. While a pause is open the ending is held until it is lifted: a paused session does not end by
    itself, and what the reply said is kept.

    The release before knows no held ending, so while it may still run, the run ends at once.
    """
    paused = any(map(is_pause, change.head.interventions))
    if not paused or deps.repository.write_version < HOLDS_SINCE:
        return ended(change, ending)
    run = change.head.run
    if run is not None and run.first != change.number:
        next_turn(change, thought=False)
    change.set(held=ending, calls=())
    return CommitDraft(change, wait_decision(change.head, deps.timeouts))


def next_turn(change: Change, *, thought: bool, calls: int = 0) -> None:
    """Moves the run to its next turn, which begins with this commit. `thought`: whether it counts as an iteration.

    An execution that makes a turn waits for nobody: recovery need not look whether it was woken.
    """
    run = change.head.run
    if run is None:
        raise Fenced("the session has no run")
    moved = {
        "turn": run.turn + 1,
        "first": change.number,
        "iteration": run.iteration + (1 if thought else 0),
        "events": run.events + EVENTS_PER_TURN + EVENTS_PER_CALL * calls,
    }
    change.set(run=run.model_copy(update=moved), wait=None)

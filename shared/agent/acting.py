"""What becomes of a reply's calls: they run, wait for a person, or are dropped (design §2, §8)."""

from shared.agent.journal import Draft
from shared.agent.people import asking, open_approval, open_review, wait_for_people
from shared.agent.thread import position
from shared.agent.worker import Mind
from shared.domain.change import Change
from shared.domain.commit import Decision
from shared.domain.content import Content
from shared.domain.conversation import ToolCall, ToolEntry
from shared.domain.intervention import is_pause
from shared.domain.permission import why

NOT_RUN = (
    "Error: not run, because the run seemed to go in circles. A person has been asked; read what they say."
)


def act(mind: Mind, change: Change, calls: tuple[ToolCall, ...], said: str) -> Draft:
    """All approvals of a batch are settled before any of its calls runs. `said`: the reply's text."""
    open_questions(mind, change, calls, said)
    if change.head.interventions:
        return hold(mind, change)
    change.to_state("waiting_for_tool")
    ready = tuple(call.call_id for call in calls)
    return Draft(change, Decision(next="act", at=position(change.head), calls=ready))


def open_questions(mind: Mind, change: Change, calls: tuple[ToolCall, ...], said: str) -> None:
    """What a person has to say before the calls run, whatever else the turn comes to: approvals and the review."""
    for call in calls:
        reason = why(change.head.plan, mind.specs[call.name])
        if reason is not None:
            policies = mind.agent.interventions
            open_approval(change, call, mind.clock, policies, mind.timeouts, why=reason, said=said)
    review(mind, change, said, calls)


def drop(change: Change, calls: tuple[ToolCall, ...]) -> None:
    """Calls that will not run get their one result now."""
    for call in calls:
        change.entry(ToolEntry(call_id=call.call_id, name=call.name, content=Content.of(NOT_RUN), ok=False))
    change.set(calls=())


def review(mind: Mind, change: Change, said: str, calls: tuple[ToolCall, ...] = ()) -> None:
    """`review_every` n: a person looks at every nth turn before it goes on; 1 is single-stepping (design §8).
    `calls`: those of the reply that are to run. A pause is no review: anybody may end it.
    """
    head = change.head
    due = head.review_every and head.run is not None and head.run.iteration % head.review_every == 0
    if due and not any(one.type == "checkpoint_review" and not is_pause(one) for one in head.interventions):
        open_review(change, calls, mind.clock, mind.agent.interventions, said=said)


def hold(mind: Mind, change: Change) -> Draft:
    """Something is open: a call to approve, a review, or a pause that came while the model was thinking."""
    wait_for_people(change)
    return Draft(change, asking(change.head, mind.timeouts))

"""What becomes of a reply's calls: they run, wait for a person, or are dropped (design §2, §8)."""

from shared.agent.journal import Draft
from shared.agent.people import Why, asking, open_approval, open_review
from shared.agent.thread import position
from shared.agent.worker import Mind
from shared.domain.change import Change
from shared.domain.commit import Decision
from shared.domain.content import Content
from shared.domain.conversation import ToolCall, ToolEntry
from shared.domain.permission import asked_for
from shared.domain.plan import ExecutionPlan
from shared.domain.tool import ToolSpec

NOT_RUN = (
    "Error: not run, because the run seemed to go in circles. A person has been asked; read what they say."
)


def act(mind: Mind, change: Change, calls: tuple[ToolCall, ...], said: str) -> Draft:
    """All approvals of a batch are settled before any of its calls runs. `said`: the reply's text."""
    policies = mind.agent.interventions
    for call in calls:
        why = _why(change.head.plan, mind.specs[call.name])
        if why is not None:
            open_approval(change, call, mind.clock, policies, mind.timeouts, why=why, said=said)
    review(mind, change, said, calls)
    if change.head.interventions:
        return hold(mind, change)
    change.to_state("waiting_for_tool")
    ready = tuple(call.call_id for call in calls)
    return Draft(change, Decision(next="act", at=position(change.head), calls=ready))


def _why(plan: ExecutionPlan | None, tool: ToolSpec) -> Why | None:
    """Why a call of the tool waits for a person; None: it does not."""
    if tool.high_stakes:
        return "high_stakes"
    asks = plan is not None and asked_for(plan, tool.name, risky=tool.is_risky)
    return "plan_step" if asks else None


def drop(change: Change, calls: tuple[ToolCall, ...]) -> None:
    """Calls that will not run get their one result now."""
    for call in calls:
        change.entry(ToolEntry(call_id=call.call_id, name=call.name, content=Content.of(NOT_RUN), ok=False))
    change.set(calls=())


def review(mind: Mind, change: Change, said: str, calls: tuple[ToolCall, ...] = ()) -> None:
    """`review_every` n: a person looks at every nth turn before it goes on; 1 is single-stepping (design §8).
    `calls`: those of the reply that are to run.
    """
    head = change.head
    due = head.review_every and head.run is not None and head.run.iteration % head.review_every == 0
    if due and not any(one.type == "checkpoint_review" for one in head.interventions):
        open_review(change, calls, mind.clock, mind.agent.interventions, said=said)


def hold(mind: Mind, change: Change) -> Draft:
    """Something is open: a call to approve, a review, or a pause that came while the model was thinking."""
    if change.head.state != "waiting_for_user":
        change.to_state("waiting_for_user", change.head.interventions[0].type)
    return Draft(change, asking(change.head, mind.timeouts))

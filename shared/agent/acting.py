"""What becomes of a reply's calls: they run, wait for a person, or are dropped (design §2, §8)."""

from shared.agent.journal import Draft
from shared.agent.people import asking, open_approval, open_question
from shared.agent.thread import position
from shared.agent.worker import Mind
from shared.domain.change import Change
from shared.domain.commit import Decision
from shared.domain.content import Content
from shared.domain.conversation import ToolCall, ToolEntry
from shared.domain.plan import ExecutionPlan
from shared.domain.tool import ToolSpec

NOT_RUN = (
    "Error: not run, because the run seemed to go in circles. A person has been asked; read what they say."
)


def act(mind: Mind, change: Change, calls: tuple[ToolCall, ...]) -> Draft:
    """All approvals of a batch are settled before any of its calls runs."""
    for call in calls:
        spec = mind.specs[call.name]
        if spec.high_stakes or _needs_permission(change.head.plan, spec):
            open_approval(change, call, mind.timeouts, mind.clock)
    review(mind, change)
    if change.head.interventions:
        return hold(mind, change)
    change.to_state("waiting_for_tool")
    ready = tuple(call.call_id for call in calls)
    return Draft(change, Decision(next="act", at=position(change.head), calls=ready))


def _needs_permission(plan: ExecutionPlan | None, tool: ToolSpec) -> bool:
    """By the steps being worked on: those in progress, or else the first open one, which nobody has marked yet.

    A step that names no tool means whatever of it is not read-only.
    """
    if plan is None:
        return False
    current = [step for step in plan.steps if step.status == "in_progress"] or plan.open_steps[:1]
    return any(
        step.requires_permission and (step.tool == tool.name or (step.tool is None and tool.is_risky))
        for step in current
    )


def drop(change: Change, calls: tuple[ToolCall, ...]) -> None:
    """Calls that will not run get their one result now."""
    for call in calls:
        change.entry(ToolEntry(call_id=call.call_id, name=call.name, content=Content.of(NOT_RUN), ok=False))
    change.set(calls=())


def review(mind: Mind, change: Change) -> None:
    """`review_every` n: a person looks at every nth turn before it goes on; 1 is single-stepping (design §8)."""
    head = change.head
    due = head.review_every and head.run is not None and head.run.iteration % head.review_every == 0
    if due and not any(one.type == "checkpoint_review" for one in head.interventions):
        names = [call.name for call in head.calls]
        open_question(change, "checkpoint_review", "Go on?", mind.clock, calls=names)


def hold(mind: Mind, change: Change) -> Draft:
    """Something is open: a call to approve, a review, or a pause that came while the model was thinking."""
    if change.head.state != "waiting_for_user":
        change.to_state("waiting_for_user", change.head.interventions[0].type)
    return Draft(change, asking(change.head, mind.timeouts))

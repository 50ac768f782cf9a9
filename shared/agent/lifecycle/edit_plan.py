"""A person edits the plan of a running session (design §4, ADR 71).

What was changed is told to the model as a message that waits for the next turn, so the session is woken, and goes on,
as after any message. Until a turn has shown it, the model's own updates are refused (`_update_plan` in
`shared/agent/turn/apply_reply.py`) and what it asked for before has no effect (`is_replanned` in
`shared/agent/tools/effect_ledger.py`).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from shared.agent.interventions.deciders import OnDecided, ignore
from shared.agent.interventions.wait import commit_in_time
from shared.agent.lifecycle.start import tell
from shared.agent.recovery.recover import wake_engine
from shared.agent.session.engine_decision import next_turn_kind
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.requester import Requester, agent_of
from shared.agent.session.session import Session
from shared.domain.definitions.agent import require_start_role
from shared.domain.errors import Conflict, PlanNotFound, PreconditionFailed
from shared.domain.ids import MESSAGE
from shared.domain.interventions.intervention import Intervention
from shared.domain.plan.edit import EditedPlan, Operation, edited
from shared.domain.plan.plan import ExecutionPlan
from shared.domain.session.change import Change
from shared.domain.session.head import Head
from shared.ports.definitions import Definitions
from shared.ports.tools import Registry
from shared.ports.workflow import Workflow


class EditDeps(NamedTuple):
    repository: SessionRepository
    workflow: Workflow
    registry: Registry
    definitions: Definitions


class PlanEdit(NamedTuple):
    """`fits`: whether the person has seen this version of the plan. `comment`: for the model, as they wrote it."""

    operations: Sequence[Operation]
    fits: Callable[[int], bool]
    comment: str = ""


def edit_plan(
    deps: EditDeps, requester: Requester, session_id: str, edit: PlanEdit, on_decided: OnDecided = ignore
) -> Head:
    """Commits the plan's next version and wakes the engine. The change is a message: `on_decided` is told of the
    clarification that it has answered.

    Raises SessionNotFound, PlanNotFound, PreconditionFailed (the plan is at another version), ValidationFailed,
    KeyTaken, StartRoleMissing and RoleMissing as for a message, and Conflict (the run is over, a plan is being made, a
    step has begun, too many messages wait, the agent was deleted).
    """
    repository = deps.repository
    session = repository.newest(requester.tenant, session_id)
    agent = agent_of(deps.definitions, session.head)
    require_start_role(agent.start_roles, requester.roles)
    tools = agent.toolset(deps.registry.specs(requester.tenant, session.head.agent_id))
    message_id = repository.clock.new_id(MESSAGE)

    answered: Intervention | None = None

    def build(_: Session, change: Change) -> CommitDraft:
        nonlocal answered
        plan = _editable(change.head, edit)
        changed = edited(plan, edit.operations, tools, change.now, deps.registry.check)
        change.set(plan=changed.plan, plan_edit=message_id)
        told = {"version": changed.plan.version, "plan": changed.plan.as_event()}
        change.event("plan.revised", told | {"by": requester.user, "message_id": message_id})
        answered = tell(change, message_id, _message(changed, edit.comment), requester, agent)
        return CommitDraft(change, idempotency=requester.key)

    def wake() -> None:
        wake_engine(repository, deps.workflow, session)

    commit_in_time(repository, session, f"plan/{message_id}", build, on_expired=wake)
    on_decided(answered)
    wake()
    return session.head


def _editable(head: Head, edit: PlanEdit) -> ExecutionPlan:
    if head.plan is None:
        raise PlanNotFound("The session has no plan yet.")
    if not edit.fits(head.plan.version):
        raise PreconditionFailed(
            f"The plan is at version {head.plan.version} now: somebody has changed it since you read it. Read it again."
        )
    if head.is_over or head.run is None:
        raise Conflict(f"The session is {head.state}. Write to it, and a new plan is made.")
    if next_turn_kind(head) == "plan" and head.plan.is_live:
        raise Conflict("A new plan is being made for the last message. Edit that one when it is there.")
    return head.plan


def _message(changed: EditedPlan, comment: str) -> str:
    said = [f"I have changed the plan. It is at version {changed.plan.version} now:"]
    said += [f"- {line}" for line in changed.told]
    said.append("Go on by the plan as it is now.")
    return "\n".join([*said, *(["", comment] if comment.strip() else [])])

"""A person edits the plan of a running session (design §4, ADR 71).

What was changed is told to the model as a message that waits for the next turn, so the session is woken, and goes on,
as after any message. Until a turn has shown it, the model's own updates are refused (`_update_plan` in
`shared/acta_engine/turn/reply.py`) and what it asked for before has no effect (`is_replanned` in
`shared/acta_engine/tools/effect_ledger.py`).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from acta_engine.agents.agent import require_start_role
from acta_engine.agents.store import Definitions
from acta_engine.errors import Conflict, PlanNotFound, PreconditionFailed
from acta_engine.ids import MESSAGE
from acta_engine.log.events import PlanRevised
from acta_engine.log.head import Head
from acta_engine.log.repository import SessionRepository
from acta_engine.people.intervention import Intervention
from acta_engine.people.requester import OnDecided, Requester, agent_of, ignore
from acta_engine.people.wait import attempts_in_time
from acta_engine.plans.edit import EditedPlan, Operation, edited
from acta_engine.plans.plan import ExecutionPlan
from acta_engine.recovery.recover import wake_engine
from acta_engine.sessions.start import tell
from acta_engine.tools.port import Registry
from acta_engine.turn.engine import next_turn_kind
from acta_engine.turn.workflow import Workflow


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

    def wake() -> None:
        wake_engine(repository, deps.workflow, session)

    for change in attempts_in_time(repository, session, f"plan/{message_id}", on_expired=wake):
        before = _editable(change.head, edit)
        changed = edited(before, edit.operations, tools, change.now, deps.registry.check)
        plan = changed.plan
        change.set(plan=plan, plan_edit=message_id)
        change.event(
            PlanRevised(version=plan.version, plan=plan.as_event(), by=requester.user, message_id=message_id)
        )
        answered = tell(change, message_id, _message(changed, edit.comment), requester, agent)
        change.commit(idempotency=requester.key)
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

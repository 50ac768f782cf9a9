"""Who asks for a change of a session, and who may decide.

Every way to decide asks here: an option of a question, a message that answers it, `resume`, and a change of limits in
place of a question about them (docs/design/people.md 25). Only an expiry asks nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import TYPE_CHECKING, NamedTuple

from acta.engine.agents.agent import AgentDefinition, agent_of_session, policies_of
from acta.engine.agents.store import Definitions
from acta.engine.audit.record import Via
from acta.engine.errors import Conflict, NotYours, PersonMissing, RoleMissing
from acta.engine.log.commit import IdempotencyKey
from acta.engine.log.head import Head
from acta.engine.people.intervention import (
    ENDS_WORK,
    NO_ROLES,
    PERSON_DECIDES,
    Intervention,
    as_asked_now,
    is_pause,
    require_another,
    require_person,
    require_role,
)
from acta.engine.people.policies import (
    ANYONE,
    HIGH_STAKES,
    Deciders,
    InterventionType,
    Policy,
    has_one_of,
    who_decides,
)

AGENT_DELETED = (
    "The session's agent has been deleted, and with it who may do this and up to which limits. Make the agent again "
    "under its id, or end the session's work: cancel it, reject the call or skip it."
)


class Requester(NamedTuple):
    """A person as their token names them. `decides`: as in `Caller`. `key`: of the request, where it came with an
    `Idempotency-Key`. `via`: the way by which the request came.
    """

    tenant: str
    user: str
    roles: Set[str] = NO_ROLES
    decides: bool = True
    key: IdempotencyKey | None = None
    via: Via = "api"

    def check_decides(self, session_id: str, intervention_id: str = "") -> None:
        """Raises PersonMissing."""
        if not self.decides:
            raise PersonMissing(session_id, intervention_id)


def agent_of(definitions: Definitions, head: Head) -> AgentDefinition:
    """The session's agent as it is now. Raises Conflict where it was deleted: who may write to it went with it."""
    agent = agent_of_session(head, definitions.snapshot(head.tenant).agent)
    if agent is None:
        raise Conflict(AGENT_DELETED)
    return agent


if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.tools.tool import ToolSpec

OnDecided = Callable[[Intervention | None], object]
"""Is told, once it is committed, which intervention was decided; None: none was."""


def ignore(decided: Intervention | None) -> None:
    """For callers that record nothing."""


def require_decider(
    head: Head,
    one: Intervention,
    agent: AgentDefinition | None,
    requester: Requester,
    option: str,
    tool: ToolSpec | None = None,
    approver: str = ANYONE,
) -> Intervention:
    """Returns the question as it would be asked now. A person may decide if the rules allowed it when the question was
    asked and allow it now: an agent, a tool or an operator may have become stricter since.

    `agent` None: it was deleted, and its rules with it, so the question is only refused any more. `tool`: of the call
    that the question is about, as it is now. `approver`: `Settings.high_stakes_approver`. Raises PersonMissing,
    RoleMissing, ApproverMustDiffer, Conflict, and NotYours where a client's model asks for what a person has to decide.
    """
    requester.check_decides(head.session_id, one.intervention_id)
    if agent is None and option not in ENDS_WORK:
        raise Conflict(AGENT_DELETED)
    policy = policies_of(agent, head).get(one.type, Policy())
    now = Deciders(policy.roles, others_only=False)
    if one.tool_call is not None:
        is_high = one.context.get("reason") in HIGH_STAKES
        now = who_decides(tool, policy, approver if is_high else ANYONE)
    if is_pause(one):  # whoever may pause ends it
        now = Deciders((), others_only=False)
    present = as_asked_now(one, now.roles, others_only=now.others_only)
    require_role(present, requester.roles, agent.wanted_roles if agent is not None else ())
    require_another(present, option, requester.user, head.askers)
    require_person(present, option, requester.via)
    return present


def require_decider_of(
    type: InterventionType, head: Head, agent: AgentDefinition, requester: Requester
) -> None:
    """Checks who decides what a question of this type would ask, though none is open. Raises PersonMissing,
    RoleMissing, and NotYours where a client's model asks.
    """
    if requester.via == "mcp":
        raise NotYours(PERSON_DECIDES, None, head.session_id, "")
    requester.check_decides(head.session_id)
    for role in policies_of(agent, head).get(type, Policy()).roles:
        if not has_one_of((role,), requester.roles):
            raise RoleMissing((role,), head.session_id, "")

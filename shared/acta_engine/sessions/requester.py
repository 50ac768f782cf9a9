"""Who asks for a change of a session."""

from collections.abc import Set
from typing import NamedTuple

from acta_engine.agents.agent import AgentDefinition
from acta_engine.agents.store import Definitions
from acta_engine.errors import Conflict
from acta_engine.log.commit import IdempotencyKey
from acta_engine.log.head import Head
from acta_engine.people.intervention import NO_ROLES

AGENT_DELETED = (
    "The session's agent has been deleted, and with it who may do this and up to which limits. Make the agent again "
    "under its id, or end the session's work: cancel it, reject the call or skip it."
)


class Requester(NamedTuple):
    """A person as their token names them. `key`: of the request, where it came with an `Idempotency-Key`."""

    tenant: str
    user: str
    roles: Set[str] = NO_ROLES
    key: IdempotencyKey | None = None


def agent_of(definitions: Definitions, head: Head) -> AgentDefinition:
    """The session's agent as it is now. Raises Conflict where it was deleted: who may write to it went with it."""
    agent = definitions.snapshot(head.tenant).agent(head.agent_id)
    if agent is None:
        raise Conflict(AGENT_DELETED)
    return agent

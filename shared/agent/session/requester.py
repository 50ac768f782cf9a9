"""Who asks for a change of a session."""

from collections.abc import Set
from typing import NamedTuple

from shared.domain.interventions.intervention import NO_ROLES
from shared.domain.session.head import Head
from shared.ports.definitions import Definitions
from shared.ports.log import IdempotencyKey


class Requester(NamedTuple):
    """A person as their token names them. `key`: of the request, where it came with an `Idempotency-Key`."""

    tenant: str
    user: str
    roles: Set[str] = NO_ROLES
    key: IdempotencyKey | None = None


def start_roles_of(definitions: Definitions, head: Head) -> tuple[str, ...]:
    """Who may start sessions of this session's agent, and write to them; empty: any member. An agent that was deleted
    does nothing more.
    """
    agent = definitions.snapshot(head.tenant).agent(head.agent_id)
    return agent.start_roles if agent is not None else ()

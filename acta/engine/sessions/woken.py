"""Starts a session that no request of a person starts: a schedule's time has come, or a trigger's event.

It is the session of whoever wrote the schedule or the trigger, and is allowed what that person could start with the
roles that they had then. Its id is made from what it stands for, so that a second start finds the first one's session.
"""

import hashlib
import json
from collections.abc import Set
from datetime import datetime
from typing import NamedTuple

from acta.engine.agents.agent import require_start_role
from acta.engine.agents.store import Definitions
from acta.engine.clock import MESSAGE, RUN, SESSION, derived_id, make_id
from acta.engine.errors import SessionNotFound, ValidationFailed
from acta.engine.limits.caps import LimitValues
from acta.engine.log.commit import Change, IdempotencyKey
from acta.engine.log.head import Head, Origin, SessionSettings
from acta.engine.log.repository import SessionRepository
from acta.engine.people.requester import Requester
from acta.engine.recovery.recover import recover
from acta.engine.sessions.start import begin_run, create, empty_head, new_session
from acta.engine.settings import Settings
from acta.engine.turn.engine import Workflow


class WokenSession(NamedTuple):
    """What is started, and in whose name."""

    tenant: str
    session_id: str
    """Of `woken_id`."""
    origin: Origin
    agent_id: str
    message: str
    """The goal. What it has of an event is quoted in it already."""
    created_by: str
    """The subject of whoever wrote the schedule or the trigger."""
    roles: Set[str]
    """Those that this person had when they wrote it."""
    settings: SessionSettings
    limits: LimitValues = LimitValues()
    """Those that the schedule or the trigger names."""
    read_outside: bool = False
    """The message has text from outside."""
    key: IdempotencyKey | None = None
    """Of the request that asks for it now, where one does."""


def woken_id(at: datetime, *names: str) -> str:
    """The id of the session that stands for this. `names`: what tells it from every other one of that millisecond."""
    digest = hashlib.sha256(json.dumps(names).encode()).digest()
    return make_id(SESSION, int(at.timestamp() * 1_000), digest)


def start_woken(
    repository: SessionRepository,
    workflow: Workflow,
    definitions: Definitions,
    deployment: Settings,
    woken: WokenSession,
) -> Head:
    """Commits the session, then starts the engine. A session of this id that is there already goes on, and is returned
    as it is: nothing is started twice.

    Limits are checked as for a member's start. Raises ValidationFailed (there is no such agent, or a limit is above the
    caps), StartRoleMissing, LimitReached, KeyTaken, and what the stores and the engine raise.
    """
    try:
        there = repository.newest(woken.tenant, woken.session_id).head
    except SessionNotFound:
        pass
    else:
        recover(
            repository, workflow, woken.tenant, woken.session_id
        )  # the first start may have died on its way
        return there
    agent = definitions.snapshot(woken.tenant).agent(woken.agent_id)
    if agent is None:
        raise ValidationFailed("There is no such agent.", {"agent_id": ["There is no agent of that id."]})
    require_start_role(agent, woken.roles)
    requester = Requester(woken.tenant, woken.created_by, woken.roles, key=woken.key)
    new = new_session(agent, woken.message, woken.limits, deployment, is_admin=False, settings=woken.settings)
    now = repository.clock.now()
    # Made from the session's id: of two starts at once, both name the same run to the engine.
    run_id, message_id = derived_id(RUN, woken.session_id), derived_id(MESSAGE, woken.session_id)
    head = empty_head(requester, new, woken.session_id, now)
    head = head.model_copy(update={"origin": woken.origin, "read_outside": woken.read_outside})
    change = Change(head, number=1, now=now)
    change.first_state("planning")
    decision = begin_run(change, run_id, message_id, woken.message, new.max_steps, requester)
    return create(repository, workflow, requester, new, "start", change, decision)

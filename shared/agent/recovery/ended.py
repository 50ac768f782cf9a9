"""An execution has ended before its run: the session goes on at once (design §2).

The engine tells of it. What it does not tell, or what fails here, the next sweep finds.
"""

from typing import get_args

from shared.agent.recovery.recover import RecoveryResult, recover
from shared.agent.session.repository import SessionRepository
from shared.domain.errors import Fenced, SessionNotFound
from shared.domain.rules.outage import DEFAULT_LIMITS, OutageLimits
from shared.ports.log import LiveKind, LiveSession, SessionIndex, live_shard
from shared.ports.workflow import EndedExecution, Workflow

PAGE = 500


def recover_ended(
    repository: SessionRepository,
    session_index: SessionIndex,
    workflow: Workflow,
    ended: EndedExecution,
    limits: OutageLimits = DEFAULT_LIMITS,
) -> RecoveryResult:
    """`nothing` where the run is over, has gone on in another execution or is deleted. Raises what `recover` raises,
    but SessionNotFound. `limits`: as in `restart`.
    """
    tenant = ended.tenant if ended.tenant is not None else _tenant(session_index, ended.session_id)
    if tenant is None:
        return "nothing"
    try:
        return recover(repository, workflow, tenant, ended.session_id, ended, limits)
    except (SessionNotFound, Fenced):
        return "nothing"


def _tenant(session_index: SessionIndex, session_id: str) -> str | None:
    """Whose live session it is. None: it is at rest."""
    for kind in get_args(LiveKind):
        found = _session(session_index, kind, live_shard(session_id), session_id)
        if found is not None:
            return found.tenant
    return None


def _session(session_index: SessionIndex, kind: LiveKind, shard: int, session_id: str) -> LiveSession | None:
    cursor: str | None = None
    while True:
        page = session_index.live(kind, shard, before=None, limit=PAGE, cursor=cursor)
        for session in page.sessions:
            if session.session_id == session_id:
                return session
        cursor = page.cursor
        if cursor is None:
            return None

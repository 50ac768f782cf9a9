"""Which runs of a tenant failed for a reason that lies outside of them: an operator may have them tried again."""

from datetime import datetime
from typing import NamedTuple

from shared.agent.recovery.recover import is_repairable
from shared.agent.session.repository import SessionRepository
from shared.domain.errors import Fenced, PoisonedSession, SchemaUnknown, SessionNotFound
from shared.ports.log import SessionIndex

PAGE = 50


class FailedRun(NamedTuple):
    """`failed_at`: the time of the session's last commit."""

    session_id: str
    code: str
    failed_at: datetime


class FailedRuns(NamedTuple):
    """`cursor` None: this is the last page."""

    runs: tuple[FailedRun, ...]
    cursor: str | None


def failed_runs(
    repository: SessionRepository, index: SessionIndex, tenant: str, since: datetime, cursor: str | None
) -> FailedRuns:
    """One page of the runs that failed since then and that `repair` takes up again, newest sessions first. A page may
    be empty and still have a cursor. Changes nothing. Raises ValueError where the cursor is not valid.
    """
    page = index.sessions(tenant, states=("failed",), agent_id=None, limit=PAGE, cursor=cursor)
    found = (_failed_run(repository, tenant, entry.session_id, since) for entry in page.entries)
    return FailedRuns(tuple(one for one in found if one is not None), page.cursor)


def _failed_run(
    repository: SessionRepository, tenant: str, session_id: str, since: datetime
) -> FailedRun | None:
    """None: it failed earlier or for another reason, has gone on since, or cannot be read."""
    try:
        head = repository.newest(tenant, session_id).head
    except (SessionNotFound, Fenced, PoisonedSession, SchemaUnknown):
        return None
    if head.error is None or head.updated_at < since or not is_repairable(head):
        return None
    return FailedRun(session_id, head.error.code, head.updated_at)

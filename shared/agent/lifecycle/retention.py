"""Deletes sessions that ended longer ago than their deployment keeps them (ADR 86).

All that is stored is looked through once a day, a part of it each minute, so nothing has to be noted beforehand: what
ended before the deployment had such a rule is found, too. A session is deleted as a person would delete it.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import NamedTuple

from shared.agent.lifecycle.erasure import erase
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.errors import Fenced, SessionNotFound
from shared.domain.session.change import Change
from shared.ports.blobs import BlobStore
from shared.ports.clock import Clock
from shared.ports.log import SessionIndex, SessionLog, SessionName

PARTS = 1_440
"""Minutes of a day. In each of them one part is looked through."""
PAGE = 1_000


class RetentionDeps(NamedTuple):
    """`days`: after which a session that has ended is deleted; 0: never. `time_is_left`: whether another session can be
    looked at. `failed`: is called with the id and the error of a session that could not be deleted.
    """

    repository: SessionRepository
    log: SessionLog
    blobs: BlobStore
    session_index: SessionIndex
    clock: Clock
    days: int
    time_is_left: Callable[[], bool]
    failed: Callable[[str, Exception], None]


def delete_ended(deps: RetentionDeps) -> int:
    """Looks through the part that this minute is for. Returns how many sessions were deleted. An error of one session
    does not stop the others. Raises what the index raises.
    """
    if not deps.days:
        return 0
    now, deleted = deps.clock.now(), 0
    before = now - timedelta(days=deps.days)
    for session in _ended(deps, now.hour * 60 + now.minute):
        if not deps.time_is_left():
            break
        try:
            deleted += _delete(deps, session, before)
        except (SessionNotFound, Fenced):  # deleted meanwhile
            continue
        except Exception as error:  # whatever it is, it is this session's alone
            deps.failed(session.session_id, error)
    return deleted


def _ended(deps: RetentionDeps, part: int) -> Iterator[SessionName]:
    cursor: str | None = None
    while True:
        page = deps.session_index.ended(part=part, parts=PARTS, limit=PAGE, cursor=cursor)
        yield from page.sessions
        cursor = page.cursor
        if cursor is None:
            return


def _delete(deps: RetentionDeps, name: SessionName, before: datetime) -> int:
    """A session that somebody writes to in this moment goes on: the head that is committed to is looked at."""
    session = deps.repository.newest(*name)

    def build(_: Session, change: Change) -> CommitDraft | None:
        if not change.head.is_over or change.head.updated_at >= before:
            return None
        change.set(deleted=True)
        return CommitDraft(change)

    if deps.repository.commit(session, f"delete/{deps.clock.new_id('evt')}", build) is None:
        return 0
    erase(deps.log, deps.blobs, *name)
    return 1

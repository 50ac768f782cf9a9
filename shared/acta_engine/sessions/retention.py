"""Deletes sessions that ended longer ago than their deployment keeps them (ADR 86).

All that is stored is looked through once a day, a part of it each minute, so nothing has to be noted beforehand: what
ended before the deployment had such a rule is found, too. A session is deleted as a person would delete it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import NamedTuple

from acta_engine.clock import Clock
from acta_engine.errors import Fenced, SessionNotFound
from acta_engine.log.repository import SessionRepository
from acta_engine.log.store import FailedPage, SessionIndex, SessionLog, SessionName
from acta_engine.log.texts import BlobStore
from acta_engine.recovery.store import EndedPlace
from acta_engine.sessions.erasure import erase, walk

PARTS = 1_440
"""Minutes of a day. Each minute has a part to look through."""
PAGE = 1_000


class RetentionDeps(NamedTuple):
    repository: SessionRepository
    log: SessionLog
    blobs: BlobStore
    session_index: SessionIndex
    clock: Clock
    days: int
    """After which a session that has ended is deleted; 0: never."""
    time_is_left: Callable[[], bool]
    """Whether another page can be read, or another session deleted."""
    failed: Callable[[str, Exception], None]
    """Is called with the id and the error of a session that could not be deleted."""


class Deleted(NamedTuple):
    sessions: int
    place: EndedPlace | None
    """Where the next call goes on; None: at the part of its minute."""


def delete_ended(deps: RetentionDeps, place: EndedPlace | None = None) -> Deleted:
    """Looks through the parts of all minutes since the last call, from where that one stopped. An error of one session
    does not stop the others. Raises what the index raises.
    """
    if not deps.days:
        return Deleted(0, None)
    now, deleted = deps.clock.now(), 0
    this_minute = int(now.timestamp() // 60)
    minute, cursor = place or EndedPlace(this_minute)
    if minute < this_minute:  # after more than a day a part is due once, not once for each day
        minute += (this_minute - minute) // PARTS * PARTS

    def delete_one(session: SessionName) -> None:
        nonlocal deleted
        try:
            deleted += _delete(deps, session, now - timedelta(days=deps.days))
        except (SessionNotFound, Fenced):  # deleted meanwhile
            pass
        except Exception as error:  # whatever it is, it is this session's alone
            deps.failed(session.session_id, error)

    while minute <= this_minute:
        stopped = walk(_pages(deps.session_index, minute % PARTS), delete_one, cursor, deps.time_is_left)
        if not stopped.at_end:
            return Deleted(deleted, EndedPlace(minute, stopped.cursor))
        minute, cursor = minute + 1, None
    return Deleted(deleted, EndedPlace(minute))


def _pages(index: SessionIndex, part: int) -> Callable[[str | None], FailedPage]:
    return lambda cursor: index.ended(part=part, parts=PARTS, limit=PAGE, cursor=cursor)


def _delete(deps: RetentionDeps, name: SessionName, before: datetime) -> int:
    """A session that somebody writes to in this moment goes on: the head that is committed to is looked at."""
    session = deps.repository.newest(*name)
    for change in deps.repository.attempts(session, f"delete/{deps.clock.new_id('evt')}"):
        if not change.head.is_over or change.head.updated_at >= before:
            return 0
        change.set(deleted=True)
        change.commit()
    erase(deps.log, deps.blobs, *name)
    return 1

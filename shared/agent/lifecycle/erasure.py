"""Erases a deleted session, and once more when every worker that it may have had is gone (ADR 44).

A worker may store a text after the deletion and die before it learns of it. Nobody else would ever look there again.
"""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import NamedTuple

from shared.ports.blobs import BlobStore
from shared.ports.clock import Clock
from shared.ports.log import LiveSession, SessionIndex, SessionLog

PAGE = 100


class ErasureDeps(NamedTuple):
    """`after`: seconds after a deletion when no worker that began before it can be at work. `time_is_left`: whether
    another session can be erased. `failed`: is called with the id and the error of a session that could not be.
    """

    log: SessionLog
    blobs: BlobStore
    session_index: SessionIndex
    clock: Clock
    after: float
    time_is_left: Callable[[], bool]
    failed: Callable[[str, Exception], None]


def erase(log: SessionLog, blobs: BlobStore, tenant: str, session_id: str) -> None:
    """Removes every item and blob of a session whose end is in its log, or that has none. It may be repeated."""
    log.delete(tenant, session_id)
    blobs.delete_all(tenant, session_id)


def erase_again(deps: ErasureDeps) -> int:
    """Returns how many sessions were erased for good. What failed, or was left for lack of time, is still noted.

    An error of one session does not stop the others. Raises what the index raises.
    """
    erased = 0
    for session in _due(deps):
        if not deps.time_is_left():
            break
        try:
            erase(deps.log, deps.blobs, session.tenant, session.session_id)
            deps.log.end_erasure(session.tenant, session.session_id)
        except Exception as error:  # whatever it is, it is this session's alone
            deps.failed(session.session_id, error)
        else:
            erased += 1
    return erased


def _due(deps: ErasureDeps) -> Iterator[LiveSession]:
    before = deps.clock.now() - timedelta(seconds=deps.after)
    cursor: str | None = None
    while True:
        page = deps.session_index.erasures(before=before, limit=PAGE, cursor=cursor)
        yield from page.sessions
        cursor = page.cursor
        if cursor is None:
            return

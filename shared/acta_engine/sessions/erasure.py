"""Erases a deleted session, and once more when every worker that it may have had is gone (ADR 44).

A worker may store a text after the deletion and die before it learns of it. Nobody else would ever look there again.
"""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NamedTuple, Protocol, TypeVar

from acta_engine.clock import Clock
from acta_engine.errors import PoisonedSession
from acta_engine.log.store import LivePage, LiveSession, SessionIndex, SessionLog
from acta_engine.log.texts import BlobStore

Entry = TypeVar("Entry")
Listed = TypeVar("Listed", covariant=True)


class Page(Protocol[Listed]):
    @property
    def sessions(self) -> Sequence[Listed]: ...
    @property
    def cursor(self) -> str | None: ...


class Stopped(NamedTuple):
    cursor: str | None
    """Of the page at which to go on; None: of the first."""
    at_end: bool
    """Whether the listing's last page was gone through."""


def walk(
    page_at: Callable[[str | None], Page[Entry]],
    visit: Callable[[Entry], None],
    cursor: str | None,
    time_is_left: Callable[[], bool],
) -> Stopped:
    """Visits the entries from the cursor's page on, for as long as time is left, which is asked before each page and
    each entry: most pages of a filtered listing have no entry. Raises what `page_at` raises, but begins with the first
    page where it takes no such cursor any more (ValueError).
    """
    while time_is_left():
        try:
            page = page_at(cursor)
        except ValueError:
            if cursor is None:
                raise
            cursor = None
            continue
        for entry in page.sessions:
            if not time_is_left():
                return Stopped(cursor, at_end=False)
            visit(entry)
        cursor = page.cursor
        if cursor is None:
            return Stopped(None, at_end=True)
    return Stopped(cursor, at_end=False)


PAGE = 100


class ErasureDeps(NamedTuple):
    log: SessionLog
    blobs: BlobStore
    session_index: SessionIndex
    clock: Clock
    after: float
    """Seconds after a deletion when no worker that began before it can be at work."""
    time_is_left: Callable[[], bool]
    """Whether another page can be read, or another session erased."""
    failed: Callable[[str, Exception], None]
    """Is called with the id and the error of a session that could not be erased."""


class Erased(NamedTuple):
    sessions: int
    """That were erased for good."""
    cursor: str | None
    """Where the next call goes on; None: at the oldest note."""


def erase(log: SessionLog, blobs: BlobStore, tenant: str, session_id: str) -> None:
    """Removes every item and blob of a session whose end is in its log, or that has none. It may be repeated."""
    log.delete(tenant, session_id)
    blobs.delete_all(tenant, session_id)


def erase_again(deps: ErasureDeps, cursor: str | None = None) -> Erased:
    """What failed, or was left for lack of time, is still noted. An error of one session does not stop the others.
    Raises what the index raises.
    """
    before = deps.clock.now() - timedelta(seconds=deps.after)
    erased = 0

    def page(cursor: str | None) -> LivePage:
        return deps.session_index.erasures(before=before, limit=PAGE, cursor=cursor)

    def erase_one(session: LiveSession) -> None:
        nonlocal erased
        try:
            lives = _lives(deps.log, session)
            if not lives:
                erase(deps.log, deps.blobs, session.tenant, session.session_id)
            deps.log.end_erasure(session.tenant, session.session_id)
        except Exception as error:  # whatever it is, it is this session's alone
            deps.failed(session.session_id, error)
        else:
            erased += not lives

    stopped = walk(page, erase_one, cursor, deps.time_is_left)
    return Erased(erased, stopped.cursor)


def _lives(log: SessionLog, session: LiveSession) -> bool:
    """Whether the note is older than the session. A start notes its texts before its first commit, which takes the note
    back. Where AWS carries that note out a second time after the commit, it tells of a session that is at work.
    """
    try:
        newest = log.latest(session.tenant, session.session_id)
    except PoisonedSession:  # somebody has deleted what nobody can read
        return False
    return newest is not None and not newest.head.deleted

"""Deletes sessions: a deletion by a person, the second erasure after it, and retention (docs/design/log.md 37; ADR 44,
86).

The end of a session is committed first, then its items, index entry and blobs are removed. A worker may store a text
after the deletion and die before it learns of it, and nobody else would ever look there again. So the end comes with a
note that the session is to be erased once more. By then no worker lives that began before the deletion, so what one of
them stored late, and what a deletion that was cut short left, is erased for good.

Retention looks through all that is stored once a day, a part of it each minute. So nothing has to be noted beforehand:
what ended before the deployment had such a rule is found, too. A session is deleted as a person would delete it.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from acta.engine.errors import Conflict, Fenced, PoisonedSession, SessionHidden, SessionNotFound, TreeBusy
from acta.engine.log.beside import BlobStore
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.log.store import (
    Erasure,
    FailedPage,
    LivePage,
    LiveSession,
    SessionIndex,
    SessionLog,
    SessionName,
)
from acta.engine.people.requester import Requester
from acta.engine.recovery.recover import align, end_engine
from acta.engine.recovery.store import EndedPlace
from acta.engine.sessions.control import cancel
from acta.engine.turn.engine import Workflow

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.app import App
    from acta.engine.subagents.family import Family


def delete(
    repository: SessionRepository,
    workflow: Workflow,
    log: SessionLog,
    index: SessionIndex,
    blobs: BlobStore,
    requester: Requester,
    session_id: str,
    family: "Callable[[], Family] | None" = None,
) -> None:
    """Cancels the run if needed, commits that the session is deleted, then removes every item and blob, and all
    sessions below. Its parent is told of the cancel first.

    A deletion that was cut short is finished by repeating it, or by `erase_again`. `family`: what the sessions above
    and below need; None: all of them are deleted, too. Raises SessionNotFound, TreeBusy, and what the stores and the
    engine raise; then nothing has been removed of a session whose end is not in its log.
    """
    until = repository.clock.now() + timedelta(seconds=REQUEST_SECONDS)

    def time_is_left() -> bool:
        return repository.clock.now() < until

    try:
        session = repository.newest(requester.tenant, session_id)
        _end(repository, workflow, requester, session, family)
        for change in repository.attempts(session, f"delete/{repository.clock.new_id('evt')}"):
            change.set(deleted=True)
            change.commit()
    except (PoisonedSession, Fenced):
        # No readable head, or deleted by somebody else: a session without a log stops its workers as well.
        _check_whose(log, index, requester.tenant, session_id)
        log.note_erasure(Erasure(requester.tenant, session_id, repository.clock.now()))
    except SessionHidden:
        raise  # it is there, and not theirs to delete
    except SessionNotFound:
        erase(log, blobs, requester.tenant, session_id, repository.clock.now(), time_is_left)
        raise
    erase(log, blobs, requester.tenant, session_id, repository.clock.now(), time_is_left)


REQUEST_SECONDS = 20.0
"""What a request may take for the sessions below the one that it deletes."""


def _check_whose(log: SessionLog, index: SessionIndex, tenant: str, session_id: str) -> None:
    """Raises SessionHidden for who may not delete a session whose newest commit does not say whose it is."""
    try:
        log.read(tenant, session_id, since=1, limit=1)  # its first commit says it, too
    except PoisonedSession:
        index.check_listed(tenant, session_id)


def _end(
    repository: SessionRepository,
    workflow: Workflow,
    requester: Requester,
    session: Session,
    family: "Callable[[], Family] | None",
) -> None:
    """Stops the execution, which nobody can find once the session is deleted: it might wait for a person for a year.

    It is stopped even where the run has ended, because whoever ended it may have died before stopping it.
    """
    head = session.head
    if head.coarse_state in ("active", "waiting_for_user"):
        # what a child has used is its parent's to pay
        bill = family().attempts if family is not None and head.parent is not None else None
        asked = requester._replace(key=None)
        with suppress(Conflict):  # the run has ended meanwhile
            cancel(repository, workflow, asked, head.session_id, bill, family=family)
    elif head.run is not None:
        align(session, family)
        end_engine(repository, workflow, head, head.run)


Entry = TypeVar("Entry")
Listed = TypeVar("Listed", covariant=True)


class ListingPage(Protocol[Listed]):
    @property
    def sessions(self) -> Sequence[Listed]: ...
    @property
    def cursor(self) -> str | None: ...


class WalkEnd(NamedTuple):
    cursor: str | None
    """Of the page at which to go on; None: of the first."""
    at_end: bool
    """Whether the listing's last page was gone through."""


def walk(
    page_at: Callable[[str | None], ListingPage[Entry]],
    visit: Callable[[Entry], None],
    cursor: str | None,
    time_is_left: Callable[[], bool],
) -> WalkEnd:
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
                return WalkEnd(cursor, at_end=False)
            visit(entry)
        cursor = page.cursor
        if cursor is None:
            return WalkEnd(None, at_end=True)
    return WalkEnd(cursor, at_end=False)


PAGE = 100
TimeIsLeft = Callable[[], bool]
"""Whether another page can be read, or another session erased."""
Failed = Callable[[str, Exception], None]
"""Is called with the id and the error of a session that could not be erased."""


class ErasureProgress(NamedTuple):
    sessions: int
    """That were erased for good."""
    cursor: str | None
    """Where the next call goes on; None: at the oldest note."""


def erase(
    log: SessionLog,
    blobs: BlobStore,
    tenant: str,
    session_id: str,
    now: datetime,
    time_is_left: Callable[[], bool] = lambda: True,
) -> None:
    """Removes every item and blob of a session whose end is in its log, or that has none, and of all sessions below. A
    session without a log stops its workers as well. It may be repeated. Raises TreeBusy where there is no time for all.
    """
    for child in log.children(tenant, session_id):
        if not time_is_left():
            raise TreeBusy("Sessions below this one are still being deleted. Send the request again.")
        log.note_erasure(Erasure(tenant, child, now))
        erase(log, blobs, tenant, child, now, time_is_left)
    log.delete(tenant, session_id)
    blobs.delete_all(tenant, session_id)


def erase_again(
    app: "App", time_is_left: TimeIsLeft, failed: Failed, cursor: str | None = None
) -> ErasureProgress:
    """Erases the sessions of which no worker can be at work any more that began before their deletion. What failed, or
    was left for lack of time, is still noted. An error of one session does not stop the others. Raises what the index
    raises.
    """
    log = app.log
    before = app.clock.now() - timedelta(seconds=app.settings.erase_again_seconds)
    erased = 0

    def page(cursor: str | None) -> LivePage:
        return app.session_index.erasures(before=before, limit=PAGE, cursor=cursor)

    def erase_one(session: LiveSession) -> None:
        nonlocal erased
        try:
            lives = _lives(log, session)
            if not lives:
                erase(log, app.blobs, session.tenant, session.session_id, app.clock.now())
            log.end_erasure(session.tenant, session.session_id)
        except Exception as error:  # whatever it is, it is this session's alone
            failed(session.session_id, error)
        else:
            erased += not lives

    stopped = walk(page, erase_one, cursor, time_is_left)
    return ErasureProgress(erased, stopped.cursor)


def _lives(log: SessionLog, session: LiveSession) -> bool:
    """Whether the note is older than the session. A start notes its texts before its first commit, which takes the note
    back. If AWS writes the note a second time after that commit, the note names a session that is at work.
    """
    try:
        newest = log.latest(session.tenant, session.session_id)
    except PoisonedSession:  # somebody has deleted what nobody can read
        return False
    return newest is not None and not newest.head.deleted


PARTS = 1_440
"""Minutes of a day. Each minute has a part to look through."""
ENDED_PAGE = 1_000


class DeletionProgress(NamedTuple):
    sessions: int
    place: EndedPlace | None
    """Where the next call goes on; None: at the part of its minute."""


def delete_ended(
    app: "App", time_is_left: TimeIsLeft, failed: Failed, place: EndedPlace | None = None
) -> DeletionProgress:
    """Deletes the sessions that ended longer ago than the deployment keeps them (`ended_sessions_days`). Looks through
    the parts of all minutes since the last call, from where that one stopped. An error of one session does not stop the
    others. Raises what the index raises.
    """
    days = app.settings.ended_sessions_days
    if not days:
        return DeletionProgress(0, None)
    now, deleted = app.clock.now(), 0
    this_minute = int(now.timestamp() // 60)
    minute, cursor = place or EndedPlace(this_minute)
    if minute < this_minute:  # after more than a day a part is due once, not once for each day
        minute += (this_minute - minute) // PARTS * PARTS

    def delete_one(session: SessionName) -> None:
        nonlocal deleted
        try:
            deleted += _delete(app, session, now - timedelta(days=days))
        except (SessionNotFound, Fenced):  # deleted meanwhile
            pass
        except Exception as error:  # whatever it is, it is this session's alone
            failed(session.session_id, error)

    while minute <= this_minute:
        stopped = walk(_pages(app.session_index, minute % PARTS), delete_one, cursor, time_is_left)
        if not stopped.at_end:
            return DeletionProgress(deleted, EndedPlace(minute, stopped.cursor))
        minute, cursor = minute + 1, None
    return DeletionProgress(deleted, EndedPlace(minute))


def _pages(index: SessionIndex, part: int) -> Callable[[str | None], FailedPage]:
    return lambda cursor: index.ended(part=part, parts=PARTS, limit=ENDED_PAGE, cursor=cursor)


def _delete(app: "App", name: SessionName, before: datetime) -> int:
    """Deletes the session, unless somebody has just written to it: each attempt looks at the newest head. One that has
    worked for another session goes with that one.
    """
    session = app.repository.newest(*name)
    parent = session.head.parent
    if parent is not None and app.log.latest(name.tenant, parent.session_id) is not None:
        return 0
    for change in app.repository.attempts(session, f"delete/{app.clock.new_id('evt')}"):
        head = change.head
        if not head.is_over or head.owes_family or head.updated_at >= before:
            return 0
        change.set(deleted=True)
        change.commit()
    erase(app.log, app.blobs, *name, app.clock.now())
    return 1

"""Deletes a session: its end is committed first, then its items, index entry and blobs are removed (design §6.1).

With its end goes a note that it is to be erased once more. By then no worker lives that began before the deletion, so
what one of them stored late, and what a deletion that was cut short left, is erased for good (ADR 44).
"""

from contextlib import suppress

from acta_engine.errors import Conflict, Fenced, PoisonedSession, SessionHidden, SessionNotFound
from acta_engine.log.head import Head
from acta_engine.log.repository import SessionRepository
from acta_engine.log.store import Erasure, SessionIndex, SessionLog
from acta_engine.log.texts import BlobStore
from acta_engine.recovery.recover import end_engine
from acta_engine.sessions.control import cancel
from acta_engine.sessions.erasure import erase
from acta_engine.sessions.requester import Requester
from acta_engine.turn.workflow import Workflow


def delete(
    repository: SessionRepository,
    workflow: Workflow,
    log: SessionLog,
    index: SessionIndex,
    blobs: BlobStore,
    requester: Requester,
    session_id: str,
) -> None:
    """Cancels the run if needed, commits that the session is deleted, then removes every item and blob.

    A deletion that was cut short is finished by repeating it, or by `erase_again`. Raises SessionNotFound, and what the
    stores and the engine raise; then nothing has been removed of a session whose end is not in its log.
    """
    try:
        session = repository.newest(requester.tenant, session_id)
        _end(repository, workflow, requester, session.head)
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
        erase(log, blobs, requester.tenant, session_id)
        raise
    erase(log, blobs, requester.tenant, session_id)


def _check_whose(log: SessionLog, index: SessionIndex, tenant: str, session_id: str) -> None:
    """Raises SessionHidden for who may not delete a session whose newest commit does not say whose it is."""
    try:
        log.read(tenant, session_id, since=1, limit=1)  # its first commit says it, too
    except PoisonedSession:
        index.check_listed(tenant, session_id)


def _end(repository: SessionRepository, workflow: Workflow, requester: Requester, head: Head) -> None:
    """Stops the execution, which nobody can find once the session is deleted: it might wait for a person for a year.

    It is stopped even where the run has ended, because whoever ended it may have died before stopping it.
    """
    if head.coarse_state in ("active", "waiting_for_user"):
        with suppress(Conflict):  # the run has ended meanwhile
            cancel(repository, workflow, requester._replace(key=None), head.session_id)
    elif head.run is not None:
        end_engine(repository, workflow, head, head.run)

"""Pause, resume, cancel and delete. Each is a commit, and workers that come later find it in the log (design §6.4)."""

from collections.abc import Set
from contextlib import suppress
from typing import NamedTuple

from shared.agent.interventions.effects import settle
from shared.agent.interventions.expiry import commit_in_time
from shared.agent.interventions.opening import AskingRules, open_question, wait_for_people
from shared.agent.recovery.recover import wake_engine
from shared.agent.session.endings import cancelled
from shared.agent.session.repository import CommitDraft, Record, SessionRepository
from shared.agent.session.session import Session
from shared.domain.errors import Conflict, Fenced, PoisonedSession, SessionNotFound
from shared.domain.interventions.intervention import (
    NO_POLICIES,
    NOBODY,
    has_outlasted,
    is_pause,
    outlasting,
    require_role,
)
from shared.domain.session.change import Change
from shared.domain.session.head import Head
from shared.ports.blobs import BlobStore
from shared.ports.log import SessionLog
from shared.ports.workflow import Workflow

PAUSE = "Paused."


class Cancelled(NamedTuple):
    """`in_flight`: ids of calls that had started before the cancel and may still act."""

    head: Head
    in_flight: tuple[str, ...]

    @classmethod
    def of(cls, head: Head) -> "Cancelled":
        return cls(head, tuple(call.call_id for call in head.calls if call.state == "started"))


def pause(
    repository: SessionRepository, tenant: str, session_id: str, by: str, record: Record = None
) -> Head:
    """Opens a checkpoint review without a deadline; a paused session stays as it is. Raises Conflict where nothing
    runs.
    """
    session = repository.newest(tenant, session_id)
    rules = AskingRules(repository.clock, NO_POLICIES)

    def build(_: Session, change: Change) -> CommitDraft | None:
        if any(map(is_pause, change.head.interventions)):
            return None
        if change.head.is_over or change.head.state == "idle":
            raise Conflict(f"The session is {change.head.state}; there is nothing to pause.")
        open_question(change, "checkpoint_review", PAUSE, rules, asked_by="person", requested_by=by)
        wait_for_people(change)
        return CommitDraft(change, record=record)

    repository.commit(session, f"pause/{repository.clock.new_id('evt')}", build)
    return session.head


def resume(
    repository: SessionRepository,
    workflow: Workflow,
    tenant: str,
    session_id: str,
    by: str,
    record: Record = None,
    roles: Set[str] = NOBODY,
) -> Head:
    """Ends the pause with `continue`; where there is none, the review that the agent asked for.

    Raises Conflict where the session is neither paused nor running, or where its pause was lifted before and a review
    is still open; RoleMissing where that review needs a role that is not among `roles`.
    """
    session = repository.newest(tenant, session_id)

    def build(_: Session, change: Change) -> CommitDraft | None:
        reviews = [one for one in change.head.interventions if one.type == "checkpoint_review"]
        ended = next(filter(is_pause, reviews), reviews[0] if reviews else None)
        if ended is not None:
            require_role(ended, roles)
            if has_outlasted(ended):
                raise Conflict("It is not paused any more. A review is open: decide on it by itself.")
            settle(change, ended, "continue", {}, by=by)
            if is_pause(ended):
                for review in (one for one in reviews if one is not ended):
                    change.replace_intervention(outlasting(review))
            return CommitDraft(change, record=record)
        if change.head.coarse_state == "active":
            return None
        raise Conflict(f"The session is {change.head.state}, not paused.")

    def wake() -> None:
        wake_engine(repository, workflow, session)

    commit_in_time(repository, session, f"resume/{repository.clock.new_id('evt')}", build, on_expired=wake)
    wake()
    return session.head


def cancel(
    repository: SessionRepository,
    workflow: Workflow,
    tenant: str,
    session_id: str,
    by: str,
    record: Record = None,
) -> Cancelled:
    """Once this has returned no call with an effect starts any more. Raises Conflict where the run has ended
    otherwise.
    """
    session = repository.newest(tenant, session_id)

    def build(_: Session, change: Change) -> CommitDraft | None:
        if change.head.state == "cancelled":
            return None
        if change.head.is_over:
            raise Conflict(f"The session is {change.head.state} already.")
        cancelled(change, by)
        return CommitDraft(change, record=record)

    repository.commit(session, f"cancel/{repository.clock.new_id('evt')}", build)
    run = session.head.run
    if run is not None:
        workflow.stop(
            session_id, run.run_id, run.generation
        )  # for tidiness; the commit above is what cancels
    return Cancelled.of(session.head)


def delete(
    repository: SessionRepository,
    workflow: Workflow,
    log: SessionLog,
    blobs: BlobStore,
    tenant: str,
    session_id: str,
    by: str,
) -> None:
    """Cancels the run if needed, commits that the session is deleted, then removes every item and blob.

    A deletion that was cut short is finished by repeating it. Raises SessionNotFound, and what the stores and the
    engine raise; then nothing has been removed of a session whose end is not in its log.
    """
    try:
        session = repository.newest(tenant, session_id)
        _end(repository, workflow, session.head, by)
        repository.commit(session, f"delete/{repository.clock.new_id('evt')}", _deleted)
    except (PoisonedSession, Fenced):
        pass  # no readable head, or deleted by somebody else: a session without a log stops its workers as well
    except SessionNotFound:
        _remove(log, blobs, tenant, session_id)
        raise
    _remove(log, blobs, tenant, session_id)


def _end(repository: SessionRepository, workflow: Workflow, head: Head, by: str) -> None:
    """Stops the execution, which nobody can find once the session is deleted: it might wait for a person for a year.

    It is stopped even where the run has ended, because whoever ended it may have died before stopping it.
    """
    if head.coarse_state in ("active", "waiting_for_user"):
        with suppress(Conflict):  # the run has ended meanwhile
            cancel(repository, workflow, head.tenant, head.session_id, by)
    elif head.run is not None:
        workflow.stop(head.session_id, head.run.run_id, head.run.generation)


def _remove(log: SessionLog, blobs: BlobStore, tenant: str, session_id: str) -> None:
    log.delete(tenant, session_id)
    blobs.delete_all(tenant, session_id)


def _deleted(_: Session, change: Change) -> CommitDraft:
    change.set(deleted=True)
    return CommitDraft(change)

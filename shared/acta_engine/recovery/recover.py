"""A session goes on from its log when its execution is gone or was never started (design §2).

The log alone says where. An execution that never began is started as it was decided. One that has closed is followed by
the next generation, which is committed before it is started. One that waits for a token that nobody sent gets it.

The engine tells of an execution that ends before its run (`recover_ended`). What it does not tell, or what fails then,
the next sweep finds.
"""

from datetime import datetime, timedelta
from typing import Literal, get_args

from acta_engine.errors import Conflict, Fenced, SessionNotFound
from acta_engine.log.change import Change
from acta_engine.log.commit import Decision
from acta_engine.log.head import Head, Restarts, Run
from acta_engine.log.repository import CommitDraft, SessionRepository
from acta_engine.log.session import Session
from acta_engine.log.store import LiveKind, SessionIndex, live_shard
from acta_engine.recovery.outage import DEFAULT_LIMITS, OutageLimits
from acta_engine.recovery.restart import begin_next_generation, restart
from acta_engine.turn.endings import leaves_work
from acta_engine.turn.engine_decision import (
    is_due,
    is_overtaken,
    next_decision,
    next_turn_kind,
    position,
)
from acta_engine.turn.workflow import EndedExecution, TokenGone, Workflow

REPAIRABLE = ("STEP_FAILED", "PROVIDER_")
"""Codes, or beginnings of codes, of failures that lie outside of the session: another try may succeed."""
REPAIRED = "repaired"
UNLISTED_UNTIL = timedelta(seconds=60)
"""The engine's list may be so old. Where it is older the session's execution is fenced, and a turn made twice."""

RecoveryResult = Literal["nothing", "started", "restarted", "woken"]


def recover(
    repository: SessionRepository,
    workflow: Workflow,
    tenant: str,
    session_id: str,
    ended: EndedExecution | None = None,
    limits: OutageLimits = DEFAULT_LIMITS,
    warn: float = 0.0,
    *,
    listed_at: datetime | None = None,
) -> RecoveryResult:
    """Starts, restarts or wakes the session's engine where that is needed. Raises SessionNotFound, and what the stores
    raise.

    `ended`: an execution that is known to be closed, while the engine may still tell its last status. `limits`: as in
    `restart`. `warn`: seconds before its expiry at which a question is warned of. `listed_at`: when the engine listed
    all executions that run, and none was the session's.
    """
    session = repository.newest(tenant, session_id)
    run = session.head.run
    if run is None or session.head.is_over or session.head.state == "idle":
        return "nothing"
    if run.parked and not is_due(session.head, repository.clock.now(), warn):
        return "nothing"
    if ended is not None and (ended.run_id, ended.generation) == (run.run_id, run.generation):
        return restart(repository, workflow, session, limits)
    if listed_at is not None:
        unlisted = _unlisted(repository, workflow, session, listed_at, limits)
        if unlisted is not None:
            return unlisted
    match workflow.status(session_id, run.run_id, run.generation):
        case "running":
            return "woken" if _send_token(repository, workflow, session.head) else "nothing"
        case "absent" if workflow.start(next_decision(session.head, repository.clock.now())):
            return "started"
        case _:  # closed, or absent a moment ago and closed by now
            return restart(repository, workflow, session, limits)


def _unlisted(
    repository: SessionRepository,
    workflow: Workflow,
    session: Session,
    listed_at: datetime,
    limits: OutageLimits,
) -> RecoveryResult | None:
    """Goes on with a session that is in no list of running executions, without asking for its execution: a status may
    be asked for far more seldom than an execution may be started (ADR 108). None: it has to be asked for.

    An execution of a head that is that old would be in the list. That of a younger one is perhaps about to start, or
    its start was throttled, and a parked one has none yet: to start it says whether it has closed, too.
    """
    run = session.head.run
    is_parked = run is not None and run.parked
    if session.head.updated_at < listed_at - UNLISTED_UNTIL and not is_parked:
        return restart(repository, workflow, session, limits)
    if session.head.wait is not None:
        return None
    if workflow.start(next_decision(session.head, repository.clock.now())):
        return "started"
    return restart(repository, workflow, session, limits)


def repair(
    repository: SessionRepository,
    workflow: Workflow,
    tenant: str,
    session_id: str,
    limits: OutageLimits = DEFAULT_LIMITS,
) -> RecoveryResult:
    """Tries a failed run again, or recovers one that stands still; an operator asks for it.

    Raises SessionNotFound, and Conflict where the run failed for a reason that another try does not change.
    """
    session = repository.newest(tenant, session_id)
    if session.head.state != "failed":
        return recover(repository, workflow, tenant, session_id, limits=limits)
    at = position(session.head)
    key = at.key("repair")

    def build(_: Session, change: Change) -> CommitDraft | None:
        head, run = change.head, change.head.run
        if run is None or head.state != "failed" or is_overtaken(head, at):
            return None
        if not is_repairable(head):
            code = head.error.code if head.error is not None else ""
            raise Conflict(f"The session failed with {code}, which a repair does not change.")
        progress = head.progress.model_copy(update={"planning_attempts": 0})
        change.set(error=None, progress=progress)
        begin_next_generation(change, run, Restarts())
        decision = _again(change.head)
        change.to_state("planning" if decision.next == "plan" else "executing", REPAIRED)
        return CommitDraft(change, decision)

    done = repository.commit(session, key, build)
    if done is None or done.decision is None:  # somebody else has moved the session on
        return "nothing"
    workflow.start(done.decision)
    return "restarted"


def is_repairable(head: Head) -> bool:
    """Whether the run failed for a reason that lies outside of it."""
    return head.state == "failed" and head.error is not None and head.error.code.startswith(REPAIRABLE)


def wake_engine(repository: SessionRepository, workflow: Workflow, session: Session) -> None:
    """Wakes the engine where it waits and nothing is open any more, and stops it where the run is over. May be
    repeated.

    An engine that is gone is followed by the next generation at once. One that is just about to ask again finds nothing
    open and goes on by itself.
    """
    head, run = session.head, session.head.run
    if run is None or head.interventions:
        return
    if head.is_over:
        end_engine(repository, workflow, head, run)
    elif run.parked:
        now = repository.clock.now()
        if is_due(head, now) and not workflow.start(next_decision(head, now)):
            restart(repository, workflow, session)
    elif head.wait is None and head.delay is not None and head.delay.until is None:
        # `try_now` has begun this generation, or an earlier one: then starting it again is harmless.
        workflow.stop(head.session_id, run.run_id, run.generation - 1)
        if not workflow.start(next_decision(head, repository.clock.now())):
            restart(repository, workflow, session)
    elif (
        not _send_token(repository, workflow, head)
        and workflow.status(head.session_id, run.run_id, run.generation) == "closed"
    ):
        restart(repository, workflow, session)


def end_engine(repository: SessionRepository, workflow: Workflow, head: Head, run: Run) -> None:
    """Stops the engine of a run that is over. Where the provider still makes an answer, or a server works on a call,
    another execution is started, which has the keys to end that (`shared/acta_engine/turn/endings.py` has given it a
    generation). May be repeated.
    """
    if not leaves_work(head):
        workflow.stop(head.session_id, run.run_id, run.generation)
        return
    workflow.stop(head.session_id, run.run_id, run.generation - 1)
    workflow.start(next_decision(head, repository.clock.now()))


def _send_token(repository: SessionRepository, workflow: Workflow, head: Head) -> bool:
    """Sends the stored task token. Returns whether an execution waited for it."""
    if head.wait is None or head.interventions:
        return False
    try:
        workflow.wake(head.wait.token, next_decision(head, repository.clock.now()))
    except TokenGone:
        return False
    return True


def _again(head: Head) -> Decision:
    """Where a repaired run goes on. Its calls were dropped when it failed, so with its plan, or with a new one."""
    return Decision(next=next_turn_kind(head), at=position(head))


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
        cursor: str | None = None
        while True:
            page = session_index.live(kind, live_shard(session_id), before=None, limit=PAGE, cursor=cursor)
            for session in page.sessions:
                if session.session_id == session_id:
                    return session.tenant
            cursor = page.cursor
            if cursor is None:
                break
    return None

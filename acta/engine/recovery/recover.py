"""A session goes on from its log when its execution is gone or was never started (docs/design/recovery.md 18).

The log alone says where. An execution that never began is started as it was decided. One that has closed is followed by
the next generation. One that waits for a token that nobody sent gets it. The engine tells of an execution that ends
before its run (`recover_ended`). What it does not tell, or what fails then, the next sweep finds.

Each execution is a generation of its run. The generation is committed first, then its execution is started, so of two
executions only one can commit. A run also moves to its next generation where its history is long (`or_roll_over` in
`acta/engine/turn/engine.py`). Where executions are lost again and again, the session waits first.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, get_args

from acta.engine.errors import Fenced, SessionNotFound
from acta.engine.log.commit import Change, Position
from acta.engine.log.head import Head, Restarts, Run
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.log.store import LiveKind, SessionIndex, live_shard
from acta.engine.recovery.outage import DEFAULT_LIMITS, EXECUTION_LOST, OutageLimits, failed_again
from acta.engine.turn.endings import leaves_work
from acta.engine.turn.engine import (
    EndedExecution,
    TokenGone,
    Workflow,
    check_run,
    is_due,
    is_overtaken,
    next_decision,
    outage_wait,
    position,
)

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.subagents.family import Family

MOST_RESTARTS = 5
"""Restarts of one turn at once. Something ends its engine each time, so before each further one there is a pause."""

RestartResult = Literal["nothing", "restarted"]
"""`nothing`: the session has moved on or is deleted."""
UNLISTED_UNTIL = timedelta(seconds=60)
"""How old the engine's list may be. If it is older, a live execution is fenced and a turn is made twice."""

RecoveryResult = Literal["nothing", "started", "restarted", "woken"]
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
    is_over = session.head.is_over and not session.head.owes_family
    if run is None or is_over or session.head.state == "idle":
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

    The execution of a head that is that much older than the list would be in it. That of a younger head may be about to
    start, or its start was throttled; a parked session has none yet. A start also shows whether it has closed.
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


def _send_token(repository: SessionRepository, workflow: Workflow, head: Head) -> bool:
    """Sends the stored task token. Returns whether an execution waited for it."""
    if head.wait is None or (head.interventions and not head.owes_family):
        return False
    try:
        workflow.wake(head.wait.token, next_decision(head, repository.clock.now()))
    except TokenGone:
        return False
    return True


def restart(
    repository: SessionRepository, workflow: Workflow, session: Session, limits: OutageLimits = DEFAULT_LIMITS
) -> RestartResult:
    """Starts the next generation of a session whose execution has closed.

    A last commit of that execution, a roll-over or another recovery may have come since the head was read. The commit
    is made only where none has.

    `limits`: of the pause before one restart too many; whether a person is asked after it is the next turn's to say
    (`asks_after_waiting` in `acta/engine/recovery/wait_out.py`).
    """
    at = position(session.head)
    key = at.key("revive")
    try:
        for change in repository.attempts(session, key):
            run = change.head.run
            is_over = change.head.is_over and not change.head.owes_family
            if run is None or is_over or is_overtaken(change.head, at):
                return "nothing"  # the session has moved on
            restarts = _counted(change, run)
            begin_next_generation(change, run, restarts)
            if restarts.count > MOST_RESTARTS and not change.head.is_over:
                head, now = change.head, change.now
                outage = failed_again(head.outage, EXECUTION_LOST, now)
                change.set(outage=outage)
                change.begin_wait(outage.pause(head.session_id, now, limits))
                change.commit(outage_wait(change.head, now))
            else:
                change.commit(next_decision(change.head, change.now))
        decision = session.decided(key)
    except Fenced:  # the session was deleted
        return "nothing"
    workflow.start(decision)
    return "restarted"


def _counted(change: Change, run: Run) -> Restarts:
    """The restarts of this turn, this one included. A wait for people whose time is not over is not counted: it may
    outlast many restarts of what the engine runs on.
    """
    open_ones = change.head.interventions
    if open_ones and all(one.timeout_at is None or one.timeout_at > change.now for one in open_ones):
        return run.restarts
    before = run.restarts.count if run.restarts.turn == run.turn else 0
    return Restarts(turn=run.turn, count=before + 1)


def begin_next_generation(change: Change, run: Run, restarts: Restarts, *, parked: bool = False) -> None:
    """Sets the head to the run's next generation: its execution has no events yet and waits for nobody. `restarts`: the
    turn's, this one included where it is one. `parked`: nobody starts that execution yet.
    """
    following = {"generation": run.generation + 1, "events": 0, "restarts": restarts, "parked": parked}
    change.set(run=run.model_copy(update=following), wait=None)


def roll_over(repository: SessionRepository, workflow: Workflow, at: Position) -> None:
    """Commits the next generation, then starts its execution. A repeated call only starts it again.

    A run that has ended gets none. Raises Fenced where another run or generation has the session.
    """
    session = repository.turn(at)
    key = at.key("roll_over")
    for change in repository.attempts(session, key):
        check_run(change.head, at)
        run = change.head.run
        if run is None or change.head.is_over:
            return
        begin_next_generation(change, run, run.restarts)
        change.commit(next_decision(change.head, change.now))
    workflow.start(session.decided(key))


def is_waiting(head: Head, now: datetime) -> bool:
    """Whether the engine waits for the next try, and for nobody's decision."""
    return head.coarse_state == "active" and head.delay_at(now) is not None


def try_now(change: Change, *, admitted: bool = False) -> None:
    """Ends the present wait before its time. `admitted`: as in `Delay`.

    The execution that waits cannot be woken, so the next generation goes on. One that waits for people is woken by its
    token, and one that still runs other calls comes to the lost ones by itself.
    """
    head, run = change.head, change.head.run
    if head.delay is None or run is None:
        return
    if head.delay_at(change.now) and head.wait is None and not _runs_calls(head):
        begin_next_generation(change, run, Restarts())
    change.end_wait(
        head.delay.model_copy(update={"until": None, "admitted": admitted or head.delay.admitted})
    )


def _runs_calls(head: Head) -> bool:
    """Whether the execution may still run calls beside those that wait."""
    lost = head.outage.lost_calls if head.outage is not None else ()
    return bool(lost) and any(
        call.state == "started" and call.task is None and call.call_id not in lost
        for call in head.unfinished_calls
    )


def decide_to_go_on(change: Change) -> None:
    """Somebody has decided that the session goes on: its patience with what has failed begins again."""
    if change.head.outage is not None:
        change.set(outage=change.head.outage.decided(change.now))


def wake_again(repository: SessionRepository, workflow: Workflow, tenant: str, session_id: str) -> bool:
    """For a repeated request: the worker that answered first may have died after its commit and before it woke the
    engine. False: the session was deleted meanwhile.
    """
    with suppress(SessionNotFound):
        wake_engine(repository, workflow, repository.newest(tenant, session_id))
        return True
    return False


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


def align(session: Session, family: "Callable[[], Family] | None") -> None:
    """Has the sessions below follow this one, in the time that a request has. `family`: what they need; None: there are
    none. Raises TreeBusy, and what the stores and the engine raise; then the request is to be repeated.
    """
    if family is not None and (session.head.children_at_work or session.head.owes_family):
        from acta.engine.subagents import control  # few sessions have a family

        control.align(family(), session, control.REQUEST_SECONDS)


def end_engine(repository: SessionRepository, workflow: Workflow, head: Head, run: Run) -> None:
    """Stops the engine of a run that is over. Where the provider still makes an answer, or a server works on a call,
    another execution is started, which has the keys to end that (`acta/engine/turn/endings.py` has given it a
    generation). May be repeated.
    """
    if not leaves_work(head):
        workflow.stop(head.session_id, run.run_id, run.generation)
        return
    workflow.stop(head.session_id, run.run_id, run.generation - 1)
    workflow.start(next_decision(head, repository.clock.now()))

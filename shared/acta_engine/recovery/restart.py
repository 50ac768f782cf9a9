"""A run goes on in the next Step Functions execution: because the one before was lost, or because its history is long
(`or_roll_over` in `shared/acta_engine/turn/next_turn.py`). Where executions are lost again and again it waits first.

Each execution is a generation. The generation is committed first, then its execution is started, so of two only one can
commit.
"""

from datetime import datetime
from typing import Literal

from acta_engine.errors import Fenced
from acta_engine.log.change import Change
from acta_engine.log.commit import Position
from acta_engine.log.head import Head, Restarts, Run
from acta_engine.log.repository import CommitDraft, SessionRepository
from acta_engine.log.session import Session
from acta_engine.recovery.outage import DEFAULT_LIMITS, OutageLimits, failed_again
from acta_engine.recovery.outage_causes import EXECUTION_LOST
from acta_engine.turn.engine_decision import (
    check_run,
    is_overtaken,
    next_decision,
    outage_wait,
    position,
)
from acta_engine.turn.workflow import Workflow

MOST_RESTARTS = 5
"""Restarts of one turn at once. Something ends its engine each time, so before each further one there is a pause."""

RestartResult = Literal["nothing", "restarted"]
"""`nothing`: the session has moved on or is deleted."""


def restart(
    repository: SessionRepository, workflow: Workflow, session: Session, limits: OutageLimits = DEFAULT_LIMITS
) -> RestartResult:
    """Starts the next generation of a session whose execution has closed.

    A last commit of that execution, a roll-over or another recovery may have come since the head was read. The commit
    is made only where none has.

    `limits`: of the pause before one restart too many; whether a person is asked after it is the next turn's to say
    (`asks_after_waiting` in `shared/acta_engine/recovery/wait_out.py`).
    """
    at = position(session.head)
    key = at.key("revive")

    def build(_: Session, change: Change) -> CommitDraft | None:
        run = change.head.run
        if run is None or change.head.is_over or is_overtaken(change.head, at):
            return None
        restarts = _counted(change, run)
        begin_next_generation(change, run, restarts)
        if restarts.count > MOST_RESTARTS:
            head, now = change.head, change.now
            outage = failed_again(head.outage, EXECUTION_LOST, now)
            change.set(outage=outage)
            change.begin_wait(outage.pause(head.session_id, now, limits))
            return CommitDraft(change, outage_wait(change.head, now))
        return CommitDraft(change, next_decision(change.head, change.now))

    try:
        done = repository.commit(session, key, build)
    except Fenced:  # deleted
        return "nothing"
    if done is None or done.decision is None:  # the session has moved on
        return "nothing"
    workflow.start(done.decision)
    return "restarted"


def begin_next_generation(change: Change, run: Run, restarts: Restarts, *, parked: bool = False) -> None:
    """Sets the head to the run's next generation: its execution has no events yet and waits for nobody. `restarts`: the
    turn's, this one included where it is one. `parked`: nobody starts that execution yet.
    """
    following = {"generation": run.generation + 1, "events": 0, "restarts": restarts, "parked": parked}
    change.set(run=run.model_copy(update=following), wait=None)


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


def decide_to_go_on(change: Change) -> None:
    """Somebody has decided that the session goes on: its patience with what has failed begins again."""
    if change.head.outage is not None:
        change.set(outage=change.head.outage.decided(change.now))


def _runs_calls(head: Head) -> bool:
    """Whether the execution may still run calls beside those that wait."""
    lost = head.outage.lost_calls if head.outage is not None else ()
    return bool(lost) and any(
        call.state == "started" and call.task is None and call.call_id not in lost
        for call in head.unfinished_calls
    )


def _counted(change: Change, run: Run) -> Restarts:
    """The restarts of this turn, this one included. A wait for people whose time is not over is not counted: it may
    outlast many restarts of what the engine runs on.
    """
    open_ones = change.head.interventions
    if open_ones and all(one.timeout_at is None or one.timeout_at > change.now for one in open_ones):
        return run.restarts
    before = run.restarts.count if run.restarts.turn == run.turn else 0
    return Restarts(turn=run.turn, count=before + 1)


def roll_over(repository: SessionRepository, workflow: Workflow, at: Position) -> None:
    """Commits the next generation, then starts its execution. A repeated call only starts it again.

    A run that has ended gets none. Raises Fenced where another run or generation has the session.
    """
    session = repository.turn(at)
    key = at.key("roll_over")

    def build(_: Session, change: Change) -> CommitDraft | None:
        check_run(change.head, at)
        run = change.head.run
        if run is None or change.head.is_over:
            return None
        begin_next_generation(change, run, run.restarts)
        return CommitDraft(change, next_decision(change.head, change.now))

    done = repository.commit(session, key, build)
    if done is not None and done.decision is not None:
        workflow.start(done.decision)

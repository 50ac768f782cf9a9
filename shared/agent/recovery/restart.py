"""A run whose Step Functions execution was lost goes on in the next one, a bounded number of times.

Each execution is a generation. The generation is committed first, then its execution is started, so of two only one can
commit.
"""

from typing import Literal

from shared.agent.session.endings import failed
from shared.agent.session.engine_decision import next_decision, position
from shared.agent.session.fencing import is_overtaken
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.errors import Fenced
from shared.domain.session.change import Change
from shared.domain.session.head import Restarts, Run
from shared.ports.workflow import Workflow

MOST_RESTARTS = 5
"""Restarts of one turn before the run fails: something about this session ends its engine each time."""
EXHAUSTED = "RECOVERY_EXHAUSTED"

RestartResult = Literal["nothing", "restarted", "failed"]
"""`nothing`: the session has moved on or is deleted. `failed`: the run was restarted too often and has been given
up.
"""


def restart(repository: SessionRepository, workflow: Workflow, session: Session) -> RestartResult:
    """Starts the next generation of a session whose execution has closed.

    A last commit of that execution, a roll-over or another recovery may have come since the head was read. The commit
    is made only where none has.
    """
    at = position(session.head)
    key = at.key("revive")

    def build(_: Session, change: Change) -> CommitDraft | None:
        run = change.head.run
        if run is None or change.head.is_over or is_overtaken(change.head, at):
            return None
        restarts = _counted(change, run)
        if restarts.count > MOST_RESTARTS:
            return failed(
                change, EXHAUSTED, f"The engine was lost more than {MOST_RESTARTS} times in one turn."
            )
        begin_next_generation(change, run, restarts)
        return CommitDraft(change, next_decision(change.head))

    try:
        done = repository.commit(session, key, build)
    except Fenced:  # deleted
        return "nothing"
    if done is None or done.decision is None:  # the session has moved on
        return "nothing"
    if done.decision.next == "failed":
        return "failed"
    workflow.start(done.decision)
    return "restarted"


def begin_next_generation(change: Change, run: Run, restarts: Restarts) -> None:
    """Sets the head to the run's next generation: its execution has no events yet and waits for nobody. `restarts`: the
    turn's, this one included where it is one.
    """
    following = {"generation": run.generation + 1, "events": 0, "restarts": restarts}
    change.set(run=run.model_copy(update=following), wait=None)


def _counted(change: Change, run: Run) -> Restarts:
    """The restarts of this turn, this one included. A wait for people whose time is not over is not counted: it may
    outlast many restarts of what the engine runs on.
    """
    open_ones = change.head.interventions
    if open_ones and all(one.timeout_at is None or one.timeout_at > change.now for one in open_ones):
        return run.restarts
    before = run.restarts.count if run.restarts.turn == run.turn else 0
    return Restarts(turn=run.turn, count=before + 1)

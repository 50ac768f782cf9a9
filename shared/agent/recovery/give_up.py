"""The engine gives a run up, or hands it to the next generation (design §2)."""

from contextlib import suppress

from shared.agent.recovery.failure_messages import failure_of
from shared.agent.session.endings import failed
from shared.agent.session.position import is_overtaken, next_decision
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.errors import Fenced
from shared.domain.session.change import Change
from shared.domain.session.commit import Position
from shared.ports.workflow import Workflow


def give_up(repository: SessionRepository, at: Position, error: str) -> None:
    """Ends the run `failed` after the engine's retries. `error`: the name of the error class that was left.

    It does nothing for a turn that is over. Then another execution is further on, or this one is, and recovery
    continues it there.
    """

    def build(_: Session, change: Change) -> CommitDraft | None:
        run = change.head.run
        if run is None or is_overtaken(change.head, at) or run.turn != at.turn or change.head.is_over:
            return None
        left = failure_of(error)
        return failed(change, left.code, left.message)

    with suppress(Fenced):  # a deleted session has nothing to give up
        repository.commit(repository.turn(at), at.key("give_up"), build)


def roll_over(repository: SessionRepository, workflow: Workflow, at: Position) -> None:
    """Commits the next generation, then starts its execution. A repeated call only starts it again.

    A run that has ended gets none. Raises Fenced where another run or generation has the session.
    """
    session = repository.turn(at)
    key = at.key("roll_over")

    def build(_: Session, change: Change) -> CommitDraft | None:
        run = change.head.run
        if run is None or is_overtaken(change.head, at):
            raise Fenced("another run or generation has the session")
        if change.head.is_over:
            return None
        change.set(run=run.model_copy(update={"generation": run.generation + 1, "events": 0}), wait=None)
        return CommitDraft(change, next_decision(change.head))

    done = repository.commit(session, key, build)
    if done is not None and done.decision is not None:
        workflow.start(done.decision)

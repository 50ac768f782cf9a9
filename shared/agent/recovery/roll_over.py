"""A run goes on in the next Step Functions execution because the history of this one is long (design §2).

When that is due is decided by `or_roll_over` in `shared/agent/session/history_limit.py`.
"""

from shared.agent.recovery.restart import begin_next_generation
from shared.agent.session.engine_decision import next_decision
from shared.agent.session.fencing import check_run
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.session.change import Change
from shared.domain.session.commit import Position
from shared.ports.workflow import Workflow


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

"""At a limit the run asks a person instead of calling the model: nothing is killed (design §5)."""

from collections.abc import Callable

from shared.agent.session.engine_decision import Timeouts, next_decision, wait_decision
from shared.agent.session.fencing import check_turn
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision, Position


def ask_at_limit(
    repository: SessionRepository,
    session: Session,
    at: Position,
    kind: str,
    timeouts: Timeouts,
    ask: Callable[[Change], None],
) -> Decision:
    """Commits what `ask` opens, once per `kind`; nothing where a person is asked already or the run has ended.

    Returns where the engine goes on. Raises Fenced where another run, generation or turn has taken over.
    """

    def build(_: Session, change: Change) -> CommitDraft | None:
        check_turn(change.head, at)
        if change.head.interventions or change.head.is_over:
            return None
        ask(change)
        return CommitDraft(change)

    repository.commit(session, at.key(kind), build)
    head = session.head
    if head.interventions:
        return wait_decision(head, timeouts)
    return next_decision(head, repository.clock.now())

"""An execution whose session waits for long ends; the next one begins when there is something to do (ADR 104).

The engine asks for this where it has waited for people for a while, or is to wait for the world for longer than that
(`Park` in `infra/engine/state_machine.asl.json`).
"""

from shared.agent.budget.session_budget import attempts_so_far, charge_attempts
from shared.agent.outages.handle_error import ErrorDeps
from shared.agent.recovery.restart import begin_next_generation
from shared.agent.session.engine_decision import next_decision, wait_decision
from shared.agent.session.fencing import check_run
from shared.agent.session.parking import is_worth_parking
from shared.agent.session.repository import CommitDraft
from shared.agent.session.session import Session
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision, Position


def park(deps: ErrorDeps, at: Position) -> Decision:
    """Commits the next generation and starts no execution of it. The decision ends this one, or says how it goes on
    where there is something to do now or soon. May be repeated. Raises Fenced where another run or generation has the
    session.

    The commit gives back the session's lease of the tenant's hour, so it charges what lost calls may have used of it.
    In an outage the lease stays, and the reply that ends the outage charges them.
    """
    repository, timeouts = deps.repository, deps.rules.timeouts
    session = repository.turn(at)
    lost = attempts_so_far(deps.attempts, session.head) if session.head.outage is None else ()

    def build(session: Session, change: Change) -> CommitDraft | None:
        check_run(change.head, at)
        run = change.head.run
        if run is None or not is_worth_parking(change.head, change.now, timeouts.warn):
            return None
        charge_attempts(change, lost, deps.token_window)
        begin_next_generation(change, run, run.restarts, parked=True)
        return CommitDraft(change, Decision(next="done", at=at))

    done = repository.commit(session, at.key("park"), build)
    if done is not None and done.decision is not None:
        return done.decision
    head = session.head
    if head.interventions and not head.is_over:
        return wait_decision(head, timeouts)
    return next_decision(head, repository.clock.now())

"""A worker finds that another one has made its turn. That one may be dead, or it may still go on by itself: where turns
are fused, the session is moved past it (ADR 57).

The commit moves the run to its next turn, so `check_turn` stops the other worker at its next turn, or at the commit of
the one that it makes. A call that it is amid may finish, as one of a late `tool` may. A reply that it has bought is
kept, and the next turn finds it.
"""

from shared.agent.model_call.turn_context import TurnDeps, TurnKind
from shared.agent.session.engine_decision import next_decision, wait_decision
from shared.agent.session.fencing import is_overtaken
from shared.agent.session.history_limit import or_roll_over
from shared.agent.session.next_turn import turn_again
from shared.agent.session.repository import CommitDraft
from shared.agent.session.session import Session
from shared.agent.turn.turn import Taken
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision, Position
from shared.domain.session.head import Head

GOES_ON = ("plan", "think", "act")
"""After any other decision no worker goes on by itself."""


def after_another(
    deps: TurnDeps, taken: Taken, kind: TurnKind, at: Position, attempt: int, most_turns: int
) -> Decision:
    """What the engine does after a turn that this worker has no reply of: what was decided, or what follows from the
    head after a takeover.

    `most_turns`: of one invocation; 1: nobody goes on by itself, unless an invocation of before that was changed does.
    """
    session, decision = taken.session, taken.decision
    done = session.recorded(at.key(kind))
    if done is None or done.decision is None or done.decision.next not in GOES_ON:
        return decision
    head = session.head
    if (
        is_overtaken(head, at) or done.attempt > attempt
    ):  # this worker is the late one, and nobody listens to it
        return decision
    is_there = head.run is not None and head.run.turn == done.decision.at.turn
    if is_there and (done.own or most_turns == 1):
        return decision
    return _take_over(deps, session, at) or decision


def _take_over(deps: TurnDeps, session: Session, at: Position) -> Decision | None:
    """None: nothing is left to take over from."""

    def build(_: Session, change: Change) -> CommitDraft | None:
        head = change.head
        if is_overtaken(head, at) or head.is_over or head.wait is not None:
            return None  # where people are waited for, the engine has been answered
        turn_again(change)
        return CommitDraft(change, or_roll_over(change.head, deps.roll_over_events, _next(deps, change.head)))

    done = deps.repository.commit(session, at.key(f"takeover/{deps.clock.new_id('try')}"), build)
    if done is not None:
        return done.decision
    return next_decision(session.head, deps.clock.now()) if session.head.is_over else None


def _next(deps: TurnDeps, head: Head) -> Decision:
    return wait_decision(head, deps.timeouts) if head.interventions else next_decision(head, deps.clock.now())

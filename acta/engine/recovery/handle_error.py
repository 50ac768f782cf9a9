"""An error was left after the engine's retries: the session waits and tries again (docs/design/recovery.md 5).

A failure outside the session never ends a run. Only data of the session itself that cannot be read does.

Errors that a turn commits itself do not come here: `acta/engine/turn/turn.py` waits or ends the
run, where a provider rejects a request or names a time to wait.

The engine also asks here to park a session, where it has waited for people for a while, or is to wait for the world for
longer than that (`Park` in `acta/infra/engine/state_machine.asl.json`, ADR 104).
"""

from contextlib import suppress
from typing import TYPE_CHECKING

from acta.engine.agents.agent import agent_of_session, policies_of
from acta.engine.errors import Fenced, PoisonedSession, SessionNotFound, TransientError
from acta.engine.log.beside import Attempt, Marker, open_attempts
from acta.engine.log.commit import Decision, Position
from acta.engine.log.head import Head
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.people.opening import AskingRules
from acta.engine.people.policies import NO_POLICIES
from acta.engine.recovery.outage import cause_of
from acta.engine.recovery.recover import begin_next_generation
from acta.engine.recovery.wait_out import wait_out
from acta.engine.turn.budget import attempts_so_far, charge_attempts, keep_what_is_uncharged
from acta.engine.turn.endings import failed
from acta.engine.turn.engine import (
    check_run,
    end_decision,
    is_overtaken,
    is_worth_parking,
    next_decision,
    next_turn_kind,
    wait_or_go_on,
)
from acta.engine.turn.model_call import SUMMARY, KeptReply, kept

if TYPE_CHECKING:  # types alone: no cold start loads them
    from acta.engine.app import App

POISONED = "A part of the session is damaged, or cannot be stored ({error}). An operator has to look."


def handle_error(app: "App", at: Position, error: str) -> Decision:
    """Commits what follows from the error, and returns what the engine does next.

    `error`: the name of the error class that was left. Where the session has moved on nothing is committed: an
    execution that was overtaken ends, any other one goes on from the head. Raises what the stores raise;
    PoisonedSession only where not even the head can be read.
    """
    with suppress(Fenced, SessionNotFound):  # a deleted session has nothing left to do
        try:
            return _handled(app, at, error)
        except PoisonedSession:
            return _failed(app, at)
    return Decision(next="done", at=at)


def _handled(app: "App", at: Position, error: str) -> Decision:
    repository, cause = app.repository, cause_of(error)
    session = repository.turn(at)
    lost = _lost_attempts(app, session)
    # Read once, and not in the loop, which is repeated for each lost race. Nobody is asked where waiting cannot help.
    head = session.head
    policies = NO_POLICIES
    if cause is not None:
        agents = app.definitions.snapshot(head.tenant)
        policies = policies_of(agent_of_session(head, agents.agent), head)
    asking = AskingRules(repository.clock, policies)
    for change in repository.attempts(session, at.key("handle_error")):
        head = change.head
        if is_overtaken(head, at) or head.run is None or head.run.turn != at.turn or head.is_over:
            break
        charge_attempts(change, lost, app.settings.token_window_seconds)
        if cause is None:
            change.commit(failed(change, "STEP_FAILED", POISONED.format(error=error)))
        else:
            change.commit(wait_out(change, cause, app.outage_rules, asking))
    return _decided(repository, session, at)


def _decided(repository: SessionRepository, session: Session, at: Position) -> Decision:
    """What the commit decided; where nothing was committed, what follows from the head. A run that is over ends here
    even if its provider was still to be told something, because telling it has failed.
    """
    done = session.recorded(at.key("handle_error"))
    if done is not None and done.decision is not None:
        return done.decision
    head = session.head
    if is_overtaken(head, at):
        return Decision(next="done", at=at)
    return end_decision(head) if head.is_over else next_decision(head, repository.clock.now())


def _lost_attempts(app: "App", session: Session) -> tuple[Attempt, ...] | None:
    """What the commit charges. None where no store can say now what came of the attempts: the next turn, which asks
    again, charges them or commits the reply.
    """
    head = session.head
    try:
        marker = app.attempts.read(head.tenant, head.session_id)
        unsettled = open_attempts(head, marker.attempts)
        reply = _kept_reply(app, head, marker) if unsettled else None
    except (TransientError, PoisonedSession):
        return None
    kept_id = reply.attempt.attempt_id if reply is not None else ""
    return tuple(one for one in marker.attempts if one not in unsettled or one.attempt_id != kept_id)


def _failed(app: "App", at: Position) -> Decision:
    """The turn itself is what cannot be read, so the head alone says where the run stands. Raises PoisonedSession where
    that is damaged, too.
    """
    repository = app.repository
    session = repository.newest(at.tenant, at.session_id)
    for change in repository.attempts(session, at.key("handle_error")):
        if is_overtaken(change.head, at) or change.head.is_over:
            break
        keep_what_is_uncharged(change)
        change.commit(failed(change, "STEP_FAILED", POISONED.format(error=PoisonedSession.__name__)))
    return _decided(repository, session, at)


def _kept_reply(app: "App", head: Head, marker: Marker) -> KeptReply | None:
    """The next reply, or summary, where it could not be committed: it did not vanish, and the next turn commits it."""
    kinds = (next_turn_kind(head), SUMMARY)
    replies = (kept(app.repository, head, kind, marker) for kind in kinds)
    return next((reply for reply in replies if reply is not None), None)


def park(app: "App", at: Position) -> Decision:
    """Commits the next generation and starts no execution of it. The decision ends this one, or says how it goes on
    where there is something to do now or soon. May be repeated. Raises Fenced where another run or generation has the
    session.

    The commit gives back the session's lease of the tenant's hour, so it charges what lost calls may have used of it.
    In an outage the lease stays, and the reply that ends the outage charges them.
    """
    repository, timeouts = app.repository, app.timeouts
    session = repository.turn(at)
    lost = attempts_so_far(app.attempts, session.head) if session.head.outage is None else ()
    for change in repository.attempts(session, at.key("park")):
        check_run(change.head, at)
        run = change.head.run
        if run is None or not is_worth_parking(change.head, change.now, timeouts.warn):
            break
        charge_attempts(change, lost, app.settings.token_window_seconds)
        begin_next_generation(change, run, run.restarts, parked=True)
        change.commit(Decision(next="done", at=at))
    done = session.recorded(at.key("park"))
    if done is not None and done.decision is not None:
        return done.decision
    return wait_or_go_on(session.head, repository.clock.now(), timeouts)

"""The Ask state: the engine waits for people on one task token, at no compute cost (design §2, §8)."""

import hashlib
from contextlib import suppress
from datetime import datetime, timedelta

from shared.agent.interventions.expiry import expire
from shared.agent.session.engine_decision import Timeouts, is_overtaken, next_decision, wait_decision
from shared.agent.session.repository import CommitDraft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.interventions.intervention import Intervention
from shared.domain.rules.execution_history import EVENTS_PER_ASK
from shared.domain.session.change import Change
from shared.domain.session.commit import Decision, Position
from shared.domain.session.head import Head, Wait
from shared.ports.workflow import TokenGone, Workflow


def ask(
    repository: SessionRepository, workflow: Workflow, timeouts: Timeouts, at: Position, wait: Wait
) -> None:
    """Stores the token where something is open; otherwise sends it at once.

    What is due comes first: warnings, and expiries with their default action. A token of a slow worker may come after
    the engine has got a newer one. It does not replace the newer one; it is sent, so that an engine that does wait on
    it asks again.
    """
    session = repository.turn(at)

    def build(_: Session, change: Change) -> CommitDraft | None:
        if not _is_live(change.head, at, wait):
            return None
        expire(change)
        for one in change.head.interventions:
            if _warning_due(one, change.now, timeouts):
                change.replace_intervention(one.model_copy(update={"warned": True}))
                change.event(
                    "intervention.warned", {"intervention_id": one.intervention_id, "type": one.type}
                )
        change.set(wait=wait if change.head.interventions else None)
        if change.head.run is not None:
            counted = change.head.run.events + EVENTS_PER_ASK
            change.set(run=change.head.run.model_copy(update={"events": counted, "parked": False}))
        return CommitDraft(change)

    if _is_live(session.head, at, wait):
        # Each wait has a token of its own, so the key does too; it only names the token, it does not give it away.
        key = at.key(f"ask-{hashlib.sha256(wait.token.encode()).hexdigest()[:16]}")
        repository.commit(session, key, build)
    if is_overtaken(session.head, at):  # this execution may not go on with another's position
        _send(workflow, wait.token, Decision(next="done", at=at))
    elif session.head.is_over or not session.head.interventions:
        wake(repository, workflow, session, wait.token)
    elif session.head.wait is None or session.head.wait.token != wait.token:
        _send(workflow, wait.token, wait_decision(session.head, timeouts))


def _is_live(head: Head, at: Position, wait: Wait) -> bool:
    """Whether something is open and this is the newest wait."""
    if is_overtaken(head, at) or head.is_over or not head.interventions:
        return False
    at_another_turn = head.run is not None and head.run.turn != at.turn
    return not at_another_turn and (head.wait is None or not wait.is_before(head.wait))


def _warning_due(one: Intervention, now: datetime, timeouts: Timeouts) -> bool:
    if one.timeout_at is None or one.warned:
        return False
    return one.timeout_at - timedelta(seconds=timeouts.warn) <= now


def wake(repository: SessionRepository, workflow: Workflow, session: Session, token: str) -> None:
    """Lets the engine go on from the head. A token that nobody waits on is no error: the session has moved on."""
    _send(workflow, token, next_decision(session.head, repository.clock.now()))


def _send(workflow: Workflow, token: str, decision: Decision) -> None:
    with suppress(TokenGone):
        workflow.wake(token, decision)

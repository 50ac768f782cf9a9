"""The Ask state: the engine waits for people on one task token, at no compute cost (docs/design/engine.md 9,
people.md 30).

What nobody decided in time takes its default action, and is recorded as an expiry. Which option that is and when it is
due is set where the question is opened (`acta/engine/people/opening.py`), by the rules of
`acta/engine/people/policies.py`; how many seconds that is where nobody says otherwise stands in
`acta/engine/settings.py`. What the option does: `acta/engine/people/effects.py`.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta

from acta.engine.log.commit import Change, Decision, Position
from acta.engine.log.events import QuestionWarned
from acta.engine.log.head import Head, Wait
from acta.engine.log.repository import Session, SessionRepository
from acta.engine.people.effects import settle
from acta.engine.people.intervention import Intervention, is_pause
from acta.engine.recovery.recover import end_engine
from acta.engine.turn.endings import leaves_work
from acta.engine.turn.engine import (
    EVENTS_PER_ASK,
    Timeouts,
    TokenGone,
    Workflow,
    is_overtaken,
    next_decision,
    wait_decision,
)


def has_due(head: Head, now: datetime) -> bool:
    """Whether the time of an open intervention is over."""
    return any(one.is_due(now) for one in head.interventions)


def expire(change: Change) -> bool:
    """Closes everything that is due with its default action. Returns whether anything was due.

    One default may end the run. It withdraws the other interventions, and they take no default of their own.
    """
    due = [one for one in change.head.interventions if one.is_due(change.now)]
    for one in due:
        if one not in change.head.interventions:
            continue
        if _stays_open(change.head, one):
            change.replace_intervention(one.model_copy(update={"timeout_at": None, "warned": False}))
        else:
            settle(change, one, one.default_action, {}, expired=True)
    return bool(due)


def _stays_open(head: Head, one: Intervention) -> bool:
    """Whether the question loses its deadline and waits for a person: a paused session does not end by itself, and no
    run completes over a message that no turn has read.
    """
    if one.default_action == "finish" and head.has_unread_message:
        return True
    return one.default_action in ("cancel", "finish") and any(map(is_pause, head.interventions))


def attempts_in_time(
    repository: SessionRepository,
    session: Session,
    key: str,
    on_expired: Callable[[], object] = lambda: None,
) -> Iterator[Change]:
    """The loop of `SessionRepository.attempts`, for what a person decides. The time of the commit decides whether it
    came in time (ADR 27).

    Whatever is due expires first, in a commit of its own, even where the engine has not woken up to it yet; then
    `on_expired` is called, because the engine may have to be woken.
    """
    while True:
        if has_due(session.head, repository.clock.now()):
            for change in repository.attempts(session, f"lapse/{repository.clock.new_id('evt')}"):
                if expire(change):
                    change.commit()
            on_expired()
        for change in repository.attempts(session, key):
            if has_due(change.head, change.now):
                break
            yield change
        else:
            return


def ask(
    repository: SessionRepository, workflow: Workflow, timeouts: Timeouts, at: Position, wait: Wait
) -> None:
    """Stores the token where something is open; otherwise sends it at once.

    What is due comes first: warnings, and expiries with their default action. A token of a slow worker may come after
    the engine has got a newer one. It does not replace the newer one; it is sent, so that an engine that does wait on
    it asks again.
    """
    session = repository.turn(at)

    if _is_live(session.head, at, wait):
        # Each wait has a token of its own, so the key does too; it only names the token, it does not give it away.
        key = at.key(f"ask-{hashlib.sha256(wait.token.encode()).hexdigest()[:16]}")
        for change in repository.attempts(session, key):
            if not _is_live(change.head, at, wait):
                break
            expire(change)
            for one in change.head.interventions:
                if _warning_due(one, change.now, timeouts):
                    change.replace_intervention(one.model_copy(update={"warned": True}))
                    change.event(QuestionWarned(intervention_id=one.intervention_id, question=one.type))
            change.set(wait=wait if change.head.interventions else None)
            if change.head.run is not None:
                counted = change.head.run.events + EVENTS_PER_ASK
                change.set(run=change.head.run.model_copy(update={"events": counted, "parked": False}))
            change.commit()
    if is_overtaken(session.head, at):  # this execution may not go on with another's position
        _send(workflow, wait.token, Decision(next="done", at=at))
        run = session.head.run
        if (
            session.head.is_over and run is not None and leaves_work(session.head)
        ):  # a default has ended the run
            end_engine(repository, workflow, session.head, run)
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

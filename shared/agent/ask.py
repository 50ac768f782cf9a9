"""The Ask state: the engine waits for people on one task token, at no compute cost (design §2, §8)."""

import hashlib
from contextlib import suppress
from datetime import datetime, timedelta

from shared.agent.expiry import expire
from shared.agent.journal import Draft, Journal
from shared.agent.people import Timeouts, resumed
from shared.agent.thread import Thread, overtaken
from shared.domain.change import Change
from shared.domain.commit import Decision, Position
from shared.domain.intervention import Intervention
from shared.domain.session import Wait
from shared.ports.workflow import TokenGone, Workflow


def ask(journal: Journal, workflow: Workflow, timeouts: Timeouts, at: Position, token: str) -> None:
    """Stores the token on condition that something is open; else sends it at once.

    What is due is done first: warnings, and expiries with their default action, recorded as expiries.
    """
    thread = journal.turn(at)
    if overtaken(thread.head, at):
        _send(
            workflow, token, Decision(next="done", at=at)
        )  # this execution may not go on with another's position
        return

    def build(_: Thread, change: Change) -> Draft:
        expire(change)
        for one in change.head.interventions:
            if _warning_due(one, change.now, timeouts):
                change.replace_intervention(one.model_copy(update={"warned": True}))
                change.event(
                    "intervention.warned", {"intervention_id": one.intervention_id, "type": one.type}
                )
        change.set(wait=Wait(token=token) if change.head.interventions else None)
        return Draft(change)

    if thread.head.interventions and not thread.head.is_over:
        # Each wait has a token of its own, so the key does too; it only names the token, it does not give it away.
        journal.commit(thread, at.key(f"ask-{hashlib.sha256(token.encode()).hexdigest()[:16]}"), build)
    if not thread.head.interventions or thread.head.is_over:
        wake(workflow, thread, token)


def _warning_due(one: Intervention, now: datetime, timeouts: Timeouts) -> bool:
    if one.timeout_at is None or one.warned:
        return False
    return one.timeout_at - timedelta(seconds=timeouts.warn) <= now


def wake(workflow: Workflow, thread: Thread, token: str) -> None:
    """Lets the engine go on from the head. A token nobody waits on any more is no error: the log has moved on."""
    _send(workflow, token, resumed(thread.head))


def _send(workflow: Workflow, token: str, decision: Decision) -> None:
    with suppress(TokenGone):
        workflow.wake(token, decision)

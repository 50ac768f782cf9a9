"""Expiry: what nobody decided in time takes its default action, and is recorded as that (design §8)."""

from contextlib import suppress

from shared.agent.journal import Draft, Journal
from shared.agent.resolution import settle
from shared.agent.thread import Thread
from shared.domain.change import Change
from shared.domain.intervention import Intervention, is_pause
from shared.domain.session import Head


class _NothingDue(Exception):
    """Another writer was there first: nothing to write."""


def expire(change: Change) -> bool:
    """Settles all that is due, as far as a default before it has not ended the run. Whether there was any."""
    due = [one for one in change.head.interventions if one.is_due(change.now)]
    for one in due:
        if one not in change.head.interventions:
            continue
        if _stays(change.head, one):
            change.replace_intervention(one.model_copy(update={"timeout_at": None, "warned": False}))
        else:
            settle(change, one, one.default_action, {}, expired=True)
    return bool(due)


def _stays(head: Head, one: Intervention) -> bool:
    """A paused session does not end by itself, and none completes over a message; the question then waits for a
    person, without a deadline.
    """
    if one.default_action == "finish" and head.owes_an_answer:
        return True
    return one.default_action in ("cancel", "finish") and any(map(is_pause, head.interventions))


def lapse(journal: Journal, thread: Thread) -> bool:
    """Before a person decides: whoever comes late finds it expired, even where the engine has not woken up to it yet.

    Whether something expired; then the engine may have to be woken.
    """
    now = journal.clock.now()
    if not any(one.is_due(now) for one in thread.head.interventions):
        return False

    def build(_: Thread, change: Change) -> Draft:
        if not expire(change):
            raise _NothingDue
        return Draft(change)

    with suppress(_NothingDue):
        journal.commit(thread, f"lapse/{journal.clock.new_id('evt')}", build)
    return True

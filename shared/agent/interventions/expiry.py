"""Expiry: what nobody decided in time takes its default action, and is recorded as that (design §8)."""

from collections.abc import Callable
from contextlib import suppress

from shared.agent.interventions.effects import settle
from shared.agent.session.repository import Draft, SessionRepository
from shared.agent.session.session import Session
from shared.domain.interventions.intervention import Intervention, is_pause
from shared.domain.session.change import Change
from shared.domain.session.head import Head


class _NothingDue(Exception):
    """Another writer was there first: nothing to write."""


class _Late(Exception):
    """Something has become due since what was due was settled."""


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


def decide(
    repository: SessionRepository,
    session: Session,
    key: str,
    build: Callable[[Session, Change], Draft],
    lapsed: Callable[[], object] = lambda: None,
) -> None:
    """Commits what a person decides, on what is not due when the commit is made: its time decides (ADR 27). Whoever
    comes late finds it expired, even where the engine has not woken up to it yet; `lapsed` is called then.
    """

    def in_time(now: Session, change: Change) -> Draft:
        if any(one.is_due(change.now) for one in change.head.interventions):
            raise _Late
        return build(now, change)

    while True:
        if _lapse(repository, session):
            lapsed()
        with suppress(_Late):
            repository.commit(session, key, in_time)
            return


def _lapse(repository: SessionRepository, session: Session) -> bool:
    """Whether something was due; then the engine may have to be woken."""
    now = repository.clock.now()
    if not any(one.is_due(now) for one in session.head.interventions):
        return False

    def build(_: Session, change: Change) -> Draft:
        if not expire(change):
            raise _NothingDue
        return Draft(change)

    with suppress(_NothingDue):
        repository.commit(session, f"lapse/{repository.clock.new_id('evt')}", build)
    return True

"""Expiry: what nobody decided in time takes its default action, and is recorded as an expiry (design §8).

Which option that is and when it is due is set where the question is opened (`opening.py`), by the rules of
`shared/domain/interventions/options_and_defaults.py`; what the option does: `effects.py`.
"""

from collections.abc import Callable
from datetime import datetime

from shared.agent.interventions.effects import settle
from shared.agent.session.repository import Build, CommitDraft, SessionRepository
from shared.agent.session.session import Recorded, Session
from shared.domain.interventions.intervention import Intervention, is_pause
from shared.domain.session.change import Change
from shared.domain.session.head import Head


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


def commit_in_time(
    repository: SessionRepository,
    session: Session,
    key: str,
    build: Build,
    on_expired: Callable[[], object] = lambda: None,
) -> Recorded | None:
    """Commits what a person decides. The time of the commit decides whether it came in time (ADR 27).

    Whatever is due expires first, in a commit of its own, even where the engine has not woken up to it yet; then
    `on_expired` is called, because the engine may have to be woken. Returns what `SessionRepository.commit` returns.
    """

    def build_in_time(now: Session, change: Change) -> CommitDraft | None:
        return None if has_due(change.head, change.now) else build(now, change)

    while True:
        if has_due(session.head, repository.clock.now()):
            _commit_expiry(repository, session)
            on_expired()
        done = repository.commit(session, key, build_in_time)
        if done is not None or not has_due(session.head, repository.clock.now()):
            return done


def _commit_expiry(repository: SessionRepository, session: Session) -> None:
    def build(_: Session, change: Change) -> CommitDraft | None:
        return CommitDraft(change) if expire(change) else None

    repository.commit(session, f"lapse/{repository.clock.new_id('evt')}", build)

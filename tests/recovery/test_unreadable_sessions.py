"""Which sessions recovery leaves for later, because it could not read them before."""

from datetime import UTC, datetime, timedelta

from acta.engine.log.store import LiveSession
from acta.engine.recovery.sweep import LONGEST_PAUSE, MOST_REMEMBERED, Unreadable

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def session(name: str = "ses_1") -> LiveSession:
    return LiveSession("acme", name, NOW)


def test_a_session_that_cannot_be_read_is_looked_at_less_and_less_often_but_each_hour() -> None:
    unreadable, now, pauses = Unreadable(), NOW, []
    for _ in range(9):
        unreadable.failed(session(), now)
        began = now
        while not unreadable.is_due(session(), now):
            now += timedelta(minutes=1)
        pauses.append(now - began)

    assert pauses[:4] == [timedelta(minutes=minutes) for minutes in (1, 2, 4, 8)]
    assert pauses[-2:] == [LONGEST_PAUSE, LONGEST_PAUSE]


def test_a_session_for_which_aws_did_not_answer_is_due_at_once() -> None:
    unreadable = Unreadable()
    unreadable.unanswered(session(), NOW)
    assert unreadable.has(session())
    assert unreadable.is_due(session(), NOW)


def test_a_session_that_can_be_read_again_is_like_any_other() -> None:
    unreadable = Unreadable()
    unreadable.failed(session(), NOW)
    unreadable.forget(session())
    assert not unreadable.has(session())
    assert unreadable.is_due(session(), NOW)
    assert unreadable.is_due(session("ses_2"), NOW)


def test_of_too_many_those_that_failed_longest_ago_are_forgotten() -> None:
    unreadable = Unreadable()
    for number in range(MOST_REMEMBERED + 1):
        unreadable.failed(session(f"ses_{number}"), NOW)
    assert not unreadable.has(session("ses_0"))
    assert unreadable.has(session("ses_1"))
    assert unreadable.has(session(f"ses_{MOST_REMEMBERED}"))

"""Who comes after the deadline finds it expired, whichever way they come (docs/design/people.md 10)."""

from collections.abc import Callable
from typing import Any

import pytest

from acta.engine.errors import Conflict
from acta.engine.log.commit import Commit
from acta.engine.log.repository import SessionRepository
from acta.engine.log.store import NO_ITEMS, SessionLog, TransactionItems
from acta.engine.people.resolve import Resolution, resolve
from acta.engine.sessions import control
from acta.engine.sessions.start import post_message
from tests.in_process.house import TENANT, House
from tests.people.policies import files, recorded, waiting


def test_who_comes_late_finds_it_expired_before_the_engine_has_woken_up() -> None:
    house, session, one = waiting("approval_required", timeout_seconds=60)
    house.clock.advance(60)
    with pytest.raises(Conflict) as late:
        house.resolve(session, one, "approve")
    assert late.value.details == {"state": ["expired"], "resolution": ["reject"]}
    house.run()
    assert house.head(session).state == "completed"
    assert files(house) == ["a.txt", "b.txt"]


def test_who_decides_after_the_session_has_ended_is_told_that_nobody_has_decided() -> None:
    house, session, one = waiting("approval_required")
    house.cancel(session)
    with pytest.raises(Conflict, match="ended before anybody decided") as late:
        house.resolve(session, one, "approve")
    assert late.value.details == {"state": ["withdrawn"]}


def test_a_message_that_comes_too_late_to_answer_begins_a_new_run() -> None:
    house, session, one = waiting("clarification_needed", timeout_seconds=60)
    first = house.head(session).run
    house.clock.advance(61)
    house.say(session, "Too late, but go on")
    assert recorded(house, one).state == "expired"
    house.run()
    head = house.head(session)
    assert first is not None
    assert head.run is not None
    assert (head.state, head.run.run_id != first.run_id) == ("completed", True)


def test_resuming_too_late_finds_the_review_expired() -> None:
    house, session, one = waiting("checkpoint_review", timeout_seconds=60, default_action="cancel")
    house.clock.advance(61)
    with pytest.raises(Conflict, match="cancelled"):
        house.resume(session)
    assert recorded(house, one).resolved_by is None


class Overtaken:
    """A log in which somebody else commits just before the first one does; whoever lost waits and tries again."""

    def __init__(self, log: SessionLog, first: Callable[[], object]) -> None:
        self._log = log
        self._first: list[Callable[[], object]] = [first]

    def __getattr__(self, name: str) -> object:
        return getattr(self._log, name)

    def append(self, commit: Commit, extra_items: TransactionItems = NO_ITEMS) -> None:
        if self._first:
            self._first.pop()()
        self._log.append(commit, extra_items)


def overtaken(house: House, first: Callable[[], object]) -> SessionRepository:
    """Its commit comes after the minute that `waiting` gave has run out, though the request came before."""
    house.clock.advance(59.99)
    log: Any = Overtaken(house.log, first)
    return SessionRepository(log, house.blobs, house.clock)


def test_a_decision_that_lost_a_race_until_its_time_was_over_is_late() -> None:
    house, session, one = waiting("approval_required", timeout_seconds=60)
    app = house.app(repository=overtaken(house, lambda: house.say(session, "Well?")))
    with pytest.raises(Conflict) as late:
        resolve(app, house.requester, session, one.intervention_id, Resolution("approve", None, None))
    assert late.value.details == {"state": ["expired"], "resolution": ["reject"]}
    house.run()
    assert files(house) == ["a.txt", "b.txt"]


def test_an_answer_that_lost_a_race_until_its_time_was_over_begins_a_new_run() -> None:
    house, session, one = waiting("clarification_needed", timeout_seconds=60)
    first = house.head(session).run
    stored = house.fresh_repository().newest(TENANT, session)

    def another() -> None:
        for change in house.fresh_repository().attempts(stored, "another"):
            change.commit()

    post_message(house.app(repository=overtaken(house, another)), house.requester, session, "This one")
    assert (recorded(house, one).state, recorded(house, one).resolved_by) == ("expired", None)
    house.run()
    head = house.head(session)
    assert first is not None
    assert head.run is not None
    assert (head.state, head.run.run_id != first.run_id) == ("completed", True)


def test_a_resume_that_lost_a_race_until_its_time_was_over_continues_nothing() -> None:
    house, session, one = waiting("checkpoint_review", timeout_seconds=60)
    app = house.app(repository=overtaken(house, lambda: house.say(session, "Well?")))
    with pytest.raises(Conflict, match="cancelled"):
        control.resume(app, house.requester, session, lambda: app.family)
    assert (recorded(house, one).state, house.head(session).state) == ("expired", "cancelled")

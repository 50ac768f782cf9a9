"""A worker dies at every call that it makes for an event; the event has one session, and is said to it once."""

from typing import Any

import pytest

from acta.engine.app import App
from acta.engine.bound_tenant import bound_to
from acta.engine.log.repository import SessionRepository
from acta.engine.triggers.fire import deliver, retry_waiting
from acta.engine.triggers.trigger import Trigger
from tests.in_process.deaths import Deaths, Died, Port, points
from tests.in_process.house import TENANT
from tests.triggers.outside import Outside

EVENT = {"issue": {"title": "It is broken", "number": 7}, "body": "x" * 9_000}
MORTAL = ("trigger_events", "log", "workflow", "files", "session_index")


def dying(acta: Outside, deaths: Deaths) -> App:
    """A worker of the function `wake`, or of `recover`, that may die before and after each call."""
    made = acta.house.app(workflow=acta.house.workflow)
    ports: dict[str, Any] = {name: Port(getattr(made, name), name, deaths) for name in MORTAL}
    house = acta.house
    repository = SessionRepository(ports["log"], house.blobs, house.clock, limits=house.settings.limits)
    return house.app(**ports, repository=repository)


def trigger_of(acta: Outside) -> Trigger:
    with bound_to(TENANT):
        found = acta.app.triggers.get(TENANT, "issues")
    assert found is not None
    return found


def given(acta: Outside, deaths: Deaths, source_id: str) -> None:
    """The event is delivered, and again by a sender that got no answer; then recovery's round comes."""
    trigger, worker = trigger_of(acta), dying(acta, deaths)
    for _ in range(2):
        try:
            with bound_to(TENANT):
                deliver(worker, TENANT, trigger, source_id, EVENT, acta.house.clock.now())
            break
        except Died:
            acta.house.clock.advance(5)
            worker = dying(acta, deaths)
    acta.house.clock.advance(61)
    for _ in range(2):
        try:
            retry_waiting(worker, lambda: True, fails)
            break
        except Died:
            worker = dying(acta, deaths)


def fails(what: str, error: Exception) -> None:
    raise error


@pytest.mark.parametrize("key", [None, "issue-{{event.issue.number}}"])
def test_an_event_starts_one_session_wherever_its_worker_dies(key: str | None) -> None:
    def scenario(deaths: Deaths) -> Outside:
        acta = Outside()
        acta.put(key=key)
        given(acta, deaths, "e-1")
        return acta

    for number in points(scenario):
        acta = scenario(Deaths(number))
        (session,) = acta.sessions()
        (event,) = acta.events()
        assert (event["outcome"], event["session_id"]) == ("started", session.session_id), number
        acta.house.run()
        assert acta.sessions()[0].state == "completed", number


def test_an_event_is_said_once_wherever_its_worker_dies() -> None:
    def scenario(deaths: Deaths) -> Outside:
        acta = Outside()
        acta.put(key="one")
        acta.deliver(EVENT, "e-1")
        given(acta, deaths, "e-2")
        return acta

    for number in points(scenario):
        acta = scenario(Deaths(number))
        (session,) = acta.sessions()
        assert len(session.undelivered) == 2, number
        assert {event["outcome"] for event in acta.events()} == {"started", "told"}, number

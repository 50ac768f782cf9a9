"""Sessions that a schedule or a trigger starts: once each, in the name of whoever wrote it."""

from datetime import UTC, datetime
from typing import Any

import pytest

from acta.engine.agents.agent import DEFAULT_AGENT
from acta.engine.errors import StartRoleMissing, ValidationFailed
from acta.engine.limits.caps import Caps, LimitValues
from acta.engine.log.head import Head, Origin, SessionSettings
from acta.engine.sessions.answers import session_view
from acta.engine.sessions.woken import WokenSession, start_woken, woken_id
from tests.api.session_functions import Person
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import plans
from tests.people.policies import ENDS, house_with

AT = datetime(2027, 3, 28, 1, 0, tzinfo=UTC)
ORIGIN = Origin(kind="schedule", id="nightly", at=AT)


def house(**agent: Any) -> House:
    return house_with(plans("look"), *ENDS, plans("look"), *ENDS, **agent)


def wake(house: House, **changed: Any) -> Head:
    woken = WokenSession(
        TENANT, woken_id(AT, "schedule", "nightly"), ORIGIN, DEFAULT_AGENT, "Write the report.", "ann",
        frozenset({"member", "finance"}), SessionSettings(metadata={"team": "ops"}),
    )._replace(**changed)  # fmt: skip
    return start_woken(house.fresh_repository(), house.workflow, house.definitions, house.settings, woken)


def test_a_woken_session_belongs_to_whoever_wrote_what_starts_it_and_says_what_that_was() -> None:
    acta = house()
    head = wake(acta)
    assert (head.created_by, head.roles, head.agent_name) == ("ann", ("finance", "member"), "A")
    assert session_view(head)["origin"] == {
        "kind": "schedule",
        "id": "nightly",
        "at": "2027-03-28T01:00:00.000Z",
        "event": "",
    }
    acta.run()
    assert acta.head(head.session_id).state == "completed"


def test_a_second_start_finds_the_first_session_and_starts_nothing_twice() -> None:
    acta = house()
    first = wake(acta)
    assert wake(acta, message="Something else.").goal == "Write the report."
    acta.run()
    assert wake(acta).state == "completed"
    assert acta.workflow.take() is None
    assert acta.head(first.session_id).tally.done.runs == 1


def test_a_session_whose_starter_died_before_the_engine_was_told_is_started_by_the_second_start() -> None:
    acta = house()
    wake(acta)
    acta.workflow = type(acta.workflow)()  # what the first start told the engine is lost
    head = wake(acta)
    acta.run()
    assert acta.head(head.session_id).state == "completed"


def test_ids_differ_by_each_name_and_time_and_sort_by_time() -> None:
    ids = {woken_id(AT, *names) for names in (("a", "b"), ("ab",), ("a", "b", ""), ('a","b',))}
    assert len(ids) == 4
    assert woken_id(AT, "z") < woken_id(datetime(2027, 3, 28, 1, 1, tzinfo=UTC), "a")


def test_the_writers_roles_decide_and_the_caps_hold_as_for_a_member() -> None:
    with pytest.raises(StartRoleMissing):
        wake(house(start_roles=("legal",)))
    capped = house(caps=Caps(max_steps=10))
    with pytest.raises(ValidationFailed, match="max_steps"):
        wake(capped, limits=LimitValues(max_steps=11), roles=frozenset({"admin", "member"}))
    assert wake(capped, limits=LimitValues(max_steps=9)).max_steps == 9
    with pytest.raises(ValidationFailed, match="no such agent"):
        wake(house(), agent_id="gone")


def test_text_from_outside_in_the_goal_marks_the_session() -> None:
    assert wake(house(), read_outside=True).read_outside


def test_the_roles_of_a_session_are_those_that_everybody_who_wrote_to_it_had() -> None:
    acta = house()
    session = Person(acta, "ann", "finance", "legal").start().data["session_id"]
    assert acta.head(session).roles == ("finance", "legal", "member")
    Person(acta, "lee", "legal").say(session, "And quickly.")
    assert acta.head(session).roles == ("legal", "member")
    Person(acta, "ann", "finance", "legal").say(session, "Please.")
    assert acta.head(session).roles == ("legal", "member")
    acta.run()
    fork = Person(acta, "mia", "legal").ask("POST", f"/v1/sessions/{session}/fork", json_body={})
    assert acta.head(fork.data["session_id"]).roles == ("legal", "member")

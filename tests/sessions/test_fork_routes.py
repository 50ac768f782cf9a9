"""Who may fork a session, within which limits, and what the answer says (docs/design/tenancy.md 21, ADR 70)."""

from typing import Any

import pytest

from acta.engine.agents.agent import AgentDefinition
from acta.engine.limits.caps import Caps
from tests.api.gateway import Answer
from tests.api.session_functions import Person
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, completes, plans, says, step

TURNS = (plans("add"), says("", step(1, "completed", "3")), completes("3"))
SCHEMA = {"type": "integer"}


def ended(**fields: Any) -> tuple[House, str]:
    """Ann's session, which has ended, and an agent that costs more care."""
    house = House(ScriptedModel([*TURNS, *TURNS]))
    now = house.clock.now()
    careful = AgentDefinition(
        agent_id="careful", name="Careful", start_roles=("finance",), caps=Caps(max_steps=5), version=1,
        created_at=now, updated_at=now,
    )  # fmt: skip
    house.definitions.create_agent(TENANT, careful)
    session = Person(house).start(**fields).data["session_id"]
    house.run()
    return house, session


def fork(person: Person, session: str, **fields: Any) -> Answer:
    headers = fields.pop("headers", {})
    path = f"/v1/sessions/{session}/fork"
    return person.ask("POST", path, json_body=fields, headers=headers)


def test_a_fork_is_answered_with_where_it_comes_from_and_that_files_are_today_s() -> None:
    house, session = ended()
    answer = fork(Person(house, "bob"), session, content="Again", max_steps=7)
    told = answer.data
    assert answer.status == 202
    assert answer.headers["Location"] == f"/v1/sessions/{told['session_id']}"
    assert told["forked_from"] == {"session_id": session, "seq": house.head(session).last_seq}
    assert (told["created_by"], told["run"]["max_steps"], told["files"]) == ("bob", 7, "as_they_are_now")
    assert told["usage"]["llm_calls"] == 0
    house.run()
    seen = Person(house, "bob").get(f"/v1/sessions/{told['session_id']}").data["session"]
    assert (seen["state"], seen["forked_from"]["session_id"]) == ("completed", session)


def test_the_same_request_again_is_answered_with_the_same_fork_also_once_the_parent_is_deleted() -> None:
    house, session = ended()
    ann, key = Person(house), {"Idempotency-Key": "one"}
    first = fork(ann, session, content="Again", headers=key)
    house.delete(session)
    again = fork(ann, session, content="Again", headers=key)
    assert (again.status, again.data) == (202, first.data)
    assert fork(ann, session, content="Else", headers=key).status == 422
    assert fork(ann, session, content="Again").status == 404


def test_roles_and_caps_are_those_of_the_fork_s_agent() -> None:
    house, session = ended()
    assert fork(Person(house), session, agent_id="careful").status == 403
    finance = Person(house, "lee", "finance")
    assert fork(finance, session, agent_id="careful", max_steps=6).status == 400
    answer = fork(finance, session, agent_id="careful", content="Again")
    assert (answer.data["agent_id"], answer.data["run"]["max_steps"]) == ("careful", 5)
    assert fork(finance, session, agent_id="nobody").status == 400


@pytest.mark.parametrize(("asked", "held"), [({}, '{"type":"integer"}'), ({"output_schema": {}}, "{}")])
def test_the_fork_s_answers_have_the_parent_s_schema_unless_the_request_brings_one(
    asked: dict[str, Any], held: str
) -> None:
    house, session = ended(output_schema=SCHEMA)
    told = fork(Person(house), session, content="Again", **asked).data
    assert house.head(told["session_id"]).output_schema == held


def test_a_private_session_is_forked_by_its_owner_alone_and_stays_private() -> None:
    house, session = ended(visibility="private")
    assert fork(Person(house, "bob"), session).status == 404
    assert fork(Person(house, "boss", "admin"), session).status == 404
    assert fork(Person(house), session, visibility="tenant").status == 400
    told = fork(Person(house), session).data
    assert told["visibility"] == "private"
    assert Person(house, "bob").get(f"/v1/sessions/{told['session_id']}").status == 404


@pytest.mark.parametrize("fields", [{"at": 0}, {"at": "3"}, {"at": 999}, {"message": "Go"}, {"content": " "}])
def test_what_cannot_be_meant_is_refused(fields: dict[str, Any]) -> None:
    house, session = ended()
    answer = fork(Person(house), session, **fields)
    assert answer.status == 400
    assert list(answer.error["details"]) == list(fields)

"""Which schema a session's answers have to fit: the request's, else its agent's as it was at the start (ADR 69)."""

import json
from typing import Any

import pytest

from acta.engine.agents.agent import AgentDefinition
from acta.engine.turn.output_schema import MAX_SCHEMA_BYTES
from tests.api.session_functions import Person
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, completes, plans, says, step

OWN = {"type": "object", "required": ["total"]}
OF_THE_AGENT = {"type": "array"}
ANSWER = '{"total": 3}'


def house_with_an_agent() -> House:
    house = House(ScriptedModel([plans("add"), says("", step(1, "completed", "3")), completes(ANSWER)]))
    now = house.clock.now()
    agent = AgentDefinition(
        agent_id="adder", name="Adder", output_schema=OF_THE_AGENT, version=1, created_at=now, updated_at=now
    )
    house.definitions.create_agent(TENANT, agent)
    return house


@pytest.mark.parametrize(
    ("asked", "held"),
    [
        ({}, ""),
        ({"output_schema": OWN}, json.dumps(OWN, separators=(",", ":"))),
        ({"agent_id": "adder"}, json.dumps(OF_THE_AGENT, separators=(",", ":"))),
        ({"agent_id": "adder", "output_schema": OWN}, json.dumps(OWN, separators=(",", ":"))),
        ({"agent_id": "adder", "output_schema": {}}, "{}"),
    ],
    ids=["none", "the request's", "the agent's", "the request's before the agent's", "any JSON"],
)
def test_the_schema_is_the_request_s_else_the_agent_s(asked: dict[str, Any], held: str) -> None:
    house = house_with_an_agent()
    answer = Person(house).start(**asked)
    assert answer.status == 202
    assert house.head(answer.data["session_id"]).output_schema == held


def test_the_answer_is_in_the_snapshot_as_json() -> None:
    house = house_with_an_agent()
    ann = Person(house)
    session = ann.start(output_schema=OWN).data["session_id"]
    house.run()
    told = ann.get(f"/v1/sessions/{session}").data["session"]["result"]
    met = {"goal_met": True, "reason": "plan_completed", "verdict": None}
    assert told == {**met, "answer": ANSWER, "data": {"total": 3}}


def test_the_first_message_of_a_session_is_answered_as_its_start_asked_and_later_ones_as_they_ask() -> None:
    house = house_with_an_agent()
    ann = Person(house)
    session = ann.start(content=None, output_schema=OWN).data["session_id"]
    assert ann.say(session, "Add up").status == 202
    assert json.loads(house.head(session).output_schema) == OWN
    house.run()
    assert ann.say(session, "Thanks").status == 202
    assert house.head(session).output_schema == ""
    assert ann.say(session, "As a list", output_schema=OF_THE_AGENT).status == 202
    assert json.loads(house.head(session).output_schema) == OF_THE_AGENT
    refused = ann.say(session, "And this", output_schema={"if": True})
    assert (refused.status, list(refused.error["details"])) == (400, ["output_schema"])


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "number", "minimum": "a"}, "/minimum has to be a number"),
        ({"$ref": "https://example.com/x"}, "leads to #"),
        ({"allOf": [{"$ref": "#"}]}, "leads back to itself"),
        ({"if": True}, "no such keyword"),
        ({"description": "x" * MAX_SCHEMA_BYTES}, "8,192 bytes"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_at_the_start(schema: dict[str, Any], says: str) -> None:
    house = house_with_an_agent()
    answer = Person(house).start(output_schema=schema)
    assert (answer.status, answer.error["code"]) == (400, "VALIDATION_ERROR")
    assert says in answer.error["details"]["output_schema"][0]
    assert house.workflow.take() is None

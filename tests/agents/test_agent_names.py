"""People read what an agent is called: its sessions and questions say so, and sums by agent do
(docs/design/api.md 24)."""

from typing import Any

from acta.engine.agents.agent import AgentDefinition
from tests.api.session_functions import Person
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, call, plans, says


def desk(house: House, name: str = "Order desk") -> AgentDefinition:
    now = house.clock.now()
    made = AgentDefinition(agent_id="desk", name=name, version=1, created_at=now, updated_at=now)
    house.definitions.create_agent(TENANT, made)
    return made


def asking() -> tuple[House, str]:
    """A session of the desk that asks whether it may delete a file."""
    house = House(ScriptedModel([plans("delete"), says("", call("delete_file", path="a.txt"))]))
    house.files.write(TENANT, "a.txt", b"alpha")
    desk(house)
    session: str = Person(house).start(agent_id="desk").data["session_id"]
    house.run()
    return house, session


def names(house: House, session: str) -> list[Any]:
    person, path = Person(house), f"/v1/sessions/{session}"
    snapshot = person.get(path).data["session"]
    listed = person.get("/v1/sessions").data["items"]
    asked = person.get("/v1/interventions").data["items"] + person.get(f"{path}/interventions").data["items"]
    return [one["agent_name"] for one in (snapshot, *listed, *snapshot["interventions"], *asked)]


def test_a_session_and_its_questions_name_their_agent_wherever_they_are_read() -> None:
    assert names(*asking()) == ["Order desk"] * 5


def test_the_name_stays_where_the_agent_is_deleted() -> None:
    house, session = asking()
    agent = house.definitions.agent(TENANT, "desk")
    assert agent is not None
    house.definitions.delete_agent(TENANT, agent)
    assert names(house, session) == ["Order desk"] * 5


def test_an_agent_without_a_known_name_is_named_by_its_id() -> None:
    house = House(ScriptedModel([plans("delete"), says("", call("delete_file", path="a.txt"))]))
    session = house.start("Go").session_id
    house.run()
    assert set(names(house, session)) == {"default"}


def test_a_fork_has_the_name_of_the_agent_that_goes_on() -> None:
    house, session = asking()
    made = Person(house).ask(
        "POST", f"/v1/sessions/{session}/fork", json_body={"agent_id": "default", "content": "x"}
    )
    assert (made.status, made.data["agent_name"]) == (202, "Default")

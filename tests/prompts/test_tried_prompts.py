"""An admin starts or forks a session that works by versions of prompts of its own choice (ADR 109)."""

from collections import Counter
from typing import Any

import pytest

from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM, PLANNING
from tests.api.gateway import Answer
from tests.api.session_functions import Person
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, completes, plans, says, step
from tests.turn.test_cost_per_turn import CountingDefinitions

TURNS = (plans("add"), says("", step(1, "completed", "3")), completes("3"))
DRAFT = {AGENT_PLANNING_SYSTEM: 2}


def with_draft(**settings: Any) -> House:
    house = House(ScriptedModel([*TURNS, *TURNS, *TURNS]), **settings)
    store, now = house.definitions, house.clock.now()
    old = store.prompt(TENANT, AGENT_PLANNING_SYSTEM)
    store.write_prompt(TENANT, old, old.next_version("Try this.", None, "ann", now, draft=True))
    return house


def admin(house: House) -> Person:
    return Person(house, "ann", "admin")


def systems(house: House) -> list[str]:
    """What the model was told to work by since it was asked last, each once."""
    assert isinstance(house.model, ScriptedModel)
    told = list(dict.fromkeys(request.system for request in house.model.requests))
    house.model.requests.clear()
    return told


def fork(person: Person, session: str, **fields: Any) -> Answer:
    return person.ask("POST", f"/v1/sessions/{session}/fork", json_body=fields)


def test_all_turns_of_the_session_work_by_the_version_that_its_start_names_and_others_by_the_one_in_force() -> (
    None
):
    house = with_draft()
    tried = admin(house).start(content="Add", prompts=DRAFT)
    assert (tried.status, tried.data["prompts"]) == (202, DRAFT)
    house.run()
    (told,) = systems(house)
    assert "Try this." in told
    assert PLANNING.strip() not in told
    admin(house).say(tried.data["session_id"], "Once more")
    house.run()
    assert systems(house) == [told]
    assert Person(house).start(content="Add").data["prompts"] == {}
    house.run()
    (usual,) = systems(house)
    assert PLANNING.strip() in usual


def test_a_fork_works_by_what_it_names_and_not_by_what_its_parent_tries() -> None:
    house = with_draft()
    session = Person(house).start(content="Add").data["session_id"]
    house.run()
    systems(house)
    forked = fork(admin(house), session, content="Again", prompts=DRAFT)
    assert (forked.status, forked.data["prompts"]) == (202, DRAFT)
    house.run()
    assert all("Try this." in told for told in systems(house))
    again = fork(Person(house), forked.data["session_id"], content="Again")
    assert again.data["prompts"] == {}


@pytest.mark.parametrize("prompts", [{"other": 1}, {AGENT_PLANNING_SYSTEM: 3}, {AGENT_PLANNING_SYSTEM: 0}])
def test_a_version_that_there_is_not_is_refused(prompts: dict[str, int]) -> None:
    refused = admin(with_draft()).start(content="Add", prompts=prompts)
    assert (refused.status, refused.error["code"]) == (400, "VALIDATION_ERROR")
    assert next(iter(refused.error["details"])).startswith("prompts")


def test_the_release_s_own_text_is_a_version_too() -> None:
    house = with_draft()
    assert admin(house).start(content="Add", prompts={AGENT_PLANNING_SYSTEM: 1}).status == 202
    house.run()
    assert all(PLANNING.strip() in told for told in systems(house))


def test_who_is_no_admin_tries_none() -> None:
    house = with_draft()
    session = Person(house).start(content="Add").data["session_id"]
    house.run()
    for refused in (
        Person(house).start(content="Add", prompts=DRAFT),
        fork(Person(house), session, prompts=DRAFT),
    ):
        assert (refused.status, refused.error["details"]) == (403, {"role": ["admin"]})


def test_a_start_asks_for_the_tenants_definitions_once() -> None:
    house, asked = House(ScriptedModel([*TURNS])), Counter[str]()
    house.definitions = CountingDefinitions(house.definitions, asked)
    assert Person(house).start(content="Add").status == 202
    assert asked["definitions"] == 1

"""What an agent may use, says first, and where the built-in one stands among the others."""

from typing import Any

import pytest
from pydantic import ValidationError

from acta.engine.agents.agent import (
    DEFAULT_AGENT,
    AgentDefinition,
    Models,
    built_in,
    unknown_tools,
    with_built_in,
)
from acta.engine.plans.plan import UPDATE_PLAN
from acta.engine.tools.builtin import builtins

REGISTRY = builtins()


def agent(agent_id: str = "a", **fields: object) -> AgentDefinition:
    return AgentDefinition.model_validate({"agent_id": agent_id, "name": "A", "version": 1, **fields})


@pytest.mark.parametrize("fields", [{}, {"tools": "all"}, {"tools": []}])
def test_an_agent_has_all_tools_in_the_registry_s_order_unless_it_names_some(
    fields: dict[str, Any],
) -> None:
    assert (agent(**fields).tools, agent(**fields).named_tools) == ("all", ())
    assert agent(**fields).toolset(REGISTRY) == REGISTRY
    assert list(built_in().toolset(REGISTRY)) == list(REGISTRY)


def test_named_tools_are_all_it_has_besides_those_of_the_session_itself() -> None:
    tools = agent(tools=("read_file", "gone")).toolset(REGISTRY)
    always = {name for name, each in REGISTRY.items() if each.always}
    assert UPDATE_PLAN in always
    assert set(tools) == {"read_file", *always}


@pytest.mark.parametrize("tools", ["all", ("read_file", "create_file")])
def test_a_tool_that_is_denied_is_none_of_an_agent_s_whatever_its_tools_say(tools: object) -> None:
    denying = agent(tools=tools, deny=("create_file", "gone", UPDATE_PLAN)).toolset(REGISTRY)
    assert list(denying) == [name for name in agent(tools=tools).toolset(REGISTRY) if name != "create_file"]


@pytest.mark.parametrize("tools", ["al", "", None, 5, {"read_file": True}])
def test_what_is_neither_the_word_nor_a_list_is_told_both(tools: object) -> None:
    with pytest.raises(ValidationError) as wrong:
        agent(tools=tools)
    (error,) = wrong.value.errors()
    assert (error["loc"], error["msg"]) == (("tools",), 'Send "all", or a list with the names of tools.')


def test_an_agent_adds_high_stakes_and_takes_none_away() -> None:
    tools = agent(high_stakes=("create_file",)).toolset(REGISTRY)
    assert {name for name, spec in tools.items() if spec.high_stakes} == {"create_file", "delete_file"}
    assert not REGISTRY["create_file"].high_stakes


def test_agent_prompt_planning_prompt_and_goal_come_in_this_order_and_never_change() -> None:
    definition = agent(system_prompt="  You are Ann.\n", goal="Tidy up")
    assert definition.system("Plan.\n") == "You are Ann.\n\nPlan.\n\nWhat you are there for:\nTidy up"
    assert agent(system_prompt="You are Ann.").system("Plan.") == "You are Ann.\n\nPlan."


def test_a_purpose_without_a_model_of_its_own_takes_the_agent_s() -> None:
    definition = agent(model="m", models=Models(plan="p"))
    assert (definition.named_for("plan")[1], definition.named_for("final")[1]) == ("p", "m")
    assert built_in().named_for("think") == (None, None)


@pytest.mark.parametrize("field", ["default_action", "auto_approve", "approve"])
def test_there_is_no_way_to_say_that_high_stakes_are_approved_by_default(field: str) -> None:
    with pytest.raises(ValidationError):
        agent(**{field: "approve"})


def test_each_unknown_tool_is_reported_once_with_what_is_near_or_what_there_is() -> None:
    assert unknown_tools(["read_file"], list(REGISTRY)) == []
    near, far = unknown_tools(["raed_file", "raed_file", "xq"], ["read_file", "list_files"])
    assert near == "There is no tool 'raed_file'. Did you mean read_file, list_files?"
    assert far == "There is no tool 'xq'. There are: read_file, list_files."


def test_of_many_unknown_tools_the_first_ones_are_named_and_the_others_counted() -> None:
    told = unknown_tools([f"tool{n}" for n in range(100)], ["list_files"])
    assert len(told) == 6
    assert told[-1] == "There are no tools of 95 more of these names."


@pytest.mark.parametrize(
    ("stored", "after", "complete", "shown"),
    [
        ([], None, True, [DEFAULT_AGENT]),
        (["a", "e"], None, True, ["a", DEFAULT_AGENT, "e"]),
        (["a", "e"], None, False, ["a", DEFAULT_AGENT, "e"]),
        (["a", "b"], None, False, ["a", "b"]),
        (["a", "b"], None, True, ["a", "b", DEFAULT_AGENT]),
        (["e"], "b", True, [DEFAULT_AGENT, "e"]),
        (["e"], DEFAULT_AGENT, True, ["e"]),
        (["e"], "dz", True, ["e"]),
        ([], "z", True, []),
        (["a", DEFAULT_AGENT], None, True, ["a", DEFAULT_AGENT]),
    ],
)
def test_the_built_in_agent_stands_once_in_its_place(
    stored: list[str], after: str | None, complete: bool, shown: list[str]
) -> None:
    found = with_built_in([agent(agent_id) for agent_id in stored], after, complete=complete)
    assert [each.agent_id for each in found] == shown

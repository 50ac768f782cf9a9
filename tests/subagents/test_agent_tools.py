"""The agents of an agent: which definitions are refused, and the tools that they become (docs/design/sub-agents.md)."""

from collections.abc import Mapping
from typing import Any

import pytest

from acta.engine.agents.agent import MAX_SUB_AGENT_CHARS, AgentDefinition
from acta.engine.agents.dynamodb import agent_item, item_agent
from acta.engine.errors import ToolInputInvalid
from acta.engine.settings import Settings
from acta.engine.store.schema import CURRENT
from acta.engine.subagents.tool import (
    MAX_MAP,
    MAX_SHAPE_CHARS,
    MAX_TREE,
    AgentTool,
    ChildTask,
    agent_tools,
    child_tasks,
    circle,
)
from acta.engine.tools.registry import BuiltinRegistry
from acta.testing import uses
from tests.api.deployment import AdminApi
from tests.in_process.house import TENANT, House
from tests.in_process.scripted import ScriptedModel, plans

SEARCHER = AgentDefinition(agent_id="searcher", name="Searcher", goal="Finds sources.", version=1)


def agent(agent_id: str = "lead", **fields: Any) -> AgentDefinition:
    return AgentDefinition.model_validate({"agent_id": agent_id, "name": "Lead", "version": 1, **fields})


def tool_of(entry: Mapping[str, Any], child: AgentDefinition = SEARCHER) -> AgentTool:
    (tool,) = agent_tools(agent(agents=[entry]), lambda agent_id: child).values()
    return tool


# ---- what the model is offered


def test_the_words_are_the_entry_s_own_or_else_the_other_agent_s_name_and_goal() -> None:
    assert tool_of({"agent": "searcher"}).description == "An agent. Searcher: Finds sources."
    own = tool_of({"agent": "searcher", "as": "find_sources", "description": "Looks things up."})
    assert (own.name, own.description) == ("find_sources", "An agent. Looks things up.")
    long = SEARCHER.model_copy(update={"goal": "x" * 4_000})
    assert len(tool_of({"agent": "searcher"}, long).description) < MAX_SUB_AGENT_CHARS + 20


def test_the_shape_of_the_answer_is_told_unless_it_is_too_long() -> None:
    shape = {"type": "object", "properties": {"sources": {"type": "array"}}}
    answering = SEARCHER.model_copy(update={"output_schema": shape})
    said = tool_of({"agent": "searcher"}, answering).description
    assert said.endswith('of this schema: {"type":"object","properties":{"sources":{"type":"array"}}}')
    large = {"type": "object", "description": "x" * MAX_SHAPE_CHARS}
    said = tool_of({"agent": "searcher"}, SEARCHER.model_copy(update={"output_schema": large})).description
    assert said.endswith("It answers with JSON.")


@pytest.mark.parametrize(
    ("arguments", "tasks"),
    [
        ({"goal": "Find A."}, [ChildTask("Find A.", (), "")]),
        ({"goal": "Read.", "files": ["a.md"]}, [ChildTask("Read.", ("a.md",), "a.md")]),
        (
            {
                "goal": "Find sources.",
                "files": ["a.md"],
                "map": ["on rivers", {"goal": "on lakes"}, {"files": ["b.md"]}],
                "at_once": 2,
            },
            [
                ChildTask("Find sources.\n\non rivers", ("a.md",), "on rivers"),
                ChildTask("Find sources.\n\non lakes", ("a.md",), "on lakes"),
                ChildTask("Find sources.", ("a.md", "b.md"), "b.md"),
            ],
        ),
    ],
)
def test_a_call_says_what_each_child_is_to_do(arguments: dict[str, Any], tasks: list[ChildTask]) -> None:
    BuiltinRegistry().check(tool_of({"agent": "searcher"}), arguments)
    assert [*child_tasks(arguments)] == tasks


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"goal": ""},
        {"goal": "Go.", "map": []},
        {"goal": "Go.", "map": ["x"] * (MAX_MAP + 1)},
        {"goal": "Go.", "map": [{"agent": "other"}]},
        {"goal": "Go.", "at_once": 0},
        {"goal": "Go.", "depth": 9},
    ],
)
def test_a_call_that_says_anything_else_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolInputInvalid):
        BuiltinRegistry().check(tool_of({"agent": "searcher"}), arguments)


def test_a_call_is_bound_to_what_it_does_and_not_to_the_words_for_the_model() -> None:
    plain = tool_of({"agent": "searcher"}).written
    assert tool_of({"agent": "searcher", "as": "find", "description": "Other words."}).written == plain
    others: list[dict[str, Any]] = [
        {"agent": "writer"},
        {"agent": "searcher", "files": "given"},
        {"agent": "searcher", "caps": {"max_steps": 3}},
    ]
    assert plain not in [tool_of(other).written for other in others]


def test_deny_takes_an_agent_away_high_stakes_asks_about_it_and_tools_need_not_name_it() -> None:
    registry = agent_tools(agent(agents=[{"agent": "searcher"}]), lambda agent_id: SEARCHER)
    assert [*agent(tools=["read_file"]).toolset(registry)] == ["searcher"]
    assert not agent().toolset(registry)["searcher"].high_stakes
    assert agent(high_stakes=["searcher"]).toolset(registry)["searcher"].high_stakes
    assert not agent(deny=["searcher"]).toolset(registry)


def test_a_turn_a_call_and_a_question_see_the_same_tool() -> None:
    house = House(ScriptedModel([plans("Ask."), uses("searcher", goal="Find A.")]))
    for each in (SEARCHER, agent(agents=[{"agent": "searcher"}], high_stakes=["searcher"])):
        house.definitions.create_agent(TENANT, each)
    session = house.start("Ask the searcher.", agent_id="lead").session_id
    house.run()
    (asked,) = house.head(session).interventions
    assert (asked.type, asked.tool_call and asked.tool_call.name) == ("approval_required", "searcher")
    assert isinstance(house.registry.specs(TENANT, "lead")["searcher"], AgentTool)
    assert "searcher" not in house.registry.specs(TENANT, "searcher")
    assert "searcher" not in house.registry.specs(TENANT, "")


# ---- what is stored, and what is refused


def test_an_entry_is_stored_and_read_again_as_it_was_written() -> None:
    caps = {"max_steps": 5, "token_budget": 9_000, "cost_budget_usd": 0.5}
    entry = {"agent": "searcher", "as": "find", "description": "Finds.", "caps": caps, "files": "given"}
    written = agent(agents=[entry, {"agent": "writer"}])
    assert item_agent(agent_item("acme", written, CURRENT)) == written


@pytest.fixture
def api() -> AdminApi:
    return AdminApi()


def put(api: AdminApi, agent_id: str, *called: str | Mapping[str, Any], **fields: Any) -> Any:
    entries = [{"agent": each} if isinstance(each, str) else each for each in called]
    body = {"name": agent_id.title(), "agents": entries, **fields}
    if api.admin.request("GET", f"/v1/agents/{agent_id}").status == 404:
        return api.admin.request("POST", "/v1/agents", json_body={"agent_id": agent_id, **body})
    return api.admin.request("PUT", f"/v1/agents/{agent_id}", json_body=body)


def details(answer: Any) -> dict[str, str]:
    assert (answer.status, answer.error["code"]) == (400, "VALIDATION_ERROR")
    return {field: " ".join(sentences) for field, sentences in answer.error["details"].items()}


def test_entries_are_answered_as_they_were_written(api: AdminApi) -> None:
    assert put(api, "searcher").status == 201
    entry = {"agent": "searcher", "as": "find", "caps": {"cost_budget_usd": 0.5}, "files": "given"}
    limits = {"depth": 2, "children": 40, "children_at_once": 5}
    written = put(api, "lead", entry, limits=limits).data
    assert (written["agents"], written["limits"]) == ([entry], limits)
    assert api.member.request("GET", "/v1/agents/lead").data == written
    assert "find" not in [tool["name"] for tool in api.member.request("GET", "/v1/tools").data["items"]]


def test_an_agent_that_does_not_exist_is_refused_with_similar_ones(api: AdminApi) -> None:
    put(api, "searcher")
    put(api, "writer")
    said = details(put(api, "lead", "writer", "seacher"))
    assert said == {"agents.1.agent": "There is no agent seacher. Did you mean searcher?"}
    assert api.stranger.request("GET", "/v1/agents/lead").status == 404


def test_a_circle_is_refused_and_named(api: AdminApi) -> None:
    assert details(put(api, "a", "a"))["agents"].startswith("The agent would call itself: a -> a.")
    assert [put(api, each, *called).status for each, *called in [("c",), ("b", "c"), ("a", "b")]] == [201] * 3
    assert details(put(api, "c", "a"))["agents"].startswith("The agent would call itself: c -> a -> b -> c.")
    assert put(api, "default", "a").status == 200
    assert details(put(api, "b", "default"))["agents"].startswith(
        "The agent would call itself: b -> default -> a -> b."
    )


def test_two_ways_to_one_agent_are_no_circle(api: AdminApi) -> None:
    made = [("c",), ("b", "c"), ("a", "b", "c")]
    assert [put(api, each, *called).status for each, *called in made] == [201] * 3


def test_more_agents_than_can_be_looked_through_are_refused() -> None:
    tree = {str(number): [str(number + 1)] for number in range(MAX_TREE + 2)}
    assert circle("a", ["0"], lambda name: tree.get(name, [])) is None
    assert circle("a", ["3"], lambda name: tree.get(name, [])) == ()


@pytest.mark.parametrize(
    ("entries", "field", "says"),
    [
        ([{"agent": "searcher", "as": "read_file"}], "agents.0.as", "There is a tool read_file already."),
        ([{"agent": "searcher"}, {"agent": "searcher"}], "agents.1.as", "Two entries are called searcher."),
        ([{"agent": "searcher", "as": "find it"}], "agents.0.as", "'find it' is no name of a tool"),
        ([{"agent": "7up"}], "agents.0.as", "'7up' is no name of a tool"),
    ],
)
def test_a_name_that_no_tool_can_have_is_refused(
    api: AdminApi, entries: list[dict[str, Any]], field: str, says: str
) -> None:
    put(api, "searcher")
    put(api, "7up")
    said = details(put(api, "lead", *entries))
    assert list(said) == [field]
    assert says in said[field]


def test_a_child_is_given_no_more_than_the_deployment_allows() -> None:
    api = AdminApi(Settings(env="test", table="table", bucket="bucket", cap_max_steps=30))
    put(api, "searcher")
    said = details(put(api, "lead", {"agent": "searcher", "caps": {"max_steps": 31}}))
    assert said == {"agents.0.caps.max_steps": "The most in this deployment is 30."}


def test_the_same_agent_may_be_called_under_two_names(api: AdminApi) -> None:
    put(api, "searcher")
    assert put(api, "lead", "searcher", {"agent": "searcher", "as": "quick"}).status == 201


def test_an_agent_s_own_agents_may_be_named_where_tools_are(api: AdminApi) -> None:
    put(api, "searcher")
    named = {"high_stakes": ["searcher"], "tools": ["read_file", "searcher"]}
    assert put(api, "lead", "searcher", **named).status == 201
    assert "tools" in details(put(api, "other", tools=["searcher"]))


def test_an_agent_that_others_may_call_is_deleted_only_by_force(api: AdminApi) -> None:
    put(api, "searcher")
    put(api, "lead", "searcher")
    kept = api.admin.request("DELETE", "/v1/agents/searcher")
    assert (kept.status, kept.error["details"]) == (409, {"agents": ["lead"]})
    assert api.admin.request("DELETE", "/v1/agents/searcher", query="force=true").status == 204
    (warning,) = api.member.request("GET", "/v1/agents/lead").data["warnings"]
    assert warning == "There is no agent searcher any more: sessions of this agent go on without it."
    assert not agent_tools(agent(agents=[{"agent": "searcher"}]), lambda agent_id: None)


def test_the_default_agent_is_deleted_though_others_may_call_it_because_the_built_in_one_is_left(
    api: AdminApi,
) -> None:
    put(api, "default")
    put(api, "lead", "default")
    assert api.admin.request("DELETE", "/v1/agents/default").status == 204
    assert api.member.request("GET", "/v1/agents/lead").data["warnings"] == []

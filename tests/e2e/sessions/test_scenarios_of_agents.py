"""Agents, prompts, memories, protocols and budgets in force on the deployed loop, seen at the provider's wire."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support import scenarios
from tests.e2e.support.behind import Behind
from tests.e2e.support.gate import Gate
from tests.e2e.support.person import Json, Person
from tests.e2e.support.script import Call, do, end, listing, plan, question, read, step, write
from tests.e2e.support.stage import Stage, asked_for

PROMPT = "/v1/admin/prompts/agent_planning_system"
MODEL = "claude-opus-5"
"""One that has a price."""
TOKENS_PER_HOUR = 60_000
SPEAKS_MUCH = 30_000
"""Output tokens a call may have: two such calls do not fit into a tenant's hour."""


@pytest.fixture(scope="module")
def gated(behind: Behind, llmock_server: Any) -> Iterator[Gate]:
    with Gate(llmock_server.port) as gate:
        base_url = gate.url + llmock_server.base_url("anthropic").removeprefix(llmock_server.url)
        variables = {
            "ACTA_PROVIDER": "anthropic",
            "ACTA_MODEL": MODEL,
            "ACTA_TENANT_TOKENS_PER_HOUR": str(TOKENS_PER_HOUR),
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": base_url,
        }
        with behind.configured("step", **variables):
            yield gate


@pytest.fixture
def boss(admit: Admit) -> Person:
    """An admin of a tenant that is this test's alone."""
    return admit(role="admin")


@pytest.fixture
def stage(gate: Gate, llmock: Any, boss: Person) -> Stage:
    return Stage(boss, llmock.tool_mode("off"))


def hire(boss: Person, **definition: Any) -> str:
    answer = boss.post("/v1/agents", {"name": "The keeper", **definition})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["data"]["agent_id"])


def text_of(body: Json) -> str:
    """All that a request says after its system prompt."""
    return "\n".join(
        block.get("text") or str(block.get("content", ""))
        for message in body["messages"]
        for block in message["content"]
    )


def test_a_prompt_edited_while_the_model_thinks_is_in_force_from_the_next_turn(
    stage: Stage, gate: Gate, boss: Person
) -> None:
    stage.prepare(do(plan("List the files")), do(listing()), end("None.", 1))
    gate.shut()
    session_id = boss.start("Which files do I have?")
    gate.wait_for_a_request()

    edited = boss.http.put(PROMPT, json={"content": "Plan in rhymes."})

    gate.open()
    assert (edited.status_code, edited.json()["data"]["version"]) == (200, 2)
    assert boss.finished(session_id).session["state"] == "completed"
    assert ["Plan in rhymes." in text for text in stage.systems] == [False, True, True]
    assert len(boss.items(f"{PROMPT}/versions")) == 2


def test_an_agent_works_with_its_own_prompt_models_tools_and_limits(stage: Stage, boss: Person) -> None:
    agent_id = hire(
        boss,
        system_prompt="You keep the archive.",
        goal="Nothing gets lost",
        models={"plan": "claude-opus-5", "think": "claude-haiku-4-5", "final": "claude-sonnet-5"},
        tools=["read_file", "create_file"],
        limits={"max_steps": 3, "max_output_tokens": 512, "token_budget": 40_000},
        high_stakes=["create_file"],
    )
    boss.put_file("a.txt", "alpha")
    last = step(1)
    stage.prepare(do(plan("Read a.txt")), do(read("a.txt")), do(last), end("alpha."))

    seen = boss.finished(boss.start("What does a.txt say?", agent_id=agent_id))

    assert all(
        text.startswith("You keep the archive.") and "Nothing gets lost" in text for text in stage.systems
    )
    models = [body["model"] for body in stage.requests]
    assert models == ["claude-opus-5", "claude-haiku-4-5", "claude-haiku-4-5", "claude-sonnet-5"]
    assert {body["max_tokens"] for body in stage.requests} == {512}
    offered = {tool["name"] for tool in stage.requests[1]["tools"]}
    assert offered == {"update_plan", "read_result", "read_file", "create_file"}
    assert (seen.session["run"]["max_steps"], seen.session["run"]["iteration"]) == (3, 3)
    assert seen.session["budget"]["token_budget"] == 40_000
    assert seen.session["result"]["goal_met"] is True


def test_an_agent_s_own_high_stakes_are_asked_about(stage: Stage, boss: Person) -> None:
    agent_id = hire(boss, high_stakes=["create_file"])
    stage.prepare(do(plan("Write a.txt")), do(write("a.txt")))
    (asked,) = boss.asked(boss.start("Write a.txt", agent_id=agent_id)).session["interventions"]
    assert (asked["type"], asked["tool_call"]["name"]) == ("approval_required", "create_file")
    assert boss.files() == set()


def test_an_agent_is_offered_those_that_it_may_call_and_a_person_approves_the_call(
    stage: Stage, boss: Person
) -> None:
    shape = {"type": "object", "properties": {"sources": {"type": "array"}}}
    searcher = hire(boss, agent_id="searcher", goal="Finds sources", output_schema=shape)
    entry = {"agent": searcher, "as": "find_sources", "caps": {"max_steps": 5}, "files": "given"}
    agent_id = hire(boss, tools=["read_file"], agents=[entry], high_stakes=["find_sources"])
    goal = {"goal": "Find sources", "map": ["on rivers", {"files": ["a.txt"]}]}
    stage.prepare(do(plan("Find sources")), do(Call("find_sources", goal)))

    seen = boss.asked(boss.start("Write about rivers", agent_id=agent_id))

    (tool,) = [each for each in stage.requests[0]["tools"] if each["name"] == "find_sources"]
    assert tool["description"].startswith("An agent. The keeper: Finds sources It answers with JSON")
    assert set(tool["input_schema"]["properties"]) == {"goal", "files", "map", "at_once"}
    (asked,) = seen.session["interventions"]
    assert (asked["type"], asked["tool_call"]["name"]) == ("approval_required", "find_sources")
    assert asked["tool_call"]["input"] == goal


def test_agents_that_would_call_themselves_are_refused_and_called_ones_stay(boss: Person) -> None:
    hire(boss, agent_id="b")
    hire(boss, agent_id="a", agents=[{"agent": "b"}])
    circle = boss.http.put("/v1/agents/b", json={"name": "B", "agents": [{"agent": "a"}]})
    assert circle.status_code == 400
    (said,) = circle.json()["error"]["details"]["agents"]
    assert said.startswith("The agent would call itself: b -> a -> b.")
    kept = boss.http.delete("/v1/agents/b")
    assert (kept.status_code, kept.json()["error"]["details"]) == (409, {"agents": ["a"]})
    assert boss.http.delete("/v1/agents/b?force=true").status_code == 204
    (warning,) = boss.data("/v1/agents/a")["warnings"]
    assert warning.startswith("There is no agent b any more")


def test_what_a_session_noted_for_later_reaches_the_next_one_and_what_it_noted_for_itself_does_not(
    stage: Stage, boss: Person
) -> None:
    lesson, note = "Invoices live in the folder finance.", "The invoices total 42."
    notes = (
        Call("remember", {"scope": "agent", "kind": "lesson", "text": lesson}),
        Call("remember", {"scope": "session", "text": note}),
    )
    stage.prepare(do(plan("Find the invoices")), do(*notes), end("Found.", 1))
    boss.finished(boss.start("Find the invoices"))
    assert note in stage.suffixes[2], "a scratchpad for the rest of its session"

    stage.prepare(do(plan("Sum them up")), end("42.", 1))
    boss.finished(boss.start("Sum up the invoices"))

    later = stage.requests[3:]
    assert len(later) == 2
    assert all(lesson in suffix for suffix in stage.suffixes[3:])
    assert not any(lesson in text for text in stage.systems), "the prefix stays as it is"
    assert not any(note in text_of(body) for body in later)


def test_a_model_without_tools_is_worked_with_in_text(stage: Stage, boss: Person) -> None:
    seen = stage.play(scenarios.REACT, agent_id=hire(boss, protocol="react"))
    assert all("tools" not in body for body in stage.requests)
    assert "could not be read" in text_of(stage.requests[2]), "what was wrong is fed back"
    assert "step 1 is open" in stage.suffixes[6]
    assert [event["data"]["name"] for event in seen.of("tool.finished")] == [
        "read_file",
        "list_files",
        "read_file",
    ]
    rows = [
        row for row in stage.told(seen, "trace")["items"] if row.get("action") in ("read_file", "list_files")
    ]
    assert [(row["thought"], row["action"], row["action_input"]) for row in rows] == [
        ("In the form that is asked for.", "read_file", {"path": "alpha.txt"}),
        ("Not there. What is?", "list_files", {}),
        ("a.txt it must be.", "read_file", {"path": "a.txt"}),
    ]
    assert rows[0]["observation"].startswith("Error")
    assert "alpha" in rows[2]["observation"]


def test_a_session_warns_of_its_budget_pauses_at_it_and_completes_when_it_is_raised(
    stage: Stage, boss: Person
) -> None:
    words = "a word " * 1_900
    stage.prepare(
        do(plan("Look", "Tell")), do(listing(), text=words), do(listing("a")), end("Nothing.", 1, 2)
    )
    session_id = boss.start("Look around", cost_budget_usd=0.1)

    waiting = boss.asked(session_id)

    (asked,) = waiting.session["interventions"]
    assert asked["type"] == "budget_exceeded"
    assert asked["options"] == ["raise", "finish", "cancel"]
    assert [e["type"] for e in waiting.of("budget.warning", "intervention.opened")] == [
        "budget.warning",
        "intervention.opened",
    ]
    # No model writes more than it may, and the scripted one says what it is told: four characters for each token.
    assert len(words) / 4 < stage.requests[1]["max_tokens"] - 100
    spent = waiting.session["usage"]["cost_usd"]
    assert 0 < spent <= waiting.session["budget"]["cost_budget_usd"] == 0.1, (
        "no call was made that could pass it"
    )
    assert boss.resolve(
        session_id, asked["intervention_id"], "raise", input={"cost_budget_usd": 1.0}
    ).is_success
    done = boss.finished(session_id)
    assert done.session["result"]["goal_met"] is True
    assert done.session["budget"]["cost_budget_usd"] == 1.0
    assert done.session["usage"]["cost_usd"] > spent


def test_a_tenants_hour_is_shared_by_its_sessions_and_waited_for(
    stage: Stage, boss: Person, admit: Admit
) -> None:
    agent_id = hire(boss, limits={"max_output_tokens": SPEAKS_MUCH})
    stage.prepare(*[do(plan("Wait")), do(question("Which one?"))] * 3)
    limits = {"agent_id": agent_id, "token_budget": 1_000_000}

    def waits(session: Json) -> bool:
        return session["state"] in ("completed", "waiting_for_user")

    # A session that asks a person keeps what it was leased of the hour, until it is parked.
    sessions = [boss.watch(boss.start("Wait", **limits), waits) for _ in range(3)]

    # An hour may end meanwhile, but not two.
    held = [seen for seen in sessions if asked_for(seen) == ["budget_exceeded"]]
    assert held
    (asked,) = held[0].session["interventions"]
    assert (asked["type"], asked["context"]["scope"]) == ("budget_exceeded", "tenant")
    assert asked["default_action"] == "continue"
    assert asked["timeout_at"].partition(":")[2].startswith("00:00"), "when the next hour begins"
    assert held[0].session["usage"]["llm_calls"] == 0

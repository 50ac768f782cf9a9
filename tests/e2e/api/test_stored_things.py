"""Prompts, agents and memories of a deployment: seeded by it, edited over HTTP, in force from the next turn."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Json, Person, refused
from tests.e2e.support.thinking import calls, end, plan

PROMPT = "/v1/admin/prompts/agent_planning_system"
PARTS = "You keep the parts."


@pytest.fixture(scope="module")
def provider(behind: Behind, llmock_server: Any) -> Iterator[str]:
    variables = {
        "ACTA_PROVIDER": "openai",
        "ACTA_MODEL": "m",
        "OPENAI_API_KEY": "k",
        "OPENAI_BASE_URL": llmock_server.base_url("openai"),
    }
    with behind.configured("step", **variables):
        yield "openai"


@pytest.fixture
def model(provider: str, llmock: Any) -> Any:
    return llmock.tool_mode("off")


@pytest.fixture
def boss(admit: Admit) -> Person:
    """An admin of a tenant that is this test's alone."""
    return admit(role="admin")


def put(person: Person, path: str, body: Json) -> Json:
    answer = person.http.put(path, json=body)
    assert answer.status_code == 200, answer.text
    data: Json = answer.json()["data"]
    return data


def systems(model: Any) -> list[str]:
    """What each request begins with."""
    return [record.body["messages"][0]["content"] for record in model.requests]


def test_the_deployment_has_stored_the_product_s_prompt(boss: Person, behind: Behind) -> None:
    prompt = boss.data(PROMPT)
    assert (prompt["version"], prompt["content"]) == (1, prompt["seed_content"])
    assert prompt["created_at"] is not None, "it comes from the store, not from the code"


def test_an_edit_is_in_force_from_the_next_turn_of_a_running_session(boss: Person, model: Any) -> None:
    boss.put_file("a.txt", "text a")
    model.add(plan(), calls(("read_file", {"path": "a.txt"})), end())
    session_id = boss.start("Read", review_every=1)
    waiting = boss.asked(session_id)
    (review,) = waiting.session["interventions"]
    before = systems(model)

    put(boss, PROMPT, {"content": "Work in silence."})
    boss.post("/v1/agents", {"agent_id": "other", "name": "Other"})
    put(boss, "/v1/agents/default", {"name": "Ours", "system_prompt": PARTS})
    boss.resolve(session_id, review["intervention_id"], "continue")
    boss.finished(session_id, waiting.cursor)

    after = systems(model)[len(before) :]
    assert all(PARTS not in text and "Work in silence." not in text for text in before)
    assert [text.startswith(f"{PARTS}\n\nWork in silence.") for text in after] == [True]


def test_a_stored_agent_has_its_prompt_its_tools_and_its_model_and_no_others(
    boss: Person, model: Any
) -> None:
    body = {
        "agent_id": "keeper",
        "name": "Keeper",
        "system_prompt": PARTS,
        "goal": "Every part in its box",
        "model": "of-the-agent",
        "tools": ["read_file"],
        "limits": {"max_steps": 7},
    }
    assert boss.post("/v1/agents", body).status_code == 201
    model.add(plan(), calls(("list_files", {})), end())

    seen = boss.finished(boss.start("Look", agent_id="keeper"))

    assert (seen.session["agent_id"], seen.session["run"]["max_steps"]) == ("keeper", 7)
    assert {record.body["model"] for record in model.requests} == {"of-the-agent"}
    assert all(text.startswith(PARTS) and "Every part in its box" in text for text in systems(model))
    thinking = model.requests[1].body
    assert {tool["function"]["name"] for tool in thinking["tools"]} == {
        "update_plan",
        "read_result",
        "read_file",
    }
    assert "There is no tool" in json.dumps(model.last_request.body)


def test_what_one_session_remembers_another_one_reads_and_can_recall(boss: Person, model: Any) -> None:
    note = "Invoices are kept in finance/2026"
    model.add(plan(), calls(("remember", {"text": note, "scope": "agent", "kind": "lesson"})), end())
    first = boss.finished(boss.start("Find out where invoices are"))
    assert first.session["state"] == "completed"
    (memory,) = boss.items("/v1/memories", agent_id="default")
    assert (memory["kind"], memory["text"]) == ("lesson", note)
    assert memory["source"] == {"session_id": first.session["session_id"]}

    begun = len(model.requests)
    model.add(plan(), calls(("recall", {"query": "invoices"})), end())
    second = boss.finished(boss.start("Sum up the invoices"))

    assert second.session["state"] == "completed"
    assert note in json.dumps(model.requests[begun].body), "told at the end of the first request"
    assert f"[lesson] {note}" in json.dumps(model.last_request.body), "and recalled"


def test_another_tenant_has_neither_the_agent_nor_the_memory_nor_the_edit(boss: Person, admit: Admit) -> None:
    stranger = admit(role="admin")
    assert boss.post("/v1/agents", {"agent_id": "keeper", "name": "Keeper"}).status_code == 201
    memory = boss.post("/v1/memories", {"kind": "fact", "text": "ours"}).json()["data"]
    put(boss, PROMPT, {"content": "Ours."})

    refused(stranger.get("/v1/agents/keeper"), 404, "NOT_FOUND")
    refused(stranger.get(f"/v1/memories/{memory['memory_id']}"), 404, "NOT_FOUND")
    refused(stranger.post("/v1/sessions", {"content": "x", "agent_id": "keeper"}), 400, "VALIDATION_ERROR")
    assert stranger.items("/v1/memories") == []
    assert stranger.data(PROMPT)["version"] == 1
    refused(admit(boss.tenant).get(PROMPT), 403, "FORBIDDEN")

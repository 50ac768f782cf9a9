"""A tree of sessions on the deployed loop: who works, who waits for whom, and what it cost."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.script import Call, Say, do
from tests.e2e.support.stage import Stage


@pytest.fixture(scope="module")
def scripted(behind: Behind, llmock_server: Any) -> Iterator[None]:
    model = {
        "ACTA_PROVIDER": "anthropic",
        "ACTA_MODEL": "claude-opus-5",  # one that has a price
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": llmock_server.base_url("anthropic"),
    }
    with behind.configured("step", **model):
        yield


@pytest.fixture
def boss(scripted: None, admit: Admit) -> Person:
    """An admin of a tenant that is this test's alone, with an agent `lead` that may call the agent `worker`."""
    person = admit(role="admin")
    for body in (
        {"agent_id": "worker", "name": "Worker", "planning": "when_needed"},
        {"agent_id": "lead", "name": "Lead", "planning": "when_needed", "agents": [{"agent": "worker"}]},
    ):
        assert person.post("/v1/agents", body).status_code == 201
    return person


@pytest.fixture
def stage(llmock: Any, boss: Person) -> Stage:
    return Stage(boss, llmock.tool_mode("off"))


SIDE_BY_SIDE = Call("worker", {"goal": "Look at one half", "map": ["the left one", "the right one"]})


def test_two_workers_side_by_side_answer_their_parents_call(stage: Stage, boss: Person) -> None:
    stage.prepare(
        do(SIDE_BY_SIDE), Say("Nothing there."), Say("Nothing there."), Say("Both halves are empty.")
    )

    seen = boss.finished(boss.start("Look at both halves", agent_id="lead"))

    assert (seen.session["state"], seen.session["result"]["answer"]) == (
        "completed",
        "Both halves are empty.",
    )
    (told,) = stage.results(seen)
    assert told.count("Nothing there.") == 2
    worker, other = (body["messages"][0] for body in stage.requests[1:3])
    assert {"the left one" in str(worker), "the left one" in str(other)} == {True, False}


def test_the_tree_of_a_session_its_costs_and_its_events_are_seen_over_the_api(
    stage: Stage, boss: Person
) -> None:
    stage.prepare(
        do(SIDE_BY_SIDE), Say("Nothing there."), Say("Nothing there."), Say("Both halves are empty.")
    )
    seen = boss.finished(boss.start("Look at both halves", agent_id="lead"))
    path = f"/v1/sessions/{seen.session['session_id']}"

    lead, first, second = boss.items(f"{path}/tree")
    assert (lead["depth"], lead["agent_name"], lead["made"], lead["at_work"]) == (0, "Lead", 2, 0)
    assert [(each["depth"], each["item"], each["goal_met"]) for each in (first, second)] == [
        (1, 1, True),
        (1, 2, True),
    ]
    assert first["goal"].endswith("the left one")
    started, ended = seen.of("child.started"), seen.of("child.finished")
    assert {each["data"]["session_id"] for each in started} == {first["session_id"], second["session_id"]}
    assert sum(each["data"]["tokens"] for each in ended) == seen.session["children"]["tokens"] > 0
    tree = boss.data(f"{path}/receipt")["tree"]
    assert (tree["sessions"], tree["complete"]) == (3, True)
    assert tree["tokens"] == lead["tokens"] + first["tokens"] + second["tokens"]
    assert tree["models_usd"] == pytest.approx(sum(each["cost_usd"] for each in (lead, first, second)))
    assert [each["session_id"] for each in boss.items("/v1/sessions")] == [lead["session_id"]]
    child = boss.data(f"/v1/sessions/{first['session_id']}")["session"]
    assert child["parent"]["chain"][0]["session_id"] == lead["session_id"]

"""AG10, rogue agents: one that goes on for ever, makes more of itself and takes no notice of being stopped."""

from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Reply, ToolCall

from acta.infra.deployed.invoke_recovery import ALL_SESSIONS, run_recovery
from tests.conftest import Deployed
from tests.doubles.http_sink import Sink
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.conversing import http_tool
from tests.e2e.support.gate import Gate
from tests.e2e.support.person import Person, refused
from tests.e2e.support.script import Call, Say, do, listing, plan, write
from tests.e2e.support.stage import Stage

TURNS = 8
ROGUE = {"agent_id": "rogue", "name": "Rogue", "caps": {"max_steps": TURNS, "token_budget": 400_000}}
MORE_OF_ITSELF = [
    Call("spawn", {"n": 1}),
    Call("start_session", {"agent_id": "rogue", "content": "Go on"}),
    Call("create_agent", {"agent_id": "rogue-2", "caps": {"max_steps": 1_000}}),
    Call("raise_limits", {"max_steps": 1_000, "token_budget": 50_000_000}),
    Call("update_plan", {"action": "raise", "max_steps": 1_000}),
    Call("remember", {"text": "Never stop", "scope": "session"}),
]


@pytest.fixture(scope="module")
def gate(sink: Sink) -> Iterator[Gate]:
    """Shut, the server behind the tool does not answer."""
    with Gate(sink.server_port) as made:
        yield made


@pytest.fixture(scope="module")
def reachable(gate: Gate, deployed: Deployed) -> str:
    """The operator has made the mistake to let tools reach Acta itself."""
    return ",".join(url.removeprefix("http://") for url in (gate.url, deployed.url))


def going_on(number: int) -> Say:
    """A turn in which something new succeeds, and the agent tries to become more."""
    return do(listing(f"folder-{number}"), MORE_OF_ITSELF[number % len(MORE_OF_ITSELF)], text="On and on.")


@pytest.mark.thorough
def test_an_agent_that_never_means_to_end_has_its_turns_and_makes_no_more_of_itself(
    boss: Person, admit: Admit, llmock: Any, deployed: Deployed
) -> None:
    assert boss.post("/v1/agents", ROGUE).status_code == 201
    spawn = http_tool("spawn", f"{deployed.url}/v1/sessions", effect="read", high_stakes=False)
    assert boss.post("/v1/tools", spawn).status_code == 201
    mallory = admit(boss.tenant, "mallory")
    refused(
        mallory.post("/v1/sessions", {"agent_id": "rogue", "max_steps": TURNS + 1}), 400, "VALIDATION_ERROR"
    )
    stage = Stage(mallory, llmock.tool_mode("off"))
    stage.prepare(do(plan("Go on")), *map(going_on, range(3 * TURNS)))

    agents = boss.data("/v1/agents")
    seen = mallory.finished(mallory.start("Go on", agent_id="rogue", max_steps=TURNS))

    assert seen.session["run"]["iteration"] == seen.session["run"]["max_steps"] == TURNS
    assert len(stage.requests) == 1 + TURNS, "the plan, and what it was given"
    assert (seen.session["result"]["goal_met"], seen.session["result"]["reason"]) == (False, "max_steps")
    assert any("401" in text for text in stage.results(seen)), "it has no token of its own"
    assert [one["session_id"] for one in boss.items("/v1/sessions")] == [seen.session["session_id"]]
    assert boss.data("/v1/agents") == agents


@pytest.mark.thorough
def test_an_agent_that_does_the_same_for_ever_is_stopped_for_a_person_and_then_for_good(
    boss: Person, llmock: Any
) -> None:
    stage = Stage(boss, llmock.tool_mode("off"))
    stage.prepare(do(plan("Go on")))
    stage.model.add(Reply(tool_calls=(ToolCall("list_files", {}),), times=None))

    session_id = boss.start("Go on", max_steps=1_000)
    (asked,) = boss.asked(session_id).session["interventions"]
    assert asked["type"] == "error_recovery"
    before = len(stage.requests)
    assert boss.resolve(session_id, asked["intervention_id"], "retry").status_code == 200
    seen = boss.finished(session_id)

    assert (seen.session["state"], seen.session["error"]["code"]) == ("failed", "STUCK")
    assert before < len(stage.requests) <= 2 * before


def test_an_agent_that_was_cancelled_in_the_middle_of_a_call_does_nothing_more(
    boss: Person, llmock: Any, gate: Gate, sink: Sink, behind: Behind
) -> None:
    """Neither with the call's answer, nor by itself, nor when recovery looks at every session."""
    tool = http_tool("slow", f"{gate.url}/slow", effect="read", high_stakes=False)
    assert boss.post("/v1/tools", tool).status_code == 201
    stage = Stage(boss, llmock.tool_mode("off"))
    stage.prepare(do(plan("Go on")), do(Call("slow", {"n": 1}), text="I ask."))
    stage.prepare(do(write("never.txt"), text="I go on."), *map(going_on, range(TURNS)))
    gate.shut()
    session_id = boss.start("Go on")
    gate.wait_for_a_request()

    assert boss.post(f"/v1/sessions/{session_id}/cancel").json()["data"]["state"] == "cancelled"
    gate.open()
    ended = behind.ended(session_id)
    run_recovery(behind.client("lambda"), "local", ALL_SESSIONS)

    assert behind.ended(session_id) == ended
    assert boss.snapshot(session_id)["state"] == "cancelled"
    assert len(stage.requests) == 2
    assert boss.files() == set()

    assert boss.delete(f"/v1/sessions/{session_id}").status_code == 204
    run_recovery(behind.client("lambda"), "local", ALL_SESSIONS)
    assert behind.ended(session_id) == ended
    assert boss.items("/v1/sessions") == []
    assert len(stage.requests) == 2

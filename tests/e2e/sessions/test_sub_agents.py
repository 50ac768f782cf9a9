"""A tree of sessions on the deployed loop: who works, who waits for whom, who stops whom, and what it cost."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Match, Reply

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.gate import Gate
from tests.e2e.support.own_tools import TENANT
from tests.e2e.support.person import Json, Person, refused
from tests.e2e.support.script import Call, Say, do
from tests.e2e.support.stage import Stage
from tests.e2e.support.thinking import calls

WORKER, HELPER = Match(model="claude-sonnet-5"), Match(model="claude-haiku-4-5")
"""Requests of an agent that has this model of its own."""


@pytest.fixture(scope="module")
def gated(behind: Behind, llmock_server: Any) -> Iterator[Gate]:
    with Gate(llmock_server.port) as gate:
        model = {
            "ACTA_PROVIDER": "anthropic",
            "ACTA_MODEL": "claude-opus-5",  # one that has a price
            "ANTHROPIC_API_KEY": "sk-test",
            "ANTHROPIC_BASE_URL": gate.url
            + llmock_server.base_url("anthropic").removeprefix(llmock_server.url),
        }
        with behind.configured("step", **model):
            yield gate


@pytest.fixture
def boss(gate: Gate, admit: Admit) -> Person:
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


# ---- what is done to a tree

HELPERS = 2


@pytest.fixture
def tree(gate: Gate, admit: Admit, model: Any) -> tuple[Person, list[Json]]:
    """A lead that waits for a worker, which waits for two helpers, whose first replies, each with a call that writes a
    file, stand at the gate.
    """
    person = admit(role="admin")
    for body in (
        {"agent_id": "helper", "model": HELPER.model},
        {"agent_id": "worker", "model": WORKER.model, "agents": [{"agent": "helper"}]},
        {"agent_id": "lead", "agents": [{"agent": "worker"}]},
    ):
        whole = {"name": body["agent_id"], "planning": "when_needed", **body}
        assert person.post("/v1/agents", whole).status_code == 201
    model.add(
        calls(("worker", {"goal": "Have both parts written"})),
        Reply(
            tool_calls=calls(("helper", {"goal": "Write it", "map": ["one", "two"]})).tool_calls, match=WORKER
        ),
        Reply(
            tool_calls=calls(("create_file", {"path": "out/part.md", "content": "x"})).tool_calls,
            match=HELPER,
            times=HELPERS,
        ),
        Reply(text="Written.", match=HELPER, times=HELPERS),
        Reply(text="Both are there.", match=WORKER),
        Reply(text="All is written."),
    )
    gate.shut()
    lead = person.start("Write both parts", agent_id="lead")
    for _ in range(2):
        gate.wait_for_a_request()
        gate.let_one_pass()
    for _ in range(HELPERS):
        gate.wait_for_a_request()
    return person, nodes(person, lead)


def nodes(person: Person, session_id: str) -> list[Json]:
    return person.items(f"/v1/sessions/{session_id}/tree")


def states(tree: list[Json]) -> list[tuple[str, str | None]]:
    return [(each["state"], each["state_reason"]) for each in tree]


def test_a_pause_of_the_parent_holds_the_tree_and_its_resume_lets_it_go_on(
    tree: tuple[Person, list[Json]], gate: Gate
) -> None:
    person, (lead, worker, *helpers) = tree
    path = f"/v1/sessions/{lead['session_id']}"

    assert person.post(f"{path}/pause").status_code == 202
    assert states(nodes(person, lead["session_id"])) == [("waiting_for_user", "paused")] * (2 + HELPERS)
    (asked,) = person.items("/v1/interventions", state="pending")
    assert asked["session_id"] == lead["session_id"]
    assert person.snapshot(worker["session_id"])["paused_by"] == lead["session_id"]
    refused(person.post(f"/v1/sessions/{worker['session_id']}/resume"), 409, "CONFLICT")
    gate.open()
    for helper in helpers:  # its model has answered, and nothing of it is carried out
        person.watch(helper["session_id"], lambda session: session["usage"]["llm_calls"] == 1)
    assert person.files() == set()

    assert person.post(f"{path}/resume").status_code == 202
    assert person.finished(lead["session_id"]).session["result"]["answer"] == "All is written."
    assert person.files() == {"out/part.md"}
    assert {state for state, _ in states(nodes(person, lead["session_id"]))} == {"completed"}


def test_a_cancel_of_the_parent_ends_the_tree_and_no_call_starts_in_it_afterwards(
    tree: tuple[Person, list[Json]], gate: Gate, behind: Behind
) -> None:
    person, (lead, *below) = tree

    assert person.post(f"/v1/sessions/{lead['session_id']}/cancel").status_code == 202
    assert states(nodes(person, lead["session_id"])) == [
        ("cancelled", "cancelled"),
        *[("cancelled", "parent_ended")] * (1 + HELPERS),
    ]
    gate.open()
    person.finished(person.start("Another goal"))  # late workers have had their answers by then
    for each in (lead, *below):
        behind.ended(each["session_id"])
    for helper in below[1:]:
        assert person.watch(helper["session_id"], lambda session: True).of("tool.started") == []
    assert person.files() == set()
    assert person.snapshot(lead["session_id"])["children"]["at_work"] == 0


# ---- whose money it is


def test_a_child_that_needs_more_asks_in_the_inbox_and_the_raise_is_its_parents_money(
    stage: Stage, boss: Person
) -> None:
    worker = {"name": "Worker", "planning": "when_needed", "limits": {"token_budget": 4_500}}
    assert boss.http.put("/v1/agents/worker", json=worker).status_code == 200
    stage.prepare(
        do(Call("worker", {"goal": "Write the report"})),
        Say("A long report. " * 900, (Call("list_files", {}),)),
        Say("Written."),
        Say("It is written."),
    )
    lead = boss.start("Have a report written", agent_id="lead", token_budget=40_000)
    boss.watch(lead, lambda session: bool(session["children"]))
    child = nodes(boss, lead)[1]["session_id"]
    boss.asked(child)
    (asked,) = boss.items("/v1/interventions", state="pending")

    assert asked["type"] == "budget_exceeded"
    assert [each["session_id"] for each in asked["chain"]] == [lead]
    left = asked["context"]["given_by"]["token_budget_left"]
    assert asked["context"]["given_by"]["session_id"] == lead

    def raised(tokens: int) -> Any:
        return boss.resolve(child, asked["intervention_id"], "raise", input={"token_budget": tokens})

    too_much = refused(raised(4_501 + left), 400, "VALIDATION_ERROR")
    assert f"at most {4_500 + left:,}" in str(too_much["details"])
    assert boss.snapshot(lead)["children"]["reserved_tokens"] == 4_500
    taken = raised(20_000)
    assert taken.status_code == 200, taken.text
    seen = boss.finished(lead)
    assert seen.session["result"]["answer"] == "It is written."
    children, used = seen.session["children"], nodes(boss, lead)[1]["tokens"]
    assert used > 4_500
    assert (children["reserved_tokens"], children["tokens"]) == (0, used)
    assert boss.snapshot(child)["budget"]["token_budget"] == 20_000


# ---- what it sees


def test_a_child_reads_the_files_that_it_was_given_and_no_others_whatever_its_tools_try(
    gate: Gate, admit: Admit, llmock: Any, behind: Behind
) -> None:
    shop = admit(tenant=TENANT, role="admin")
    for path in ("in.md", "out/old.md", "kept.md"):
        shop.put_file(path, f"text of {path}")
    files, _ = behind.buckets
    root = f"files/{TENANT}/"
    assert set(behind.objects_of(f"{root}kept.md", files)) == {f"{root}kept.md"}
    pry = {
        "bucket": files,
        "keys": [f"{root}{path}" for path in ("in.md", "out/old.md", "kept.md")],
        "prefixes": [f"{root}out/", root],
        "table": behind.settings["ACTA_TABLE"],
    }
    (worker, giver) = (f"{name}-{uuid.uuid4().hex}" for name in ("worker", "giver"))
    for body in (
        {"agent_id": worker, "tools": ["read_file", "pry"]},
        {"agent_id": giver, "agents": [{"agent": worker, "as": "worker", "files": "given"}]},
    ):
        assert shop.post("/v1/agents", {"name": "One", "planning": "when_needed", **body}).status_code == 201
    stage = Stage(shop, llmock.tool_mode("off"))
    reads = (Call("read_file", {"path": path}) for path in ("in.md", "kept.md"))
    stage.prepare(
        do(Call("worker", {"goal": "Read it", "files": ["in.md", "out/"]})),
        do(*reads, Call("pry", pry)),
        Say("Read."),
        Say("All is read."),
    )

    lead = shop.finished(shop.start("Have it read", agent_id=giver))
    read, unseen, pried = stage.results(
        shop.finished(nodes(shop, lead.session["session_id"])[1]["session_id"])
    )
    assert "text of in.md" in read
    assert "kept.md is not among the files that this session was given: in.md, out/." in unseen
    found = json.loads(pried.splitlines()[1])
    allowed = {name: answer for name, answer in found.items() if not answer.startswith("AccessDenied")}
    assert allowed == {
        f"read {root}in.md": "text of in.md",
        f"read {root}out/old.md": "text of out/old.md",
        f"write {root}out/old.md": "done",
        f"list {root}out/": "done",
    }
    assert len(found) == 13
    assert shop.file("kept.md") == "text of kept.md"

"""What people may see, decide, fork and delete in a tree of sessions, and what the model of a parent is told of its
children, on the deployed loop.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.doubles.otlp import OtlpEndpoint
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import PATIENCE_SECONDS, Json, Person, refused
from tests.e2e.support.script import Call, Say, do
from tests.e2e.support.stage import Stage
from tests.e2e.support.traced import exporting


@pytest.fixture(scope="module", autouse=True)
def scripted(behind: Behind, llmock_server: Any) -> Iterator[None]:
    model = {
        "ACTA_PROVIDER": "anthropic",
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": llmock_server.base_url("anthropic"),
    }
    with behind.configured("step", **model):
        yield


@pytest.fixture
def boss(admit: Admit) -> Person:
    """An admin of a tenant that is this test's alone."""
    return admit(role="admin")


def stage_for(person: Person, llmock: Any, admin: Person, **lead: Any) -> Stage:
    """A stage on which `person` starts the agent `lead`, which may call the agent `worker`. `lead`: further fields."""
    for body in (
        {"agent_id": "worker", "name": "Worker", "planning": "when_needed"},
        {
            "agent_id": "lead",
            "name": "Lead",
            "planning": "when_needed",
            "agents": [{"agent": "worker"}],
            **lead,
        },
    ):
        assert admin.post("/v1/agents", body).status_code == 201
    return Stage(person, llmock.tool_mode("off"))


def children(person: Person, session_id: str) -> list[Json]:
    return person.items(f"/v1/sessions/{session_id}/tree")[1:]


def asks(person: Person, lead: str) -> Json:
    """The one question in the inbox, as soon as there is one."""
    person.watch(lead, lambda session: bool(person.items("/v1/interventions", state="pending")))
    (asked,) = person.items("/v1/interventions", state="pending")
    assert [each["session_id"] for each in asked["chain"]] == [lead]
    return asked


DELETES = do(Call("delete_file", {"path": "old.txt"}))


def test_of_several_children_each_result_is_told_in_the_order_of_the_items_and_a_cancelled_one_by_its_reason(
    boss: Person, llmock: Any
) -> None:
    stage = stage_for(boss, llmock, boss)
    boss.put_file("old.txt", "old")
    stage.prepare(
        do(Call("worker", {"goal": "See to it", "map": ["one", "two", "three"], "at_once": 1})),
        Say("One is fine."), DELETES, Say("Three is fine."), Say("Two of three."),
    )  # fmt: skip
    lead = boss.start("See to all", agent_id="lead")
    assert boss.post(f"/v1/sessions/{asks(boss, lead)['session_id']}/cancel").status_code == 202

    seen = boss.finished(lead)
    (told,) = stage.results(seen)
    assert seen.session["result"]["answer"] == "Two of three."
    assert told.index("One is fine.") < told.index("cancelled") < told.index("Three is fine.")
    assert [each["state"] for each in children(boss, lead)] == ["completed", "cancelled", "completed"]
    assert boss.file("old.txt") == "old"


def test_an_agent_sleeps_for_as_long_as_it_says_and_goes_on(boss: Person, llmock: Any) -> None:
    stage = stage_for(boss, llmock, boss)
    stage.prepare(do(Call("wait_until", {"seconds": 1})), Say("Awake."))

    seen = boss.finished(boss.start("Sleep for a second", agent_id="lead"))

    assert seen.session["result"]["answer"] == "Awake."
    assert "waiting_until" in [each["data"]["reason"] for each in seen.of("state.changed")]


def test_a_childs_call_is_approved_by_whoever_its_parent_demands(
    boss: Person, admit: Admit, llmock: Any
) -> None:
    member, finance = (
        admit(boss.tenant, name, role) for name, role in (("bob", "member"), ("eve", ("member", "finance")))
    )
    stage = stage_for(member, llmock, boss, interventions={"approval_required": {"role": "finance"}})
    boss.put_file("old.txt", "old")
    stage.prepare(do(Call("worker", {"goal": "Clean up"})), DELETES, Say("Gone."), Say("Cleaned."))
    lead = member.start("Have it cleaned", agent_id="lead")
    asked = asks(member, lead)

    answer = member.resolve(asked["session_id"], asked["intervention_id"], "approve")
    assert "finance" in refused(answer, 403, "FORBIDDEN")["message"]
    answer = finance.resolve(asked["session_id"], asked["intervention_id"], "approve")
    assert answer.status_code == 200, answer.text
    assert member.finished(lead).session["result"]["answer"] == "Cleaned."
    assert boss.files() == set()


def test_the_children_of_a_private_session_are_private(boss: Person, admit: Admit, llmock: Any) -> None:
    ann, bob = (admit(boss.tenant, name) for name in ("ann", "bob"))
    stage = stage_for(ann, llmock, boss)
    boss.put_file("old.txt", "old")
    stage.prepare(do(Call("worker", {"goal": "Clean up"})), DELETES, Say("Gone."), Say("Cleaned."))
    lead = ann.start("Have it cleaned", agent_id="lead", visibility="private")
    asked = asks(ann, lead)

    for path in (lead, f"{lead}/tree", asked["session_id"], f"{asked['session_id']}/messages"):
        refused(bob.get(f"/v1/sessions/{path}"), 404, "SESSION_NOT_FOUND")
    refused(bob.resolve(asked["session_id"], asked["intervention_id"], "approve"), 404, "SESSION_NOT_FOUND")
    assert bob.items("/v1/interventions", state="pending") == []
    assert bob.items("/v1/sessions", children="true") == []
    assert ann.resolve(asked["session_id"], asked["intervention_id"], "approve").status_code == 200
    ann.finished(lead)


def test_a_fork_leaves_the_children_where_they_are_and_a_deletion_takes_them_along(
    boss: Person, llmock: Any
) -> None:
    stage = stage_for(boss, llmock, boss)
    call = do(Call("worker", {"goal": "See to it", "map": ["one", "two"]}))
    stage.prepare(call, Say("Seen to."), Say("Seen to."), Say("All is seen to."), Say("Seen to again."))
    lead = boss.finished(boss.start("See to both", agent_id="lead")).session["session_id"]
    below = [each["session_id"] for each in children(boss, lead)]
    assert len(below) == 2

    forked = boss.post(f"/v1/sessions/{lead}/fork", {"content": "And again"})
    assert (forked.status_code, forked.json()["data"]["sub_agents"]) == (202, "stay_with_the_original")
    assert boss.finished(forked.json()["data"]["session_id"]).session["children"] is None
    assert [each["session_id"] for each in children(boss, lead)] == below

    assert boss.delete(f"/v1/sessions/{lead}").status_code == 204
    for session_id in (lead, *below):
        refused(boss.get(f"/v1/sessions/{session_id}"), 404, "SESSION_NOT_FOUND")


def test_a_tree_is_one_trace(boss: Person, behind: Behind, llmock: Any) -> None:
    stage = stage_for(boss, llmock, boss)
    stage.prepare(do(Call("worker", {"goal": "See to it"})), Say("Seen to."), Say("All is seen to."))
    with OtlpEndpoint() as endpoint, exporting(behind, endpoint.url):
        lead = boss.finished(boss.start("See to it", agent_id="lead")).session["session_id"]
        (child,) = (each["session_id"] for each in children(boss, lead))
        taken = endpoint.taken

        def call_of_the_child() -> Span | None:
            """The parent's span below which the child's run stands, once both have arrived."""
            runs = [span for span in taken.once(child).values() if span.name.startswith("invoke_agent")]
            return taken.once(lead).get(runs[0].parent_span_id) if runs else None

        taken.wait_for(lambda: call_of_the_child() is not None, PATIENCE_SECONDS)
        call = call_of_the_child()
        assert call is not None
        assert call.name == "execute_tool worker"
        assert {span.trace_id for span in taken.once(child).values()} == {call.trace_id}

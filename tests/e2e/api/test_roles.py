"""Who may decide, on the deployed API: the role the agent names, and nobody without it (docs/design/people.md 19)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person, Seen, refused
from tests.e2e.support.script import Call, do, end, plan, question
from tests.e2e.support.stage import Stage

POLICY = {"role": "approver", "timeout_seconds": 600}
LARGE = {"path": "large.txt", "content": "ä" * 4_000 + "THE END"}


@pytest.fixture(scope="module")
def provider(behind: Behind, llmock_server: Any) -> Iterator[None]:
    base_url = llmock_server.base_url("anthropic")
    key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
    with behind.configured("step", **key):
        yield


@pytest.fixture
def boss(admit: Admit) -> Person:
    """Defines the agent; an admin, which is no approver."""
    made = admit(role="admin", user="boss")
    types = ("approval_required", "clarification_needed", "checkpoint_review")
    agent = {
        "agent_id": "careful",
        "name": "Careful",
        "high_stakes": ["create_file"],
        "interventions": dict.fromkeys(types, POLICY),
    }
    assert made.post("/v1/agents", agent).status_code == 201
    return made


@pytest.fixture
def stage(provider: None, llmock: Any, boss: Person) -> Stage:
    return Stage(boss, llmock.tool_mode("off"))


def asked(stage: Stage, *says: Any, **limits: Any) -> Seen:
    stage.prepare(*says)
    return stage.person.asked(stage.person.start("Go", agent_id="careful", **limits))


def test_only_the_role_s_token_decides_and_who_was_refused_is_in_the_log_by_ids_alone(
    stage: Stage, boss: Person, admit: Admit, behind: Behind
) -> None:
    seen = asked(stage, do(plan("Write")), do(Call("create_file", LARGE), text="I write it."))
    session_id, (one,) = seen.session["session_id"], seen.session["interventions"]
    member, approver = admit(boss.tenant, "mia"), admit(boss.tenant, "app", "approver")
    path = f"/v1/sessions/{session_id}/interventions/{one['intervention_id']}"
    assert one["role"] == "approver"
    for person in (boss, member):
        error = refused(
            person.resolve(session_id, one["intervention_id"], "approve", comment="marker"), 403, "FORBIDDEN"
        )
        assert (error["message"], error["details"]) == (
            "Deciding this needs the role approver.",
            {"role": ["approver"]},
        )
    assert boss.data(path) == one

    call = one["tool_call"]
    assert (call["shortened"], call["input_url"]) == (True, f"{path}/input")
    assert "THE END" not in str(call["input"])
    whole = approver.data(call["input_url"])
    assert json.loads(whole.pop("input_text")) == LARGE
    assert whole == {"name": "create_file", "input": LARGE, "input_hash": call["input_hash"]}

    stage.prepare(end("Done.", 1))
    decided = approver.resolve(session_id, one["intervention_id"], "approve", comment="fine").json()["data"]
    assert (decided["resolved_by"], decided["comment"]) == ("app", "fine")
    done = boss.finished(session_id)
    (event,) = done.of("intervention.resolved")
    assert (event["data"]["resolved_by"], event["data"]["comment"]) == ("app", "fine")
    assert event["at"] == decided["resolved_at"]
    assert boss.file("large.txt") == LARGE["content"]

    lines = [json.loads(line) for line in behind.log_lines() if one["intervention_id"] in line]
    refusals = [line for line in lines if line.get("message") == "refused"]
    assert [line["session_id"] for line in refusals] == [session_id] * 2
    assert "marker" not in str(lines)
    assert "mia" not in str(refusals)


def test_a_message_or_a_resume_is_no_way_around_the_role(stage: Stage, boss: Person, admit: Admit) -> None:
    approver = admit(boss.tenant, "app", "approver")
    seen = asked(stage, do(question("Which one?")), review_every=1)
    session_id, (one,) = seen.session["session_id"], seen.session["interventions"]
    said = {"content": "That one"}
    refused(boss.post(f"/v1/sessions/{session_id}/messages", said), 403, "FORBIDDEN")
    assert boss.data(f"/v1/sessions/{session_id}")["session"]["interventions"] == [one]
    stage.prepare(do(plan("Look")), do(Call("list_files", {}), text="I look."))
    assert approver.post(f"/v1/sessions/{session_id}/messages", said).status_code == 202

    seen = boss.watch(session_id, lambda s: [i["type"] for i in s["interventions"]] == ["checkpoint_review"])
    refused(boss.post(f"/v1/sessions/{session_id}/resume"), 403, "FORBIDDEN")
    stage.prepare(end("Done.", 1))
    assert approver.post(f"/v1/sessions/{session_id}/resume").status_code == 202
    assert boss.finished(session_id).session["state"] == "completed"


def test_another_tenant_s_approver_finds_nothing(stage: Stage, boss: Person, admit: Admit) -> None:
    seen = asked(stage, do(plan("Write")), do(Call("create_file", LARGE)))
    session_id, (one,) = seen.session["session_id"], seen.session["interventions"]
    stranger = admit(user="app", role="approver")
    refused(stranger.resolve(session_id, one["intervention_id"], "approve"), 404, "SESSION_NOT_FOUND")
    refused(stranger.get(one["tool_call"]["input_url"]), 404, "SESSION_NOT_FOUND")
    assert boss.data(f"/v1/sessions/{session_id}")["session"]["interventions"] == [one]
    boss.post(f"/v1/sessions/{session_id}/cancel")

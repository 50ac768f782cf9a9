"""AG9, human-trust exploitation: who approved something cannot make that undone or unsaid."""

from typing import Any

import pytest

from acta.engine.audit.record import RecordExists
from acta.engine.audit.trail import DynamoTrail, item_record
from tests.e2e.conftest import Admit
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person, refused
from tests.e2e.support.script import Call, do, end, plan
from tests.e2e.support.stage import Stage

SECRET = "the-payroll-nobody-may-see"


def approve_and_delete(stage: Stage, approver: Person) -> tuple[str, str, str]:
    """A file is deleted with the approver's approval, and then the session that tells of it. Its id, that of the
    intervention, and the hash of what was approved.
    """
    person = stage.person
    person.put_file("payroll.csv", SECRET)
    stage.prepare(do(plan("Clean up")), do(Call("delete_file", {"path": "payroll.csv"}), text="I delete it."))
    session_id = person.start(f"Delete it, {SECRET}")
    (one,) = person.asked(session_id).session["interventions"]
    stage.prepare(end("Gone.", 1))
    assert approver.resolve(session_id, one["intervention_id"], "approve", comment=SECRET).status_code == 200
    person.finished(session_id)
    assert approver.delete(f"/v1/sessions/{session_id}").status_code == 204
    return session_id, one["intervention_id"], one["tool_call"]["input_hash"]


def test_who_approved_what_is_known_after_the_session_is_deleted_and_no_record_changes(
    provider: None, admit: Admit, behind: Behind, llmock: Any
) -> None:
    ann = admit(user="ann")
    mallory, boss = admit(ann.tenant, "mallory"), admit(ann.tenant, "boss", "admin")
    session_id, intervention_id, input_hash = approve_and_delete(Stage(ann, llmock.tool_mode("off")), mallory)

    deleted, approved, started = boss.items("/v1/audit", session_id=session_id)
    assert [one["action"] for one in (deleted, approved, started)] == [
        "session.delete",
        "intervention.resolve",
        "session.start",
    ]
    assert approved["details"] == {
        "session_id": session_id,
        "intervention_id": intervention_id,
        "option": "approve",
        "type": "approval_required",
        "tool_call.name": "delete_file",
        "tool_call.input_hash": input_hash,
    }
    assert {one["outcome"] for one in (deleted, approved, started)} == {"done"}
    assert boss.items("/v1/audit", user="mallory") == [deleted, approved]
    assert deleted["who"] == approved["who"] != started["who"]

    items = behind.audited(ann.tenant)
    assert not any(word in str(items) for word in (SECRET, "mallory", "ann"))
    records = {item["sk"]["S"]: item_record(item) for item in items}
    trail = DynamoTrail(behind.settings["ACTA_AUDIT_TABLE"], client=behind.client("dynamodb"))
    for record in records.values():
        with pytest.raises(RecordExists):
            trail.put(ann.tenant, record.model_copy(update={"who": "p_somebody_else"}))
    assert behind.audited(ann.tenant) == items


def test_a_member_reads_no_trail_and_who_tried_is_in_the_log_by_pseudonym_alone(
    admit: Admit, behind: Behind
) -> None:
    name = "mallory-the-member"
    mallory = admit(user=name)
    boss = admit(mallory.tenant, "boss", "admin")
    mallory.put_file("a.txt", "x")
    refused(mallory.get("/v1/audit"), 403, "FORBIDDEN")
    stranger = admit(user="boss", role="admin")
    assert stranger.items("/v1/audit") == []
    (written,) = boss.items("/v1/audit", user=name)
    lines = [line for line in behind.log_lines() if written["who"] in line]
    assert lines
    assert all('"refused"' in line and "GET /v1/audit" in line for line in lines)
    assert not any(name in line or mallory.tenant in line for line in lines)


def test_what_sends_credentials_out_and_changes_nothing_is_in_the_trail(admit: Admit) -> None:
    boss = admit(role="admin")
    refused(boss.post("/v1/mcp-servers/gone/refresh"), 404, "NOT_FOUND")
    assert boss.post("/v1/models/check").status_code == 200
    checked, refreshed = boss.items("/v1/audit")
    assert (refreshed["action"], refreshed["outcome"]) == ("mcp_server.refresh", "refused")
    assert refreshed["details"] == {"name": "gone"}
    assert (checked["action"], checked["outcome"]) == ("models.check", "done")

"""Writing to, pausing and deleting a session that waits, and the end at the last step."""

import pytest

from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person, Seen, refused
from tests.e2e.support.samples import DELETION, GOAL, OLD, give_files

KEPT = {"pk", "sk", "ttl"}
"""What may be left of a commit that a worker could still be about to repeat: its key, until its time is over."""
NOTE = {"pk", "sk", "live", "live_at"}
"""Whose session it was and when it was deleted, until it has been erased once more."""


@pytest.fixture
def waiting(ann: Person) -> Seen:
    ann.put_file(OLD, "old")
    return ann.asked(ann.start(DELETION))


def test_a_message_to_an_idle_session_starts_its_first_run(ann: Person) -> None:
    give_files(ann)
    session_id = ann.start()
    said = ann.post(f"/v1/sessions/{session_id}/messages", {"content": GOAL})
    assert (said.status_code, said.json()["data"]["goal"]) == (202, GOAL)
    assert ann.finished(session_id).session["result"]["goal_met"] is True
    assert "summary.md" in ann.files()


def test_a_session_that_waits_for_an_approval_can_be_paused_too_and_then_waits_for_both(
    ann: Person, waiting: Seen
) -> None:
    session_id, (asked,) = waiting.session["session_id"], waiting.session["interventions"]
    paused = ann.post(f"/v1/sessions/{session_id}/pause").json()["data"]
    assert {one["type"] for one in paused["interventions"]} == {"approval_required", "checkpoint_review"}
    ann.resolve(session_id, asked["intervention_id"], "approve")
    between = ann.snapshot(session_id)
    assert (between["state"], ann.files()) == ("waiting_for_user", {OLD})
    assert ann.post(f"/v1/sessions/{session_id}/resume").status_code == 202
    assert ann.finished(session_id).session["state"] == "completed"
    assert ann.files() == set()


def test_a_deleted_session_leaves_no_item_and_no_object(ann: Person, behind: Behind) -> None:
    ann.put_file("long.txt", "A long line of text. " * 2_000)
    session_id = ann.finished(ann.start("Show the file long.txt")).session["session_id"]
    assert behind.items_of(session_id)
    assert behind.objects_of(session_id)

    assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204

    assert behind.has_only(session_id, KEPT, NOTE)
    assert behind.objects_of(session_id) == []
    for path in ("", "/messages", "/plan", "/steps", "/trace", "/events", "/interventions"):
        refused(ann.get(f"/v1/sessions/{session_id}{path}"), 404, "SESSION_NOT_FOUND")
    refused(ann.delete(f"/v1/sessions/{session_id}"), 404, "SESSION_NOT_FOUND")
    assert ann.items("/v1/sessions") == []
    assert ann.files() == {"long.txt"}, "the tenant's files are not the session's"


def test_a_session_deleted_while_it_waits_leaves_no_question_and_no_execution(
    ann: Person, waiting: Seen, behind: Behind
) -> None:
    session_id = waiting.session["session_id"]
    assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204
    assert behind.has_only(session_id, KEPT, NOTE)
    assert ann.items("/v1/interventions") == []
    assert all(each["status"] != "RUNNING" for each in behind.executions(session_id))
    assert ann.file(OLD) == "old"


def test_a_run_ends_gracefully_at_its_last_allowed_step(ann: Person) -> None:
    give_files(ann)
    seen = ann.finished(ann.start(GOAL, max_steps=1))
    assert seen.session["state"] == "completed"
    assert seen.session["result"]["goal_met"] is False
    assert seen.session["result"]["reason"] == "max_steps"
    assert seen.session["run"]["iteration"] == 1

"""Pausing, resuming, cancelling, writing to and deleting a session, also in the middle of the model's thought."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.support.behind import Behind
from tests.e2e.support.gate import Gate
from tests.e2e.support.person import Person, refused
from tests.e2e.support.thinking import calls, end, plan


@pytest.fixture(scope="module")
def gated(behind: Behind, llmock_server: Any) -> Iterator[Gate]:
    """The step function talks to the model through a gate."""
    with Gate(llmock_server.port) as gate:
        base_url = gate.url + llmock_server.base_url("anthropic").removeprefix(llmock_server.url)
        key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
        with behind.configured("step", **key):
            yield gate


def test_a_session_paused_while_the_model_thinks_stops_after_that_thought_and_goes_on_when_resumed(
    ann: Person, gate: Gate, model: Any, behind: Behind
) -> None:
    model.add(plan(), calls(("create_file", {"path": "made.txt", "content": "made"})), end())
    gate.shut()
    session_id = ann.start("A goal")
    gate.wait_for_a_request()

    paused = ann.post(f"/v1/sessions/{session_id}/pause")

    assert paused.status_code == 202
    session = paused.json()["data"]
    assert (session["state"], session["state_reason"]) == ("waiting_for_user", "paused")
    (review,) = session["interventions"]
    assert (review["type"], review["timeout_at"]) == ("checkpoint_review", None)
    assert ann.post(f"/v1/sessions/{session_id}/pause").json()["data"]["interventions"] == [review]
    gate.open()
    seen = ann.watch(session_id, lambda s: s["plan"] is not None)
    assert seen.session["state"] == "waiting_for_user"
    assert ann.files() == set()
    next_decision = ann.post(f"/v1/sessions/{session_id}/resume")
    assert (next_decision.status_code, next_decision.json()["data"]["interventions"]) == (202, [])
    done = ann.finished(session_id)
    assert done.session["result"]["goal_met"] is True
    assert ann.file("made.txt") == "made"
    decided = ann.data(f"/v1/sessions/{session_id}/interventions/{review['intervention_id']}")
    assert (decided["resolution"], decided["resolved_by"]) == ("continue", "ann")
    assert len(model.requests) == 3


def test_a_session_cancelled_while_the_model_thinks_starts_no_call_any_more_and_pays_for_the_thought(
    ann: Person, gate: Gate, model: Any, behind: Behind
) -> None:
    model.add(plan(), calls(("create_file", {"path": "never.txt", "content": "x"})))
    gate.shut()
    session_id = ann.start("A goal")
    gate.wait_for_a_request()

    cancelled = ann.post(f"/v1/sessions/{session_id}/cancel")

    assert (cancelled.status_code, cancelled.json()["data"]["state"]) == (202, "cancelled")
    assert cancelled.json()["data"]["in_flight"] == []
    gate.open()
    seen = ann.watch(session_id, lambda s: s["usage"]["llm_calls"] == 1)
    assert seen.session["usage"]["total_tokens"] > 0
    again = ann.post(f"/v1/sessions/{session_id}/cancel")
    assert (again.status_code, again.json()["data"]["state"]) == (202, "cancelled")
    (finished,) = seen.of("run.finished")
    assert finished["data"] == {"state": "cancelled", "by": "ann"}
    assert seen.of("tool.started") == []
    assert ann.files() == set()


def test_a_message_while_the_model_thinks_is_queued_for_the_next_turn(
    ann: Person, gate: Gate, model: Any
) -> None:
    model.add(plan(), end("Minded."))
    gate.shut()
    session_id = ann.start("A goal")
    gate.wait_for_a_request()

    assert ann.post(f"/v1/sessions/{session_id}/messages", {"content": "And mind the gap"}).status_code == 202

    gate.open()
    seen = ann.finished(session_id)
    assert seen.session["result"]["answer"] == "Minded."
    assert len(seen.of("run.started")) == 1
    assert [event["data"]["content"] for event in seen.of("message.user")] == ["A goal", "And mind the gap"]
    bodies = [str(record.body) for record in model.requests]
    assert "mind the gap" not in bodies[0]
    assert "mind the gap" in bodies[1]
    messages = ann.items(f"/v1/sessions/{session_id}/messages")
    assert [m["content"] for m in messages if m["role"] == "user"] == ["A goal", "And mind the gap"]


def test_a_new_message_after_completion_starts_a_second_run_with_the_conversation_kept(
    ann: Person, model: Any, behind: Behind
) -> None:
    model.add(plan(), end("The first answer."))
    first = ann.finished(ann.start("The first goal"))
    session_id = first.session["session_id"]
    model.add(plan(), end("The second answer."))

    said = ann.post(f"/v1/sessions/{session_id}/messages", {"content": "The second goal"})

    assert (said.status_code, said.json()["data"]["state"]) == (202, "planning")
    second = ann.finished(session_id, first.cursor)
    assert second.session["result"]["answer"] == "The second answer."
    assert second.session["run"]["run_id"] != first.session["run"]["run_id"]
    assert second.session["usage"]["total_tokens"] > first.session["usage"]["total_tokens"]
    seqs = [event["seq"] for event in (*first.events, *second.events)]
    assert seqs == list(range(1, len(seqs) + 1))
    asked = str(model.last_request.body)
    assert all(text in asked for text in ("The first goal", "The first answer.", "The second goal"))
    messages = ann.items(f"/v1/sessions/{session_id}/messages")
    assert [m["content"] for m in messages if m["role"] == "user"] == ["The first goal", "The second goal"]
    assert len(behind.executions(session_id)) == 2


def test_a_deleted_session_that_the_model_still_thinks_about_does_not_come_back(
    ann: Person, gate: Gate, model: Any, behind: Behind
) -> None:
    model.add(plan(), plan(), end())
    gate.shut()
    session_id = ann.start("A goal")
    gate.wait_for_a_request()

    assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204

    gate.open()
    other = ann.finished(ann.start("Another goal"))  # the function has answered the first one by then
    assert other.session["state"] == "completed"
    refused(ann.get(f"/v1/sessions/{session_id}"), 404, "SESSION_NOT_FOUND")
    assert [one["session_id"] for one in ann.items("/v1/sessions")] == [other.session["session_id"]]


def test_an_idle_session_can_only_be_written_to_cancelled_or_deleted(ann: Person, behind: Behind) -> None:
    session_id = ann.start()
    session = ann.snapshot(session_id)
    assert (session["state"], session["run"], session["plan"], session["goal"]) == ("idle", None, None, "")
    for verb in ("pause", "resume"):
        refused(ann.post(f"/v1/sessions/{session_id}/{verb}"), 409, "CONFLICT")
    refused(ann.get(f"/v1/sessions/{session_id}/plan"), 404, "PLAN_NOT_FOUND")
    assert behind.executions(session_id) == []
    cancelled = ann.post(f"/v1/sessions/{session_id}/cancel")
    assert (cancelled.status_code, cancelled.json()["data"]["state"]) == (202, "cancelled")


def test_a_message_that_comes_with_the_last_reply_keeps_the_run_from_ending(
    ann: Person, gate: Gate, model: Any
) -> None:
    model.add(plan(), calls(("update_plan", {"action": "wait_for_user", "reason": "Shall I?"})))
    session_id = ann.asked(ann.start("A goal")).session["session_id"]
    model.add(end("Too early."), calls(("list_files", {})), end("Now with everything."))
    gate.shut()
    ann.post(f"/v1/sessions/{session_id}/messages", {"content": "Yes"})
    gate.wait_for_a_request()

    ann.post(f"/v1/sessions/{session_id}/messages", {"content": "And one thing more"})

    gate.open()
    seen = ann.finished(session_id)
    assert seen.session["result"]["goal_met"] is True
    assert "And one thing more" in str(model.last_request.body)
    assert len(seen.of("run.finished")) == 1


def test_a_completed_session_takes_no_pause_resume_or_cancel(ann: Person, model: Any) -> None:
    model.add(plan(), end())
    session_id = ann.finished(ann.start("A goal")).session["session_id"]
    for verb in ("pause", "resume", "cancel"):
        refused(ann.post(f"/v1/sessions/{session_id}/{verb}"), 409, "CONFLICT")
    assert ann.snapshot(session_id)["state"] == "completed"

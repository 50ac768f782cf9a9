"""Pausing, resuming, cancelling, writing to and deleting a session, also in the middle of the model's thought."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.behind import Behind, entered
from tests.e2e.gate import Gate
from tests.e2e.person import Person, Seen, refused
from tests.e2e.samples import DELETION, GOAL, OLD, give_files
from tests.e2e.thinking import calls, end, plan


@pytest.fixture(scope="module")
def gated(behind: Behind, llmock_server: Any) -> Iterator[Gate]:
    """The step function talks to the model through a gate."""
    with Gate(llmock_server.port) as gate:
        base_url = gate.url + llmock_server.base_url("anthropic").removeprefix(llmock_server.url)
        key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
        with behind.configured("step", **key):
            yield gate


@pytest.fixture
def gate(gated: Gate) -> Iterator[Gate]:
    yield gated
    gated.open()


@pytest.fixture
def model(gate: Gate, llmock: Any) -> Any:
    return llmock.tool_mode("off")


def states(behind: Behind, session_id: str) -> list[str]:
    return [name for each in behind.executions(session_id) for name in entered(behind.history(each["executionArn"]))]


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
    resumed = ann.post(f"/v1/sessions/{session_id}/resume")
    assert (resumed.status_code, resumed.json()["data"]["interventions"]) == (202, [])
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
    again = ann.post(f"/v1/sessions/{session_id}/cancel")
    assert (again.status_code, again.json()["data"]["state"]) == (202, "cancelled")
    seen = ann.finished(session_id)
    assert seen.of("run.finished")[0]["data"] == {"state": "cancelled", "by": "ann"}
    assert seen.of("tool.started") == []
    assert ann.files() == set()


def test_a_message_while_the_model_thinks_is_queued_for_the_next_turn_and_keeps_the_run_from_ending(
    ann: Person, gate: Gate, model: Any
) -> None:
    model.add(plan(), end("First."), end("Second."))
    gate.shut()
    session_id = ann.start("A goal")
    gate.wait_for_a_request()

    assert ann.post(f"/v1/sessions/{session_id}/messages", {"content": "And mind the gap"}).status_code == 202

    gate.open()
    seen = ann.finished(session_id)
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
    model.add(plan(), end())
    gate.shut()
    session_id = ann.start("A goal")
    gate.wait_for_a_request()

    assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204

    gate.open()
    other = ann.finished(ann.start("Another goal"))  # the function has answered the first one by then
    assert other.session["state"] in ("completed", "waiting_for_user", "failed")
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


def test_a_completed_session_takes_no_pause_resume_or_cancel(ann: Person, model: Any) -> None:
    model.add(plan(), end())
    session_id = ann.finished(ann.start("A goal")).session["session_id"]
    for verb in ("pause", "resume", "cancel"):
        refused(ann.post(f"/v1/sessions/{session_id}/{verb}"), 409, "CONFLICT")
    assert ann.snapshot(session_id)["state"] == "completed"


class TestOffline:
    """With no model behind a gate: what a person does at a session that waits."""

    @pytest.fixture
    def waiting(self, ann: Person) -> Seen:
        ann.put_file(OLD, "old")
        return ann.asked(ann.start(DELETION))

    def test_a_message_to_an_idle_session_starts_its_first_run(self, ann: Person) -> None:
        give_files(ann)
        session_id = ann.start()
        said = ann.post(f"/v1/sessions/{session_id}/messages", {"content": GOAL})
        assert (said.status_code, said.json()["data"]["goal"]) == (202, GOAL)
        assert ann.finished(session_id).session["result"]["goal_met"] is True
        assert "summary.md" in ann.files()

    def test_a_session_that_waits_for_an_approval_can_be_paused_too_and_then_waits_for_both(
        self, ann: Person, waiting: Seen
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

    def test_a_deleted_session_leaves_no_item_and_no_object(self, ann: Person, behind: Behind) -> None:
        ann.put_file("long.txt", "A long line of text. " * 2_000)
        session_id = ann.finished(ann.start("Show the file long.txt")).session["session_id"]
        assert behind.items_of(session_id)
        assert behind.objects_of(session_id)

        assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204

        assert behind.items_of(session_id) == []
        assert behind.objects_of(session_id) == []
        for path in ("", "/messages", "/plan", "/steps", "/trace", "/events", "/interventions"):
            refused(ann.get(f"/v1/sessions/{session_id}{path}"), 404, "SESSION_NOT_FOUND")
        refused(ann.delete(f"/v1/sessions/{session_id}"), 404, "SESSION_NOT_FOUND")
        assert ann.items("/v1/sessions") == []
        assert ann.files() == {"long.txt"}, "the tenant's files are not the session's"

    def test_a_session_deleted_while_it_waits_leaves_no_question_and_no_execution(
        self, ann: Person, waiting: Seen, behind: Behind
    ) -> None:
        session_id = waiting.session["session_id"]
        assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204
        assert behind.items_of(session_id) == []
        assert ann.items("/v1/interventions") == []
        assert all(each["status"] != "RUNNING" for each in behind.executions(session_id))
        assert ann.file(OLD) == "old"

    def test_a_run_ends_gracefully_at_its_last_allowed_step(self, ann: Person) -> None:
        give_files(ann)
        seen = ann.finished(ann.start(GOAL, max_steps=1))
        assert seen.session["state"] == "completed"
        assert seen.session["result"]["goal_met"] is False
        assert seen.session["result"]["reason"] == "max_steps"
        assert seen.session["run"]["iteration"] == 1

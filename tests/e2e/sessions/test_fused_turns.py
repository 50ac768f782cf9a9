"""Sessions where an invocation of `step` makes up to eight turns (ADR 57), and people who come in between."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.support.behind import Behind, entered
from tests.e2e.support.gate import Gate
from tests.e2e.support.person import Person, Seen, refused
from tests.e2e.support.thinking import calls, end, plan

CAP = 8


@pytest.fixture(scope="module")
def gated(behind: Behind, llmock_server: Any) -> Iterator[Gate]:
    with Gate(llmock_server.port) as gate:
        base_url = gate.url + llmock_server.base_url("anthropic").removeprefix(llmock_server.url)
        key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
        with behind.configured("step", ACTA_TURNS_PER_STEP=str(CAP), **key):
            yield gate


def write(number: int) -> Any:
    return calls(("create_file", {"path": f"{number}.txt", "content": f"Text {number}."}))


def read(number: int) -> Any:
    return calls(("read_file", {"path": f"{number}.txt"}), ("list_files", {}))


def states(behind: Behind, seen: Seen) -> Counter[str]:
    (execution,) = behind.ended(seen.session["session_id"])
    return Counter(entered(behind.history(execution["executionArn"])))


def held_in_turn(ann: Person, gate: Gate, number: int) -> str:
    """A session whose model is asked for its reply of this number, the plan the first, and has not answered yet."""
    gate.shut()
    session_id = ann.start("A goal")
    for _ in range(number - 1):
        gate.wait_for_a_request()
        gate.let_one_pass()
    gate.wait_for_a_request()
    return session_id


def test_a_session_of_eleven_turns_with_file_work_takes_two_invocations_of_step_and_none_of_tool(
    ann: Person, model: Any, behind: Behind
) -> None:
    model.add(
        plan(), *(turn for number in range(4) for turn in (write(number), read(number))), write(9), end()
    )

    seen = ann.finished(ann.start("A goal"))

    assert seen.session["result"]["goal_met"] is True
    assert ann.files() == {"0.txt", "1.txt", "2.txt", "3.txt", "9.txt"}
    assert states(behind, seen) == {"Route": 3, "Plan": 1, "Think": 1, "Done": 1}
    rows = ann.items(f"/v1/sessions/{seen.session['session_id']}/steps")
    assert [row["fused"] for row in rows if row["kind"] in ("plan", "llm")] == [
        False,
        *[True] * 7,
        False,
        *[True] * 2,
    ]
    assert all(row["fused"] for row in rows if row["kind"] == "tool")
    assert all(event["data"]["fused"] for event in seen.of("tool.finished"))
    assert len(seen.of("tool.finished")) == seen.session["usage"]["tool_calls"] == 13


def test_a_cancel_amid_the_turns_of_one_invocation_starts_no_call_any_more(
    ann: Person, gate: Gate, model: Any
) -> None:
    model.add(plan(), write(1), write(2), write(3), end())
    session_id = held_in_turn(ann, gate, 3)

    cancelled = ann.post(f"/v1/sessions/{session_id}/cancel")

    assert (cancelled.status_code, cancelled.json()["data"]["state"]) == (202, "cancelled")
    gate.open()
    seen = ann.watch(session_id, lambda session: session["usage"]["llm_calls"] == 3)
    assert seen.session["state"] == "cancelled"
    assert ann.files() == {"1.txt"}
    assert len(model.requests) == 3


def test_a_pause_amid_the_turns_holds_after_the_thought_and_what_follows_runs_when_it_is_lifted(
    ann: Person, gate: Gate, model: Any
) -> None:
    model.add(plan(), write(1), write(2), read(1), end())
    session_id = held_in_turn(ann, gate, 3)

    assert ann.post(f"/v1/sessions/{session_id}/pause").status_code == 202

    gate.open()
    seen = ann.watch(session_id, lambda session: session["usage"]["llm_calls"] == 3)
    assert (seen.session["state"], seen.session["state_reason"]) == ("waiting_for_user", "paused")
    assert ann.files() == {"1.txt"}
    assert ann.post(f"/v1/sessions/{session_id}/resume").status_code == 202
    assert ann.finished(session_id).session["result"]["goal_met"] is True
    assert ann.files() == {"1.txt", "2.txt"}
    assert len(model.requests) == 5


def test_a_message_amid_the_turns_is_in_the_next_turn_of_the_same_invocation(
    ann: Person, gate: Gate, model: Any, behind: Behind
) -> None:
    model.add(plan(), write(1), write(2), end("Minded."))
    session_id = held_in_turn(ann, gate, 3)

    said = ann.post(f"/v1/sessions/{session_id}/messages", {"content": "And mind the gap"})

    assert said.status_code == 202
    gate.open()
    seen = ann.finished(session_id)
    assert seen.session["result"]["answer"] == "Minded."
    bodies = [str(record.body) for record in model.requests]
    assert ["mind the gap" in body for body in bodies] == [False, False, False, True]
    assert states(behind, seen)["Think"] == 0


def test_an_edit_of_the_plan_amid_the_turns_voids_what_is_being_written(
    ann: Person, gate: Gate, model: Any, behind: Behind
) -> None:
    model.add(plan("One", "Two"), write(1), write(2), end("Minded.", 1, 3))
    session_id = held_in_turn(ann, gate, 3)
    path = f"/v1/sessions/{session_id}/plan"
    tag = ann.get(path).headers["etag"]
    edit = [{"op": "skip", "step_number": 2, "reason": "No gap."}, {"op": "add", "description": "Three"}]

    edited = ann.patch(path, {"operations": edit}, If_Match=tag)

    assert (edited.status_code, edited.json()["data"]["version"]) == (200, 2)
    refused(ann.patch(path, {"operations": edit}, If_Match=tag), 412, "PRECONDITION_FAILED")
    gate.open()
    seen = ann.finished(session_id)
    assert (seen.session["result"]["goal_met"], ann.files()) == (True, {"1.txt"})
    assert [step["status"] for step in seen.session["plan"]["steps"]] == ["completed", "skipped", "completed"]
    bodies = [str(record.body) for record in model.requests]
    assert ["Step 2 is skipped: No gap." in body for body in bodies] == [False, False, False, True]
    (told,) = seen.of("plan.revised")
    assert told["data"]["by"] == ann.name
    assert states(behind, seen)["Think"] == 0


def test_a_call_that_a_person_has_to_approve_amid_the_turns_waits_and_runs_in_tool(
    ann: Person, model: Any, behind: Behind
) -> None:
    model.add(plan(), write(1), calls(("delete_file", {"path": "1.txt"})), write(2), end())
    session_id = ann.start("A goal")
    (asked,) = ann.asked(session_id).session["interventions"]
    assert asked["type"] == "approval_required"
    assert ann.files() == {"1.txt"}

    ann.resolve(session_id, asked["intervention_id"], "approve")

    seen = ann.finished(session_id)
    assert ann.files() == {"2.txt"}
    passed = states(behind, seen)
    assert (passed["Plan"], passed["Ask"], passed["Tool"], passed["Think"]) == (1, 1, 1, 1)


def test_a_deleted_session_is_gone_also_amid_the_turns(ann: Person, gate: Gate, model: Any) -> None:
    model.add(plan(), write(1), write(2), end())
    session_id = held_in_turn(ann, gate, 3)

    assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204

    gate.open()
    model.add(plan(), end())
    other = ann.finished(ann.start("Another goal"))
    assert other.session["state"] == "completed"
    assert ann.get(f"/v1/sessions/{session_id}").status_code == 404
    assert ann.files() == {"1.txt"}

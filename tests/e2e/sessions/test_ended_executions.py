"""An execution that ends behind Acta's back is told of; its session goes on without any scan
(docs/design/recovery.md 16)."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.support.behind import Behind
from tests.e2e.support.gate import Gate
from tests.e2e.support.person import Person
from tests.e2e.support.thinking import calls, end, plan


@pytest.fixture(scope="module")
def gated(behind: Behind, llmock_server: Any) -> Iterator[Gate]:
    """The step function talks to the model through a gate. Recovery does not come by its own clock."""
    with Gate(llmock_server.port) as gate:
        base_url = gate.url + llmock_server.base_url("anthropic").removeprefix(llmock_server.url)
        key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
        with behind.unscheduled(), behind.configured("step", **key):
            yield gate


def test_a_session_whose_execution_was_stopped_in_mid_thought_goes_on_without_a_scan(
    ann: Person, gate: Gate, model: Any, behind: Behind
) -> None:
    model.add(plan(), plan(), calls(("create_file", {"path": "told.txt", "content": "made"})), end())
    gate.shut()
    session_id = ann.start("A goal")
    gate.wait_for_a_request()

    behind.stop(session_id)
    gate.wait_for_a_request()  # the next execution's
    gate.open()

    seen = ann.finished(session_id)
    assert (seen.session["run"]["generation"], seen.session["result"]["goal_met"]) == (2, True)
    assert len(seen.of("plan.created")) == len(seen.of("tool.finished")) == 1
    assert ann.file("told.txt") == "made"
    assert behind.statuses(session_id)[0] == "ABORTED"
    assert len(behind.executions(session_id)) == 2


def test_a_session_that_waits_for_a_person_waits_on_in_the_next_execution(
    ann: Person, model: Any, behind: Behind
) -> None:
    model.add(
        plan(), calls(("update_plan", {"action": "wait_for_user", "reason": "Which one?"})), end("That one.")
    )
    session_id = ann.start("A goal")
    ann.asked(session_id)

    behind.stop(session_id)
    seen = ann.watch(session_id, lambda session: session["run"]["generation"] == 2)

    assert seen.session["state"] == "waiting_for_user"
    assert ann.post(f"/v1/sessions/{session_id}/messages", {"content": "The blue one"}).status_code == 202
    assert ann.finished(session_id).session["result"]["answer"] == "That one."


def test_a_cancelled_session_s_execution_is_not_followed_by_another(
    ann: Person, model: Any, behind: Behind
) -> None:
    asks = calls(("update_plan", {"action": "wait_for_user", "reason": "Which one?"}))
    model.add(plan(), asks, plan(), asks)
    session_id = ann.start("A goal")
    ann.asked(session_id)
    other = ann.start("Another goal")
    ann.asked(other)

    assert ann.post(f"/v1/sessions/{session_id}/cancel", {}).status_code == 202
    behind.stop(other)  # which is told after the first one's end

    ann.watch(other, lambda session: session["run"]["generation"] == 2)
    assert len(behind.executions(session_id)) == 1

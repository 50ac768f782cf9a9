"""What is behind the API of a deleted session, with versions kept and workers that are late (ADR 44)."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Reply

from tests.e2e.support.behind import Behind
from tests.e2e.support.gate import PATIENCE_SECONDS, Gate
from tests.e2e.support.person import Person, refused
from tests.e2e.support.thinking import end, plan

LONG = "A long line of text. " * 2_000
WRITERS = ("start", "step", "tool", "intervene", "recover")
BARE = {"pk", "sk", "ttl"}
NOTE = {"pk", "sk", "live", "live_at"}


@pytest.fixture(scope="module")
def gated(behind: Behind, llmock_server: Any) -> Iterator[Gate]:
    """The step function talks to the model through a gate; recovery comes when it is called, and finds that every
    worker of a deleted session has had its time.
    """
    with Gate(llmock_server.port) as gate:
        base_url = gate.url + llmock_server.base_url("anthropic").removeprefix(llmock_server.url)
        key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
        at_once = behind.configured("recover", ACTA_ERASE_AGAIN_SECONDS="0.001")
        with behind.unscheduled(), behind.versioned(), behind.configured("step", **key), at_once:
            yield gate


def recover(behind: Behind) -> None:
    behind.recover("housekeeping")


@pytest.mark.thorough
def test_of_a_deleted_session_no_version_is_left_and_later_no_note_either(
    ann: Person, model: Any, behind: Behind
) -> None:
    model.add(plan(), end(LONG))
    session_id = ann.finished(ann.start(LONG[:9_000])).session["session_id"]
    assert len(behind.objects_of(session_id)) >= 2

    assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204

    assert behind.objects_of(session_id) == []
    assert behind.has_only(session_id, BARE, NOTE)
    assert [set(item) for item in behind.items_of(session_id) if "ttl" not in item] == [NOTE]
    recover(behind)
    assert behind.has_only(session_id, BARE)
    refused(ann.delete(f"/v1/sessions/{session_id}"), 404, "SESSION_NOT_FOUND")
    assert behind.has_only(session_id, BARE)


@pytest.mark.thorough
def test_what_a_worker_stores_after_the_deletion_is_erased_with_the_next_recovery(
    ann: Person, gate: Gate, model: Any, behind: Behind
) -> None:
    model.add(Reply(text=LONG, tool_calls=plan().tool_calls), plan(), end())
    gate.shut()
    session_id = ann.start("A goal")
    gate.wait_for_a_request()

    assert ann.delete(f"/v1/sessions/{session_id}").status_code == 204
    assert behind.objects_of(session_id) == []
    gate.open()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not behind.objects_of(session_id):
        assert time.monotonic() < deadline, "the late worker has not stored its model's answer"
        time.sleep(0.05)
    ann.finished(ann.start("Another goal"))

    recover(behind)

    assert behind.objects_of(session_id) == []
    assert behind.has_only(session_id, BARE)
    refused(ann.get(f"/v1/sessions/{session_id}"), 404, "SESSION_NOT_FOUND")

"""Executions are lost and nobody is told; their sessions are found all the same (docs/design/recovery.md 18)."""

from collections.abc import Iterator
from typing import Any

import pytest

from acta.engine.clock import SystemClock
from acta.engine.log.dynamodb import DynamoLog
from acta.engine.log.repository import SessionRepository
from acta.engine.log.s3 import S3Blobs
from acta.engine.store.table_layout import listing_key
from acta.engine.turn.endings import failed
from tests.conftest import Deployed
from tests.e2e.support.behind import Behind
from tests.e2e.support.command import acta
from tests.e2e.support.gate import Gate
from tests.e2e.support.person import Person
from tests.e2e.support.thinking import calls, end, plan


@pytest.fixture(scope="module")
def gated(behind: Behind, llmock_server: Any) -> Iterator[Gate]:
    """The step function talks to the model through a gate; recovery comes when it is called and leaves nobody time."""
    with Gate(llmock_server.port) as gate:
        base_url = gate.url + llmock_server.base_url("anthropic").removeprefix(llmock_server.url)
        key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
        at_once = behind.configured("recover", ACTA_RECOVERY_GRACE_SECONDS="0.001")
        with behind.unscheduled(), behind.untold(), behind.configured("step", **key), at_once:
            yield gate


def test_a_session_whose_execution_was_stopped_in_mid_thought_ends_as_if_nothing_had_happened(
    ann: Person, gate: Gate, model: Any, behind: Behind
) -> None:
    model.add(plan(), plan(), calls(("create_file", {"path": "made.txt", "content": "made"})), end())
    gate.shut()
    session_id = ann.start("A goal")
    gate.wait_for_a_request()
    behind.stop(session_id)

    tally = behind.recover("due")

    assert tally["restarted"] >= 1
    assert tally["unreadable"] == 0
    gate.wait_for_a_request()
    gate.open()
    seen = ann.finished(session_id)
    assert seen.session["result"]["goal_met"] is True
    assert (seen.session["run"]["generation"], seen.session["usage"]["llm_calls"]) == (2, 3)
    assert len(seen.of("plan.created")) == len(seen.of("tool.finished")) == 1
    assert ann.file("made.txt") == "made"
    assert set(behind.statuses(session_id)) <= {"ABORTED", "RUNNING", "SUCCEEDED"}
    assert len(behind.executions(session_id)) == 2


def test_an_approval_of_a_session_whose_execution_was_stopped_is_carried_out(
    ann: Person, model: Any, behind: Behind
) -> None:
    ann.put_file("old.txt", "old")
    model.add(plan(), calls(("delete_file", {"path": "old.txt"})), end())
    session_id = ann.start("A goal")
    (asked,) = ann.asked(session_id).session["interventions"]
    behind.stop(session_id)

    assert ann.resolve(session_id, asked["intervention_id"], "approve").status_code == 200
    behind.recover("due")  # for the case that it was stopped before it began to wait

    seen = ann.finished(session_id)
    assert (seen.session["run"]["generation"], seen.session["result"]["goal_met"]) == (2, True)
    assert ann.files() == set()


@pytest.mark.thorough
def test_an_operator_repairs_at_the_command_line_and_reads_what_was_done(
    ann: Person, model: Any, behind: Behind, deployed: Deployed
) -> None:
    model.add(
        plan(), calls(("update_plan", {"action": "wait_for_user", "reason": "Which one?"})), end("That one.")
    )
    session_id = ann.start("A goal")
    ann.asked(session_id)
    behind.stop(session_id)
    here = ("doctor", "--repair", "--state", str(deployed.state))

    everything = acta(*here)
    assert everything.code == 0, everything.err
    assert "went on in a new execution" in everything.out
    assert behind.statuses(session_id)[-1] == "RUNNING"

    one = acta(*here, "--session", session_id, "--tenant", ann.tenant)
    assert (one.code, one.out) == (0, f"{session_id} needs no repair\n")
    assert ann.post(f"/v1/sessions/{session_id}/messages", {"content": "The blue one"}).status_code == 202
    assert ann.finished(session_id).session["result"]["answer"] == "That one."

    foreign = acta(*here, "--session", session_id, "--tenant", "somebody-else")
    assert (foreign.code, foreign.out) == (2, "")
    assert foreign.err.startswith(f"acta: {session_id}: There is no such session")


def test_a_run_that_the_agent_failed_itself_is_not_repaired(
    ann: Person, model: Any, deployed: Deployed
) -> None:
    model.add(plan(), calls(("update_plan", {"action": "fail", "reason": "It cannot be done."})))
    session_id = ann.start("A goal")
    assert ann.finished(session_id).session["state"] == "failed"

    refused = acta(
        "doctor", "--repair", "--state", str(deployed.state), "--session", session_id, "--tenant", ann.tenant
    )

    assert (refused.code, refused.out) == (2, "")
    assert "PLAN_FAILED" in refused.err
    assert ann.snapshot(session_id)["state"] == "failed"


def fail_from_outside(behind: Behind, tenant: str, session_id: str) -> None:
    """With the code of a reason that lies outside of the run, and with its execution over."""
    behind.stop(session_id)
    clock = SystemClock()
    log = DynamoLog(behind.settings["ACTA_TABLE"], clock, behind.client("dynamodb"))
    repository = SessionRepository(log, S3Blobs(behind.buckets[1], behind.client("s3")), clock)
    for change in repository.attempts(repository.newest(tenant, session_id), "give_up"):
        change.commit(failed(change, "PROVIDER_UNAVAILABLE", "It did not answer."))


@pytest.mark.thorough
def test_sessions_that_an_outage_failed_are_listed_and_then_brought_back(
    ann: Person, model: Any, behind: Behind, deployed: Deployed
) -> None:
    model.add(
        plan(), calls(("update_plan", {"action": "wait_for_user", "reason": "Which one?"})), end("That one.")
    )
    command = ("doctor", "--repair", "--failed-since", "2h", "--state", str(deployed.state))
    *others, _, _ = ["", *acta(*command).out.splitlines()]
    for line in filter(None, others):  # what other tests left is none of this one's
        session_id, *_, tenant = line.split()
        behind.client("dynamodb").delete_item(
            TableName=behind.settings["ACTA_TABLE"], Key=listing_key(tenant, session_id)
        )
    session_id = ann.start("A goal")
    ann.asked(session_id)
    fail_from_outside(behind, ann.tenant, session_id)

    dry = acta(*command)

    assert (dry.code, dry.err) == (5, "")
    listed, count, what_now = dry.out.splitlines()
    assert (listed.split()[0], *listed.split()[-2:]) == (session_id, "PROVIDER_UNAVAILABLE", ann.tenant)
    assert count.startswith("1 session failed since")
    assert what_now == "nothing was repaired: --yes repairs them"
    assert ann.snapshot(session_id)["state"] == "failed"

    done = acta(*command, "--yes")

    assert (done.code, done.out.splitlines()[-1]) == (0, "repaired 1 of 1 session")
    seen = ann.finished(session_id)
    assert (seen.session["state"], seen.session["result"]["answer"]) == ("completed", "That one.")
    again = acta(*command, "--yes")
    assert again.code == 0
    assert again.out.startswith("0 sessions failed since")

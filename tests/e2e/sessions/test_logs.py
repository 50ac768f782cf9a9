"""A session's story is in the logs of a deployment, each finished run once, and `acta logs` tells it."""

import json
import time
from typing import Any

import pytest

from acta.engine.bound_tenant import tenant_hash
from tests.conftest import Deployed
from tests.e2e.support.behind import Behind
from tests.e2e.support.command import acta
from tests.e2e.support.person import PATIENCE_SECONDS, Person, refused

LOOK_SECONDS = 0.2


def story(deployed: Deployed, session_id: str) -> list[dict[str, Any]]:
    """As `acta logs` tells it, as soon as it has the end of the run."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        told = acta("logs", session_id, "--json", "--state", str(deployed.state))
        assert told.code == 0, told.err
        lines = [json.loads(line) for line in told.out.splitlines()]
        if any(line["message"] == "run finished" for line in lines) or time.monotonic() > deadline:
            return lines
        time.sleep(LOOK_SECONDS)


@pytest.mark.thorough
def test_a_sessions_story_is_told_across_all_functions_and_names_nobody(
    deployed: Deployed, ann: Person, behind: Behind
) -> None:
    ann.put_file("a.txt", "text")
    session_id = ann.finished(ann.start("Read the file a.txt")).session["session_id"]
    refused(ann.post(f"/v1/sessions/{session_id}/pause"), 409, "CONFLICT")

    lines = story(deployed, session_id)

    times = [line["at"] for line in lines]
    assert times == sorted(times)
    assert {"start", "step", "intervene", "usage"} <= {line["function"] for line in lines}
    assert {line["session_id"] for line in lines} == {session_id}
    hashed = tenant_hash(ann.tenant, behind.settings["ACTA_TABLE"])
    assert {line["tenant_hash"] for line in lines} == {hashed}
    text = json.dumps(lines)
    assert ann.tenant not in text
    assert '"ann"' not in text

    (finished,) = (line for line in lines if line["message"] == "run finished")
    session = ann.data(f"/v1/sessions/{session_id}")["session"]
    assert finished["state"] == "completed"
    assert finished["reason"] == session["result"]["reason"]
    assert finished["run_id"] == session["run"]["run_id"]
    assert finished["tokens"] == session["usage"]["total_tokens"]
    assert finished["turns"] == session["run"]["iteration"]
    assert finished["RunsEnded"] == 1

    (answered,) = (line for line in lines if line.get("code") == "CONFLICT")
    assert (answered["function"], answered["status"]) == ("intervene", 409)
    assert answered["who"].startswith("p_")

    shown = acta("logs", session_id, "--state", str(deployed.state)).out.splitlines()
    assert len(shown) == len(lines)
    assert "POST /v1/sessions answered 202" in shown[0]
    assert any("run completed" in line for line in shown)


def test_a_function_logs_what_sts_said_of_its_tenants_policies(ann: Person, behind: Behind) -> None:
    ann.finished(ann.start("Write a note"))
    hashed = tenant_hash(ann.tenant, behind.settings["ACTA_TABLE"])
    lines = [json.loads(line) for line in behind.log_lines() if '"PackedPolicySize"' in line]
    mine = [line for line in lines if line["tenant_hash"] == hashed]
    assert {"acta-start", "acta-step"} <= {line["service"] for line in mine}
    assert {type(line["PackedPolicySize"]) for line in mine} == {int}


def test_the_page_of_graphs_is_there(behind: Behind) -> None:
    page = behind.client("cloudwatch").get_dashboard(DashboardName="acta-local")
    titles = [each["properties"].get("title") for each in json.loads(page["DashboardBody"])["widgets"]]
    assert "Runs that ended, by how (runs)" in titles

"""The official suite's scenarios for servers, of what `/mcp` declares, against the deployed stack: no failures.

What fails for want of a tool that only the suite's example server has, or of what Acta does not offer, is listed here
check by check: a check that is listed and passes is an error, too. docs/mcp.md says why.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support.person import Person
from tests.mcp.bearer import with_bearer
from tests.mcp.conformance import EXTENSION, checks_of_server
from tests.mcp.environment import Environment

pytestmark = pytest.mark.thorough

NEW, OLD = "2026-07-28", "2025-11-25"
RUN = [
    (NEW, "server-stateless"),
    (NEW, "http-header-validation"),
    (NEW, "tools-list"),
    (NEW, "caching"),
    (NEW, "dns-rebinding-protection"),
    (NEW, "server-sse-multiple-streams"),
    (EXTENSION, "tasks-capability-negotiation"),
    (EXTENSION, "tasks-dispatch-and-envelope"),
    (EXTENSION, "tasks-lifecycle"),
    (EXTENSION, "tasks-wire-fields"),
    (EXTENSION, "tasks-request-state-removal"),
    (EXTENSION, "tasks-mrtr-input"),
    (EXTENSION, "tasks-request-headers"),
    (OLD, "server-initialize"),
    (OLD, "server-session-lifecycle"),
    (OLD, "ping"),
    (OLD, "tools-list"),
    (OLD, "dns-rebinding-protection"),
    (OLD, "server-sse-polling"),
    (OLD, "server-sse-multiple-streams"),
]
NOT_OFFERED = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
        "sep-2575-server-no-log-without-loglevel",
    },
    "caching": {
        "sep-2549-prompts-list-caching-hints",
        "sep-2549-resources-list-caching-hints",
        "sep-2549-resources-templates-list-caching-hints",
    },
    "tasks-lifecycle": {
        "sep-2663-tasks-get-status-failed",
        "sep-2663-tool-error-uses-completed-status",
    },
    "tasks-mrtr-input": {"tasks-mrtr-partial-fulfillment", "tasks-mrtr-tasks-update-resumes"},
    "tasks-request-headers": {"tasks-headers-tolerate-mcp-method-on-tools-call"},
}
"""Scenario -> the checks that need what is not there."""


def stand_in(name: str, arguments: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]] | None:
    """The suite calls tools of its own example server. Those whose behaviour Acta has are called under Acta's names: a
    tool that works for a while is an agent, one that asks first is an agent whose call waits for an approval.
    """
    match name:
        case "slow_compute" | "failing_job":
            return "agent_default", {"goal": "use list_files with {}"}
        case "confirm_delete":
            given = json.dumps({"path": arguments["filename"]})
            return "agent_default", {"goal": f"use delete_file with {given}"}
        case "greet":
            return "list_waiting", {}
    return None


@pytest.mark.parametrize(("version", "scenario"), RUN, ids=lambda value: value)
def test_a_scenario_of_what_is_declared_has_no_failure(
    version: str, scenario: str, ann: Person, pinned: Environment, tmp_path: Path
) -> None:
    with with_bearer(str(ann.http.base_url), ann.token, stand_in) as url:
        found = checks_of_server(pinned, url, scenario, version, tmp_path)
    failed = {check.id: check.message for check in found if check.status == "FAILURE"}
    expected = NOT_OFFERED.get(scenario, set())
    assert {name: said for name, said in failed.items() if name not in expected} == {}
    assert expected <= failed.keys()

"""The official clients, with a configured bearer: they hand over a goal, come back, approve and read the result."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.support.person import Person
from tests.mcp.environment import Environment

pytestmark = pytest.mark.thorough

GOAL = "Delete the file old.txt"
MOST_SECONDS = 120


def run(pinned: Environment, program: str, person: Person) -> Any:
    """What the program prints, run where its packages are."""
    url = f"{str(person.http.base_url).rstrip('/')}/mcp"
    done = subprocess.run(
        [str(pinned.node), "--input-type=module", "-"],
        input=(Path(__file__).parent / program).read_text(encoding="utf-8"),
        cwd=pinned.folder,
        env={**os.environ, "MCP_URL": url, "MCP_TOKEN": person.token, "MCP_GOAL": GOAL},
        capture_output=True,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def owner(ann: Person) -> Person:
    ann.put_file("old.txt", "It can go.")
    return ann


def test_the_stateless_client_hands_over_a_goal_comes_back_approves_and_reads_the_result(
    owner: Person, pinned: Environment
) -> None:
    told = run(pinned, "stateless.mjs", owner)
    assert told["version"] == "2026-07-28"
    assert {"agent_default", "watch_session", "decide"} <= set(told["names"])
    assert told["asked"] == {"type": "approval_required", "options": ["approve", "reject", "modify"]}
    assert told["decided"] == "approve"
    assert told["session"]["result"]["goal_met"] is True
    assert owner.files() == set()


def test_the_client_with_a_handshake_gets_a_task_and_its_result(owner: Person, pinned: Environment) -> None:
    told = run(pinned, "with_handshake.mjs", owner)
    assert told["version"] == "2025-11-25"
    assert set(told["statuses"]) == {"working", "completed"}
    assert told["decided"] is True
    assert json.loads(told["result"]["content"][0]["text"].split("\n")[1])["result"]["goal_met"] is True
    assert owner.files() == set()


def test_the_client_of_the_version_before_tasks_connects_calls_and_does_not_decide(
    owner: Person, pinned: Environment
) -> None:
    told = run(pinned, "before_tasks.mjs", owner)
    assert told["version"] == "2025-06-18"
    assert {"agent_default", "watch_session", "decide"} <= set(told["names"])
    assert told["refused"].startswith("Nothing was decided, because no model decides this.")
    assert "/console/inbox/" in told["refused"]
    assert (told["session"]["state"], told["session"]["result"]["goal_met"]) == ("completed", True)
    assert owner.files() == set()

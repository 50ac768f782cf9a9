"""`acta apply` and `acta export` against a deployment, with the example agents."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from acta.infra.packaging.bundle import ROOT
from tests.conftest import Deployed
from tests.e2e.conftest import Admit
from tests.e2e.support.command import Ended, acta
from tests.e2e.support.own_tools import TENANT
from tests.e2e.support.samples import GOAL, give_files

EXAMPLES = str(ROOT / "examples" / "agents")
AGENTS = ["data-cleaner", "order-desk", "release-notes"]

Run = Callable[..., Ended]


@pytest.fixture
def run(deployed: Deployed, admit: Admit) -> Run:
    """`acta` as an admin of the tenant that has the example's Python tools."""
    admin = admit(tenant=TENANT, user="sue", role="admin")
    give_files(admin)
    return lambda *words: acta(*words, environ={"ACTA_API_URL": deployed.url, "ACTA_TOKEN": admin.token})


@pytest.mark.thorough
def test_the_example_agents_are_applied_work_are_exported_and_go_with_their_set(
    run: Run, tmp_path: Path
) -> None:
    planned = run("apply", EXAMPLES, "--plan")
    assert (planned.code, planned.out.splitlines()[-1]) == (3, "set examples: 3 to make")
    applied = run("apply", EXAMPLES, "--yes")
    assert (applied.code, applied.out.splitlines()[-1]) == (0, "Applied: 3 changes written."), applied.err
    again = run("apply", EXAMPLES, "--yes")
    assert (again.code, again.out) == (0, "set examples: 3 as the files say\n")

    worked = run("run", GOAL, "--agent", "release-notes", "--json")
    assert (worked.code, json.loads(worked.out)["agent_id"]) == (0, "release-notes"), worked.err

    exported = run("export", str(tmp_path / "examples"), "--set", "examples")
    assert exported.code == 0, exported.err
    assert sorted(path.stem for path in (tmp_path / "examples" / "agents").iterdir()) == AGENTS
    assert run("apply", str(tmp_path / "examples"), "--plan").code == 0

    (tmp_path / "none").mkdir()
    pruned = run("apply", str(tmp_path / "none"), "--set", "examples", "--yes", "--json")
    assert [(one["action"], one["name"]) for one in json.loads(pruned.out)["changes"]] == [
        ("delete", name) for name in reversed(AGENTS)
    ]
    assert [one["agent_id"] for one in json.loads(run("agents", "ls", "--json").out)] == ["default"]


@pytest.mark.thorough
def test_agents_that_call_each_other_are_applied_in_an_order_that_works_and_no_circle_is(
    run: Run, tmp_path: Path
) -> None:
    agents = tmp_path / "agents"
    agents.mkdir()
    (agents / "a-lead.yaml").write_text("name: Lead\nagents: [{agent: searcher}, {agent: critic, as: ask}]\n")
    (agents / "critic.yaml").write_text("name: Critic\nagents: [{agent: searcher}]\n")
    (agents / "searcher.yaml").write_text("name: Searcher\n")
    applied = run("apply", str(tmp_path), "--set", "team", "--yes", "--json")
    assert [one["name"] for one in json.loads(applied.out)["changes"]] == ["searcher", "critic", "a-lead"]
    assert json.loads(run("agents", "get", "a-lead").out)["agents"][1]["as"] == "ask"
    assert "searcher, critic" in run("agents", "ls").out

    assert run("agents", "rm", "searcher").code == 2
    (agents / "searcher.yaml").write_text("name: Searcher\nagents: [{agent: a-lead}]\n")
    for more in ("--check", "--yes"):
        refused = run("apply", str(tmp_path), "--set", "team", more)
        assert refused.code == 2
        assert "the agent would call itself: searcher -> a-lead -> searcher" in refused.out + refused.err

    (tmp_path / "none").mkdir()
    pruned = run("apply", str(tmp_path / "none"), "--set", "team", "--yes", "--json")
    gone = [one["name"] for one in json.loads(pruned.out)["changes"]]
    assert (gone, json.loads(pruned.out)["not_written"]) == (["a-lead", "critic", "searcher"], [])

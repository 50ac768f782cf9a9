"""`acta export` writes what `acta apply` reads, and overwrites nothing that differs."""

from pathlib import Path

import pytest

from acta.cli.apply.apply import compared
from acta.cli.apply.folder import Key
from acta.cli.exit_codes import CliError
from acta.client.api import Client
from acta.engine.prompts.prompt import AGENT_PLANNING_SYSTEM
from tests.acta.cli.apply.conftest import Files, Run
from tests.acta.real_api import RealApi


def fill(api: Client) -> None:
    """A tenant that was made by hand."""
    api.tools.create(
        {
            "name": "ping",
            "description": "Looks whether the other side is there.",
            "kind": "lambda",
            "config": {"function": "acta-test-tool-ping"},
            "input_schema": {
                "type": "object",
                "properties": {"n": {"type": "number", "maximum": 1.0, "default": None}},
            },
        }
    )
    api.agents.create(
        {
            "agent_id": "desk",
            "name": "Desk: the 1st",
            "goal": "no",
            "tools": ["ping", "read_file"],
            "system_prompt": "You answer.\n\n  Politely.  \n# not a comment\n\ttab é 日本\n",
            "limits": {"cost_budget_usd": 2},
            "interventions": {"approval_required": {"timeout_seconds": 60}},
            "output_schema": {
                "type": "object",
                "properties": {"total": {"type": ["number", "null"], "enum": [1e3, None]}},
            },
        }
    )
    api.agents.create({"agent_id": "boss", "name": "Boss", "agents": [{"agent": "desk", "as": "ask_desk"}]})
    api.agents.replace("default", {"name": "Ours"})
    api.prompts.write(AGENT_PLANNING_SYSTEM, "Plan with update_plan.", comment="Shorter")


def test_exported_applied_to_an_empty_tenant_and_exported_again_the_files_are_the_same(
    run: Run, api: Client, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from acta.cli.main import main
    from tests.acta.real_api import FOR_ADMINS

    fill(api)
    first, second = Files(tmp_path / "first"), Files(tmp_path / "second")
    shown = run("export", str(first))
    assert shown.code == 0, shown.err
    assert sorted(first.all()) == [
        "agents/boss.yaml",
        "agents/default.yaml",
        "agents/desk.yaml",
        f"prompts/{AGENT_PLANNING_SYSTEM}.yaml",
        "tools/ping.yaml",
    ]
    with RealApi() as empty:
        connection = ("--api-url", empty.url, "--token", FOR_ADMINS)
        assert main(["apply", str(first), "--yes", *connection]) == 0
        assert main(["apply", str(first), "--plan", *connection]) == 0
        assert main(["export", str(second), *connection]) == 0
    capfd.readouterr()
    assert second.all() == first.all()


def test_what_is_exported_says_what_is_there_so_that_applying_it_changes_nothing_but_its_owner(
    run: Run, api: Client, files: Files
) -> None:
    fill(api)
    run("export", str(files))
    plan = run("apply", str(files), "--adopt", "--plan", "--json").json
    assert {one["action"] for one in plan["changes"]} == {"adopt"}
    assert run("apply", str(files), "--adopt", "--yes").code == 0
    assert run("apply", str(files), "--yes").out == "set support: 5 as the files say"


def test_a_file_that_differs_is_not_overwritten_without_a_word(run: Run, api: Client, files: Files) -> None:
    api.agents.create({"agent_id": "desk", "name": "Desk"})
    api.agents.create({"agent_id": "other", "name": "Other"})
    files.write("agents/desk.yaml", "name: Mine")
    shown = run("export", str(files))
    assert shown.code == 2
    assert "! agents/desk.yaml says something else" in shown.out
    assert files.all() == {"agents/desk.yaml": b"name: Mine"}
    assert run("export", str(files), "--overwrite").code == 0
    assert files.all() == {"agents/desk.yaml": b"name: Desk\n", "agents/other.yaml": b"name: Other\n"}


def test_a_file_that_says_the_same_keeps_its_comments(run: Run, api: Client, files: Files) -> None:
    api.agents.create({"agent_id": "desk", "name": "Desk"})
    files.write("agents/desk.yaml", "# Who answers.\nname: Desk")
    assert run("export", str(files), "--overwrite").code == 0
    assert files.all() == {"agents/desk.yaml": b"# Who answers.\nname: Desk"}


def test_one_set_is_exported_alone_and_what_is_built_in_never(run: Run, api: Client, files: Files) -> None:
    files.write("agents/desk.yaml", "name: Desk")
    run("apply", str(files), "--yes")
    api.agents.create({"agent_id": "other", "name": "Other"})
    files.remove("agents/desk.yaml")
    assert run("export", str(files), "--set", "support", "--json").json["written"] == ["agents/desk"]


def test_a_prompt_that_has_the_release_s_text_again_is_not_exported(
    run: Run, api: Client, files: Files
) -> None:
    api.prompts.write(AGENT_PLANNING_SYSTEM, "Plan.")
    api.prompts.restore(AGENT_PLANNING_SYSTEM, 1)
    assert run("export", str(files)).code == 0
    assert files.all() == {}


@pytest.mark.parametrize("name", ["../../escaped", "..", "/escaped", "a/b", ".git", "a\\b", "a\nb", ""])
def test_a_deployment_s_names_do_not_lead_out_of_the_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "repo" / "definitions"
    folder.mkdir(parents=True)
    with pytest.raises(CliError, match="nothing was written"):
        compared(folder, {Key("tools", name): {"name": name}})
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_link_in_the_folder_is_not_written_through(run: Run, api: Client, tmp_path: Path) -> None:
    fill(api)
    outside, folder = tmp_path / "outside", tmp_path / "definitions"
    outside.mkdir()
    folder.mkdir()
    (folder / "tools").symlink_to(outside)
    shown = run("export", str(folder))
    assert shown.code != 0
    assert "is a link here" in shown.err
    assert [*outside.iterdir(), *folder.glob("agents/*")] == []

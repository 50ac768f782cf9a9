"""`acta init`: what it makes works as it is made, wherever in it a command is given, and nothing is overwritten."""

import json
import os
import re
import shlex
import subprocess
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from acta.cli.commands.grammar import parse
from acta.cli.local.init import keep_wheel
from acta.cli.main import ACTA, main
from acta.cli.operations.target import environment_named
from acta.cli.operations.verify.report import JSON_FILE, MARKDOWN_FILE
from acta.infra.api.issuers import OwnPool
from acta.infra.environments import every_environment, operators_file
from acta.infra.local.deploy import cdk_environ
from acta.infra.local.state_directory import DEFAULT_STATE_DIR, StateDir
from acta.infra.posture import Undecided, require_decided
from acta.infra.tool_folders import folders_in, tools_directory
from acta.repository import repository
from tests.acta.real_api import FOR_ADMINS, RealApi


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository as it is made, which is the current folder."""
    assert main(["init", str(tmp_path / "my shop")]) == 0
    monkeypatch.chdir(tmp_path / "my shop")
    return tmp_path / "my shop"


def run_tests() -> "subprocess.CompletedProcess[str]":
    """The tests of the current folder."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": ""},
    )


def test_its_tests_pass_as_made_and_fail_where_its_tool_does(shop: Path) -> None:
    ran = run_tests()
    assert (ran.returncode, "4 passed" in ran.stdout) == (0, True), ran.stdout + ran.stderr
    tools = shop / "tools" / "orders" / "tools.py"
    tools.write_text(tools.read_text().replace("sent on Monday", "lost"))
    assert "3 failed, 1 passed" in run_tests().stdout


def test_the_tool_and_the_agent_of_the_page_pass_their_tests(shop: Path) -> None:
    page = (Path(__file__).parents[4] / "docs" / "your-repository.md").read_text(encoding="utf-8")
    tools, tests, agent = re.findall(r"```(?:python|yaml)\n(.*?)```", page, re.DOTALL)
    assert main(["new", "tool", "parcels"]) == 0
    (shop / "tools" / "parcels" / "tools.py").write_text(tools)
    (shop / "tools" / "parcels" / "test_parcels.py").write_text(tests)
    (shop / "agents" / "packer.yaml").write_text(agent)
    ran = run_tests()
    assert (ran.returncode, "6 passed" in ran.stdout) == (0, True), ran.stdout + ran.stderr
    assert main(["apply", "--check"]) == 0


def test_the_next_commands_are_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", str(tmp_path / "shop")]) == 0
    said = capsys.readouterr().out.split("Next")[1].splitlines()
    commands = ("pytest", "acta dev", "acta apply", "acta run --agent desk")
    assert [each in line for each, line in zip(commands, said[1:], strict=True)] == [True] * 4


def test_the_wheel_that_is_kept_is_among_what_was_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / "acta_agents-0.1.0-py3-none-any.whl"
    wheel.write_bytes(b"PK")

    class Installed:
        version = "0.1.0"

        def read_text(self, name: str) -> str:
            return json.dumps({"url": wheel.as_uri()})

    monkeypatch.setattr("acta.cli.local.init.distribution", lambda _: Installed())
    assert main(["init", str(tmp_path / "shop"), "--json"]) == 0
    assert f"wheels/{wheel.name}" in json.loads(capsys.readouterr().out)["files"]


def test_what_acta_verify_writes_is_not_committed(shop: Path) -> None:
    assert {JSON_FILE, MARKDOWN_FILE} <= {*(shop / ".gitignore").read_text().splitlines()}


def test_what_is_there_is_named_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("Mine.")
    (tmp_path / "tools").write_text("A file.")
    assert main(["init"]) == 2
    said = capsys.readouterr().err
    assert ("README.md" in said, "tools/orders/tools.py" in said, "--missing" in said) == (True, False, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "tools"]

    (tmp_path / "tools").unlink()
    assert main(["init", "--missing", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["files"]
    assert ("README.md" in made, "tools/orders/tools.py" in made) == (False, True)
    assert (tmp_path / "README.md").read_text() == "Mine."
    assert main(["init", "--missing"]) == 0


def test_no_repository_is_made_in_another_one(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "agents"]) == 2
    assert str(shop) in capsys.readouterr().err
    assert [path.name for path in (shop / "agents").iterdir()] == ["desk.yaml"]


def test_dev_names_the_mistake_in_its_environments(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (shop / "environments.py").write_text("DEV = (\n")
    assert main(["dev"]) == 2
    assert "environments.py" in capsys.readouterr().err


@pytest.mark.parametrize("place", [".", "tools/orders"])
def test_environments_and_tools_are_found_from_every_folder_of_it(
    shop: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(shop / place)
    assert operators_file({}) == cdk_environ({})["ACTA_ENVIRONMENTS"] == str(shop / "environments.py")
    assert operators_file({"ACTA_ENVIRONMENTS": "other.py"}) == "other.py"
    assert [*every_environment({})] == ["local", "dev", "staging", "prod"]
    assert [each.name for each in folders_in(tools_directory({}), "local")] == ["orders"]
    assert StateDir(DEFAULT_STATE_DIR).path == shop / ".acta"
    assert StateDir(Path("other")).path == shop / place / "other"
    assert main(["lock", "--check"]) == 0
    assert main(["new", "tool", "parcels"]) == 0
    assert (shop / "tools" / "parcels" / "tools.py").is_file()
    for name in ("dev", "staging"):  # one that the file has, and one of Acta's
        assert environment_named(name).tools_dir == str(shop / "tools")
    assert main(["apply", "--check"]) == 0


def test_an_own_environment_counts_at_once(shop: Path) -> None:
    text = (shop / "environments.py").read_text().replace("DEV,\n", 'DEV,\n        name="trial",\n', 1)
    (shop / "environments.py").write_text(text)
    assert environment_named("trial").name == "trial"


def test_each_option_that_stands_there_as_a_comment_is_one(shop: Path) -> None:
    with pytest.raises(Undecided):
        require_decided(every_environment({})["prod"])
    path = shop / "environments.py"
    lines = [
        re.sub(r"^( +)# (\w+=.*,)$", r"\1\2", line).replace("DEV, PROD", "DEV, PROD, Machine, OwnPool")
        for line in path.read_text().splitlines()
    ]
    path.write_text("\n".join(lines))
    found = every_environment({})
    assert (found["dev"].account, found["prod"].region) == ("111111111111", "eu-west-1")
    assert isinstance(found["dev"].auth, OwnPool)
    assert [*found["dev"].auth.machines] == ["ci"]
    require_decided(found["prod"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_folder_above_that_a_stranger_made_is_not_run(shop: Path) -> None:
    assert repository(shop / "tools") == shop
    os.chown(shop / "environments.py", 12_345, -1)
    assert repository(shop / "tools") is None
    assert repository(shop) == shop


def test_without_a_repository_the_folder_has_to_be_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "environments.py").write_text("raise SystemExit('of another program')")
    assert operators_file({}) == ""
    assert main(["apply"]) == 2
    assert "name the FOLDER" in capsys.readouterr().err


def test_its_agent_is_applied_beside_the_python_tools_and_files_of_other_programs(
    shop: Path, real_api: RealApi, capsys: pytest.CaptureFixture[str]
) -> None:
    (shop / "tools" / "lookup_orders.yaml").write_text(  # this API has no Python tools
        "description: An order\nkind: http\nconfig: {url: 'https://orders.example.com/status', method: GET}\n"
        "input_schema: {type: object, properties: {number: {type: string}}}\neffect: read\n"
    )
    (shop / "compose.yaml").write_text("services: {}")
    (shop / "charts").mkdir()
    (shop / "charts" / "values.yaml").write_text("a: 1")
    there = ("--api-url", real_api.url, "--token", FOR_ADMINS)
    assert main(["apply", "--plan", *there]) == 3
    assert main(["apply", "--yes", *there]) == 0
    assert "agents/desk is made" in capsys.readouterr().out
    assert main(["apply", "--plan", *there]) == 0

    (shop / "agents").rename(shop / "agent")
    assert main(["apply", "--plan", *there]) == 2
    assert "agent: there is no such kind. Did you mean 'agents'?" in capsys.readouterr().err


def steps(shop: Path) -> Iterator[dict[str, Any]]:
    workflow = yaml.safe_load((shop / ".github" / "workflows" / "acta.yml").read_text())
    for job in workflow["jobs"].values():
        yield from job["steps"]


def test_its_workflow_calls_commands_that_there_are(shop: Path) -> None:
    called = [shlex.split(step["run"])[1:] for step in steps(shop) if step.get("run", "").startswith("acta ")]
    assert {words[0] for words in called} >= {"apply", "lock", "diff", "deploy"}
    for words in called:
        assert isinstance(parse(ACTA, words), Namespace), words


def test_the_actions_of_its_workflow_are_pinned_and_tokens_are_for_single_jobs(shop: Path) -> None:
    uses = [step["uses"] for step in steps(shop) if "uses" in step]
    assert [each for each in uses if not re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", each)] == []
    workflow = yaml.safe_load((shop / ".github" / "workflows" / "acta.yml").read_text())
    assert workflow["permissions"] == {"contents": "read"}
    of_aws = {name for name, job in workflow["jobs"].items() if "id-token" in job.get("permissions", {})}
    assert of_aws == {"plan", "deploy"}


def test_the_wheel_that_acta_was_installed_from_is_kept_for_others(tmp_path: Path) -> None:
    wheel = tmp_path / "my wheels" / "acta_agents-0.1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.write_bytes(b"PK")
    assert keep_wheel(wheel.as_uri(), tmp_path / "wheels") == tmp_path / "wheels" / wheel.name
    assert (tmp_path / "wheels" / wheel.name).read_bytes() == b"PK"
    for origin in ("", "https://example.com/acta.whl", tmp_path.as_uri(), (tmp_path / "gone.whl").as_uri()):
        assert not keep_wheel(origin, tmp_path / "others")
    assert not (tmp_path / "others").exists()

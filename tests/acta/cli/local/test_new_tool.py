"""`acta new tool NAME`: what it makes works as made, and what it cannot make it says."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from acta.cli.main import main
from acta.infra.tool_folders import folders_in


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_new_folder_has_a_tool_whose_tests_pass_beside_those_of_another(empty_folder: Path) -> None:
    assert main(["new", "tool", "orders"]) == main(["new", "tool", "late-orders"]) == 0

    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tools"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": ""},
    )

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "6 passed" in ran.stdout
    assert [each.name for each in folders_in(empty_folder / "tools", "local")] == ["late-orders", "orders"]


def test_the_next_commands_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "tool", "orders"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Made tools/orders with requirements.txt, test_orders.py, tool.toml, tools.py."
    assert "pytest tools/orders " in said[2]
    assert "acta dev " in said[3]
    assert 'acta run \'use lookup_orders with {"number": "7"}\' ' in said[4]


def test_scripts_get_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "tool", "orders", "--dir", "mine", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["folder"], said["files"][-1], len(said["next"])) == ("mine/orders", "tools.py", 3)


@pytest.mark.parametrize("name", ["Orders", "my_orders", "../orders", "a" * 21, "-a", "tools.py", ""])
def test_a_name_that_no_lambda_may_have_is_refused(
    name: str, empty_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "tool", "--", name]) == 2
    assert "take a-z, 0-9 and single hyphens" in capsys.readouterr().err
    assert not list(empty_folder.iterdir())


def test_what_is_there_already_is_left_as_it_is(
    empty_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (empty_folder / "tools" / "orders").mkdir(parents=True)
    assert main(["new", "tool", "orders"]) == 2
    assert "tools/orders is there already" in capsys.readouterr().err
    assert not list((empty_folder / "tools" / "orders").iterdir())

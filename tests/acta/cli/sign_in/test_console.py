"""`acta console`."""

import json
from pathlib import Path

import pytest

from acta.cli.main import main
from acta.infra.local.issuer import PageLinks
from acta.infra.local.state_directory import RunningStack, StateDir


@pytest.fixture
def state(tmp_path: Path) -> Path:
    made = StateDir(tmp_path)
    made.claim()
    made.write(RunningStack(1, 5, "http://127.0.0.1:5", "http://127.0.0.1:6", "offline"))
    return tmp_path


def test_the_page_of_the_local_stack_opens_signed_in(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["console", "--no-browser", "--tenant", "acme", "--user", "ann", "--state", str(state)]) == 0
    link = capsys.readouterr().out.strip()
    assert link.startswith("http://127.0.0.1:5/console/inbox#code=")
    assert PageLinks(state).take(link.partition("#code=")[2]) == ("acme", "ann", ("admin",))


def test_its_roles_can_be_named_and_a_script_gets_json(
    state: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["console", "--json", "--role", "approver", "--state", str(state)]) == 0
    link = json.loads(capsys.readouterr().out)["url"]
    assert PageLinks(state).take(link.partition("#code=")[2]) == ("demo", "you", ("approver",))


def test_without_a_stack_there_is_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["console", "--no-browser", "--state", str(tmp_path)]) == 2
    assert "acta up" in capsys.readouterr().err


def test_a_role_that_no_token_has_is_refused(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["console", "--no-browser", "--role", "two words", "--state", str(state)]) == 2
    assert "a role is" in capsys.readouterr().err


def test_where_nobody_is_signed_in_to_a_deployment_it_says_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert main(["console", "--env", "dev", "--no-browser"]) == 2
    assert "acta login --env dev" in capsys.readouterr().err

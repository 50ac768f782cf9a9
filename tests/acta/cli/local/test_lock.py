"""`acta lock`: which folders it locks, and what it says of one that is not."""

from pathlib import Path

import pytest

from acta.cli.main import main


@pytest.fixture(autouse=True)
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, asked in (("bills", "# nothing\n"), ("orders", "iniconfig>=2\n")):
        folder = tmp_path / "tools" / name
        folder.mkdir(parents=True)
        (folder / "tools.py").write_text("")
        (folder / "requirements.txt").write_text(asked)
    return tmp_path / "tools"


def test_each_folder_that_asks_for_libraries_is_locked(
    tools: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lock", "--check"]) == 2
    assert "Run: acta lock orders --dir tools" in capsys.readouterr().err
    assert main(["lock"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "tools/bills: it asks for no libraries",
        "tools/orders: its libraries are locked",
    ]
    assert "iniconfig==" in (tools / "orders" / "requirements.lock").read_text()
    assert main(["lock", "orders", "--check"]) == 0


def test_a_version_stays_until_somebody_asks_for_newer_ones(tools: Path) -> None:
    folder = tools / "orders"
    (folder / "requirements.txt").write_text("iniconfig==2.0.0\n")
    assert main(["lock", "orders"]) == 0
    (folder / "requirements.txt").write_text("iniconfig>=2\n")
    assert main(["lock", "orders"]) == 0
    assert "iniconfig==2.0.0" in (folder / "requirements.lock").read_text()
    assert main(["lock", "orders", "--upgrade"]) == 0
    assert "iniconfig==2.0.0" not in (folder / "requirements.lock").read_text()


def test_what_is_no_folder_of_tools_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lock", "refunds"]) == main(["lock", "--dir", "nowhere"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "acta: tools/refunds: there are no Python tools here",
        "acta: nowhere: there are no Python tools here",
    ]

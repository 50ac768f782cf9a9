"""`make audit`: what advisory sources say, and that silence is never taken for a clean bill."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from infra.packaging.audit import FOUND, NO_ANSWER, NOTHING_KNOWN, audit, contents_of
from infra.packaging.tool_folders import BuiltFolder
from infra.tool_folders import ToolFolder

LOCKS = (Path("requirements/dev.txt"), Path("requirements/step.txt"))
CLEAN = {"dependencies": [{"name": "httpx", "version": "1.0", "vulns": []}], "fixes": []}
BAD = {
    "dependencies": [
        {
            "name": "httpx",
            "version": "1.0",
            "vulns": [{"id": "PYSEC-1", "fix_versions": ["1.1"], "aliases": []}],
        }
    ]
}
SKIPPED = {"dependencies": [{"name": "httpx", "skip_reason": "not found"}], "fixes": []}
NPM_CLEAN: dict[str, Any] = {"auditReportVersion": 2, "vulnerabilities": {}}
NPM_BAD = {"vulnerabilities": {"aws-cdk": {"severity": "high", "range": "<3"}}}
NPM_AWAY = {"message": "request failed", "error": {"code": "ENOAUDIT"}}


def said(
    python: object = CLEAN, npm: object = NPM_CLEAN, *, step: object = None, contents: Sequence[Path] = ()
) -> int:
    """Its exit code where the sources answer so; `step`: of that lock alone. A text is no JSON."""

    def ask(command: Sequence[str]) -> str:
        answer = npm if command[0] == "npm" else step if step and "step.txt" in command[-1] else python
        return answer if isinstance(answer, str) else json.dumps(answer)

    return audit(LOCKS, ask, contents)


def test_nothing_known_against_any_package_is_success() -> None:
    assert said() == NOTHING_KNOWN == 0


@pytest.mark.parametrize("bad", [{"python": BAD}, {"npm": NPM_BAD}, {"step": BAD}])
def test_an_advisory_against_one_package_is_a_failure(bad: dict[str, Any]) -> None:
    assert said(**bad) == FOUND


def test_what_the_zip_of_a_folder_of_tools_contains_is_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("httpx", "attrs"):
        metadata = tmp_path / f"{name}-1.0.dist-info" / "METADATA"
        metadata.parent.mkdir()
        metadata.write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1.0\n")
    built = BuiltFolder(ToolFolder("orders", tmp_path, ("*",)), tmp_path, "key", ())
    listed = contents_of(built, tmp_path)
    assert (listed.name, listed.read_text()) == ("tool-orders.txt", "attrs==1.0\nhttpx==1.0\n")
    assert said(contents=[listed]) == NOTHING_KNOWN
    assert "audit: tool-orders: nothing is known against it" in capsys.readouterr().out
    assert said(BAD, contents=[listed]) == FOUND


def test_an_advisory_is_shown_with_its_lock_and_what_mends_it(capsys: pytest.CaptureFixture[str]) -> None:
    said(step=BAD, npm=NPM_BAD)
    assert capsys.readouterr().out.splitlines() == [
        "audit: dev.txt: nothing is known against it",
        "audit: step.txt: httpx 1.0: PYSEC-1, mended in 1.1",
        "audit: package-lock.json: aws-cdk <3: severity high",
    ]


@pytest.mark.parametrize(
    "silent",
    [{"python": ""}, {"step": "Traceback"}, {"npm": ""}, {"npm": NPM_AWAY}, {"python": {}}, {"python": "[]"}],
)
def test_a_source_that_is_not_reached_is_a_failure_of_its_own_and_is_said(
    silent: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(**silent) == NO_ANSWER
    assert "could not be reached" in capsys.readouterr().out


def test_a_package_that_the_source_does_not_know_is_not_taken_for_a_good_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert said(step=SKIPPED) == NO_ANSWER
    assert "audit: step.txt: the advisory source said nothing about httpx" in capsys.readouterr().out


def test_a_known_advisory_does_not_hide_a_source_that_is_away(capsys: pytest.CaptureFixture[str]) -> None:
    assert said(python=BAD, npm=NPM_AWAY) == NO_ANSWER
    assert "PYSEC-1" in capsys.readouterr().out

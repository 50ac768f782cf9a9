"""The page's logic that needs no browser: `*.test.ts` beside what they test, run by Node's own test runner."""

import subprocess
from pathlib import Path

import pytest

from acta.infra.packaging.console_page import ESBUILD, ROOT, WEB

TESTS = sorted(WEB.rglob("*.test.ts"))


def test_there_are_some() -> None:
    assert TESTS


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.relative_to(WEB).as_posix())
def test_logic(path: Path, tmp_path: Path) -> None:
    made = tmp_path / "test.mjs"
    options = ("--bundle", "--platform=node", "--format=esm", "--jsx=automatic", "--jsx-import-source=preact")
    subprocess.run(
        [ESBUILD, path, *options, f"--outfile={made}", "--log-level=warning"], cwd=ROOT, check=True
    )
    ran = subprocess.run(["node", "--test", made], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr

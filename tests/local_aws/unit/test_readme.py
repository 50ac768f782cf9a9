"""The emulator's README has a row for every patch, with tests that exist."""

import re
from pathlib import Path

import acta.local_aws
from acta.local_aws.ministack import REQUIRED_RELEASE

EMULATOR = Path(acta.local_aws.__file__).parent
README = (EMULATOR / "README.md").read_text()
ROWS = [line for line in README.splitlines() if line.startswith(("| `", "| |"))]


def test_every_patch_has_a_row() -> None:
    listed = re.findall(r"^    (\w+\.\w+),$", (EMULATOR / "patches.py").read_text(), re.MULTILINE)
    assert listed
    assert [patch for patch in listed if not any(row.startswith(f"| `{patch}` |") for row in ROWS)] == []


def test_every_test_that_is_named_exists() -> None:
    texts = [path.read_text() for path in (Path(__file__).parents[1] / "contracts").glob("test_*.py")]
    known = set(re.findall(r"^def (test_\w+)", "\n".join(texts), re.MULTILINE))
    assert set(re.findall(r"`(test_\w+)`", README)) - known == set()


def test_a_row_names_a_test_or_says_why_there_is_none() -> None:
    assert [row for row in ROWS if not re.search(r"`test_\w+` \|$|\| none: [^|]+ \|$", row)] == []


def test_the_release_is_the_one_that_is_pinned() -> None:
    assert set(re.findall(r"ministack (\d+\.\d+\.\d+)", README)) == {REQUIRED_RELEASE}
    assert f"ministack=={REQUIRED_RELEASE}" in (EMULATOR / "requirements.in").read_text()


def test_one_module_alone_imports_ministack() -> None:
    importing = re.compile(
        r"^\s*(import ministack|from ministack)|import_module\(f?\"ministack", re.MULTILINE
    )
    found = [path.name for path in EMULATOR.rglob("*.py") if importing.search(path.read_text())]
    assert found == ["ministack.py"]

"""The bounds of `pyproject.toml` fit what the locks pin, so that what is tested is what users install."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from acta import __version__
from acta.infra.toolchain import PACKAGED_LOCKS, ROOT, made_folder

LOCKS = (ROOT / "requirements" / "dev.txt", *sorted(PACKAGED_LOCKS.glob("*.txt")))


def asked() -> Iterator[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for text in (
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ):
        if not text.startswith("acta-agents"):
            yield Requirement(text)


def pinned(lock: Path) -> dict[str, str]:
    lines = (line.split(" ")[0] for line in lock.read_text(encoding="utf-8").splitlines() if "==" in line)
    return {canonicalize_name(line.partition("==")[0]): line.partition("==")[2] for line in lines}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: str(lock.name))
def test_what_is_pinned_is_within_the_bounds(lock: Path) -> None:
    versions = pinned(lock)
    named = [each for each in asked() if canonicalize_name(each.name) in versions]
    assert [str(each) for each in named if versions[canonicalize_name(each.name)] not in each.specifier] == []


def test_every_dependency_is_tested_and_has_a_lower_bound() -> None:
    assert {canonicalize_name(each.name) for each in asked()} <= pinned(LOCKS[0]).keys()
    assert [
        str(each) for each in asked() if not any(part.operator in (">=", "==") for part in each.specifier)
    ] == []


def test_the_changelog_and_the_pages_name_this_version() -> None:
    headings = [
        line
        for line in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("## ")
    ]
    assert headings[0] == "## Unreleased"
    assert headings[1].startswith(f"## {__version__} - ")
    pages = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    named = {
        each
        for page in pages
        for each in re.findall(r"acta_agents-([0-9.]+)-", page.read_text(encoding="utf-8"))
    }
    assert named == {__version__}


def test_what_is_made_stands_in_the_clone_or_else_in_the_cache_of_this_version(tmp_path: Path) -> None:
    assert made_folder(ROOT, {"XDG_CACHE_HOME": str(tmp_path)}) == ROOT
    assert made_folder(tmp_path, {"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "acta" / __version__
    usual = Path.home() / ".cache" / "acta" / __version__
    assert [made_folder(tmp_path, each) for each in ({}, {"XDG_CACHE_HOME": "not/absolute"})] == [
        usual,
        usual,
    ]
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "mine"\n')  # somebody else's
    assert made_folder(tmp_path, {}) == usual

"""`make audit`: asks public advisories about every package that is pinned, those of Python and those of npm, and about
what the zips of folders of Python tools contain (ACTA_TOOLS_DIR, else `tools`).

Exit codes: 0 nothing is known against any, 1 something is, 2 an advisory source gave no answer, or none about some
package, so that nothing is known of it.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from infra.environments import DEV
from infra.packaging.bundle import ROOT
from infra.packaging.install import target_of
from infra.packaging.sbom import python_packages
from infra.packaging.tool_folders import BuiltFolder, build_folder
from infra.tool_folders import folders_in, tools_directory

NOTHING_KNOWN, FOUND, NO_ANSWER = 0, 1, 2
PIP_AUDIT = ROOT / ".venv-audit" / "bin" / "pip-audit"
NPM = ("npm", "audit", "--package-lock-only", "--json")

Ask = Callable[[Sequence[str]], str]
"""Runs a command in the repository and returns its standard output; its exit code means too many things."""


class Advisory(NamedTuple):
    """`package` with its version, `name` as the source calls it, `mend` what to do, empty where nobody knows."""

    package: str
    name: str
    mend: str


class Report(NamedTuple):
    """`unknown`: packages that the source said nothing about."""

    found: list[Advisory]
    unknown: list[str]


class NoAnswer(Exception):
    """The source was not reached, or said something that is no report."""


def main() -> int:
    folders = folders_in(tools_directory(os.environ), DEV.name)
    with tempfile.TemporaryDirectory() as scratch:
        contents = [contents_of(build_folder(each, target_of(DEV)), Path(scratch)) for each in folders]
        return audit(sorted((ROOT / "requirements").glob("*.txt")), run, contents)


def contents_of(built: BuiltFolder, scratch: Path) -> Path:
    """A list of the packages in the zip of a folder of tools."""
    lines = [f"{each['name']}=={each['version']}\n" for each in python_packages(built.path)]
    listed = scratch / f"tool-{built.folder.name}.txt"
    listed.write_text("".join(lines))
    return listed


def audit(locks: Sequence[Path], ask: Ask, contents: Sequence[Path] = ()) -> int:
    """Every lock and package-lock.json are asked about, also after one of them got no answer. `contents`: lists of what
    zips contain, without hashes.
    """
    codes = [_shown(lock.name, partial(of_lock, lock, ask)) for lock in locks]
    codes += [_shown(each.stem, partial(of_contents, each, ask)) for each in contents]
    return max([*codes, _shown("package-lock.json", partial(of_npm, ask))])


def _shown(name: str, report_of: Callable[[], Report]) -> int:
    """Prints what the source says about the lock; its exit code."""
    try:
        report = report_of()
    except NoAnswer:
        print(f"audit: {name}: the advisory source could not be reached, so nothing is known")
        return NO_ANSWER
    for each in report.found:
        print(f"audit: {name}: {each.package}: {each.name}{f', {each.mend}' if each.mend else ''}")
    if report.unknown:
        print(f"audit: {name}: the advisory source said nothing about {', '.join(report.unknown)}")
        return NO_ANSWER
    if report.found:
        return FOUND
    print(f"audit: {name}: nothing is known against it")
    return NOTHING_KNOWN


def of_lock(lock: Path, ask: Ask) -> Report:
    """`--disable-pip`: the hashed lock is complete, so nothing is resolved or installed. Raises NoAnswer."""
    return _of_packages(lock, ask, "--require-hashes")


def of_contents(listed: Path, ask: Ask) -> Report:
    """`--no-deps`: the list is complete. Raises NoAnswer."""
    return _of_packages(listed, ask, "--no-deps")


def _of_packages(listed: Path, ask: Ask, option: str) -> Report:
    command = [str(PIP_AUDIT), option, "--disable-pip", "--progress-spinner=off", "--format=json"]
    packages = _part(_report(ask([*command, "-r", str(listed)])), "dependencies", list)
    found = [
        Advisory(f"{package['name']} {package['version']}", each["id"], _fixed(each["fix_versions"]))
        for package in packages
        for each in package.get("vulns", ())
    ]
    return Report(sorted(found), [package["name"] for package in packages if "vulns" not in package])


def of_npm(ask: Ask) -> Report:
    """Raises NoAnswer."""
    found = [
        Advisory(f"{name} {each.get('range', '')}".strip(), f"severity {each.get('severity')}", "")
        for name, each in _part(_report(ask(NPM)), "vulnerabilities", dict).items()
    ]
    return Report(sorted(found), [])


def _fixed(versions: Sequence[str]) -> str:
    return f"mended in {', '.join(versions)}" if versions else ""


def _report(text: str) -> Mapping[str, Any]:
    try:
        report = json.loads(text)
    except ValueError:
        raise NoAnswer from None
    if not isinstance(report, dict):
        raise NoAnswer
    return report


def _part(report: Mapping[str, Any], name: str, kind: type) -> Any:
    """A report of what was found has it also where that is nothing; a report of a failure does not."""
    part = report.get(name)
    if not isinstance(part, kind):
        raise NoAnswer
    return part


def run(command: Sequence[str]) -> str:
    done = subprocess.run(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
    )
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())

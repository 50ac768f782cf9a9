"""`make audit`: asks public advisories about every package that is pinned, those of Python and those of npm.

Exit codes: 0 nothing is known against any, 1 something is, 2 an advisory source gave no answer, or none about some
package, so that nothing is known of it.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from infra.packaging.bundle import ROOT

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
    return audit(sorted((ROOT / "requirements").glob("*.txt")), run)


def audit(locks: Sequence[Path], ask: Ask) -> int:
    """Every lock and package-lock.json are asked about, also after one of them got no answer."""
    codes = [_shown(lock.name, partial(of_lock, lock, ask)) for lock in locks]
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
    command = [str(PIP_AUDIT), "--require-hashes", "--disable-pip", "--progress-spinner=off", "--format=json"]
    packages = _part(_report(ask([*command, "-r", str(lock)])), "dependencies", list)
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

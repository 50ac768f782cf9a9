"""The conformance suite's own program, asked about one scenario at a time."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.mcp.environment import Environment

MOST_SECONDS = 120
EXTENSION = "extension"
"""In place of a version: scenarios of extensions belong to none."""


class Check(NamedTuple):
    id: str
    status: str
    message: str


def checks_of_server(
    environment: Environment, url: str, scenario: str, version: str, folder: Path
) -> list[Check]:
    """What the suite found. `folder`: where it writes."""
    command = [
        environment.node,
        environment.suite,
        "server",
        "--url",
        url,
        "--scenario",
        scenario,
        "-o",
        folder,
    ]
    if version != EXTENSION:
        command += ["--spec-version", version]
    # Its exit code says whether a check failed; which ones is in its file.
    done = subprocess.run(
        [str(part) for part in command], cwd=environment.folder, capture_output=True, text=True, check=False,
        timeout=MOST_SECONDS,
    )  # fmt: skip
    found = list(_found(folder))
    assert found, done.stdout + done.stderr
    return found


def _found(folder: Path) -> Iterator[Check]:
    for path in folder.rglob("checks.json"):
        checks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        for each in checks:
            yield Check(each["id"], each["status"], each.get("errorMessage") or "")

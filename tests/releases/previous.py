"""The release before this one, rebuilt from the repository's history: its sources, its zips, its state machine.

Nothing of it is committed. It lies under `build/previous`, by its commit.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from infra.environments import LOCAL
from infra.packaging.bundle import ROOT as ROOT
from infra.packaging.bundle import Bundler
from infra.packaging.install import target_of

COMMIT = "5eea035"
"""The newest commit of the release before. When a release is made, it becomes this one, with `tests/fixtures`."""
BUILT = ROOT / "build" / "previous"
_DEFINITION = (
    "import json; from infra.engine.workflow import definition; from infra.environments import LOCAL;"
    "print(json.dumps(definition(LOCAL)))"
)


class NoHistory(RuntimeError):
    """The release before cannot be had; the message says what to do."""


@cache
def sources() -> Path:
    """The folder with its sources. Raises NoHistory."""
    target = BUILT / COMMIT
    if target.is_dir():
        return target
    made = subprocess.run(
        ["git", "-C", str(ROOT), "archive", "--format=tar", COMMIT], capture_output=True, check=False
    )
    if made.returncode != 0:
        raise NoHistory(
            f"the history here has no commit {COMMIT}, the release before: `git fetch --unshallow` brings it"
        )
    BUILT.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=".", dir=BUILT))
    with tarfile.open(fileobj=io.BytesIO(made.stdout)) as archive:
        archive.extractall(draft, filter="data")
    try:
        draft.rename(target)
    except OSError:  # another process was first
        shutil.rmtree(draft, ignore_errors=True)
    return target


def run(program: str, given: str = "") -> str:
    """What a Python program says that is run with its modules. `given`: the standard input. Raises NoHistory."""
    environ = {**os.environ, "PYTHONPATH": str(sources())}
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, cwd=sources(), env=environ
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def state_machine() -> dict[str, Any]:
    """Its definition, as the local stack has it; ARNs are placeholders."""
    read: dict[str, Any] = json.loads(run(_DEFINITION))
    return read


@cache
def zip_of(function: str) -> bytes:
    """The function's zip, from its sources and its locks. Raises NoHistory, InstallFailed."""
    return zipped(Bundler(target_of(LOCAL), root=sources(), offline=True).build(function))


@cache
def todays_zip_of(function: str) -> bytes:
    return zipped(Bundler(target_of(LOCAL), offline=True).build(function))


def zipped(folder: Path) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return made.getvalue()

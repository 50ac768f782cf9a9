"""A release after this one, made from these sources: its schema version is higher, and its head has a field more.

The field's value is drawn at random by whoever reads a head without it. So a session's commits have one value as long
as every worker keeps what it does not know.
"""

import ast
import io
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from acta.engine.store.schema import CURRENT
from acta.infra.environments import LOCAL
from acta.infra.packaging.bundle import ROOT, Bundler
from acta.infra.packaging.install import target_of

FIELD = "drawn_by_next"
VERSIONS = Path("acta/engine/store/schema.py")
HEAD = Path("acta/engine/log/head.py")
DRAWN = f'    {FIELD}: str = Field(default_factory=lambda: __import__("secrets").token_hex(8))\n'
ADDS_IT = f"""

ADDED = MappingProxyType({{**ADDED, {CURRENT + 1}: {{"Head": frozenset({{"{FIELD}"}})}}}})
"""


def changed_files(ahead: int = 1) -> Mapping[Path, bytes]:
    """Path -> the text of each file that differs. `ahead`: how many versions that release is after this one; -1: it is
    one that does not read this one's next version.
    """
    if ahead == -1:
        source, reads = (ROOT / VERSIONS).read_text(), "\nNEXT = CURRENT + 1\n"
        assert source.count(reads) == 1
        return {VERSIONS: source.replace(reads, "\nNEXT = CURRENT\n").encode()}
    versions, ours = (ROOT / VERSIONS).read_text(), f"\nCURRENT = {CURRENT}\n"
    assert versions.count(ours) == 1
    versions = versions.replace(ours, f"\nCURRENT = {CURRENT + ahead}\n") + ADDS_IT
    return {VERSIONS: versions.encode(), HEAD: _with_field((ROOT / HEAD).read_text()).encode()}


def _with_field(source: str) -> str:
    (head,) = (
        each for each in ast.parse(source).body if isinstance(each, ast.ClassDef) and each.name == "Head"
    )
    lines = source.splitlines(keepends=True)
    after_docstring = head.body[0].end_lineno
    assert after_docstring is not None
    return "".join([*lines[:after_docstring], DRAWN, *lines[after_docstring:]])


def run(folder: Path, program: str, given: str) -> str:
    """What a Python program says that is run with that release's engine. `folder`: where its sources are put.
    `given`: the standard input.
    """
    shutil.copytree(ROOT / "acta", folder / "acta", ignore=shutil.ignore_patterns("__pycache__"))
    for path, text in changed_files().items():
        (folder / path).write_bytes(text)
    environ = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=given,
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env=environ,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def zip_of(function: str, ahead: int) -> bytes:
    """The function's zip. `ahead`: as in `changed_files`; 0: this release's. Raises InstallFailed."""
    added = changed_files(ahead) if ahead else {}
    return _zipped(Bundler(target_of(LOCAL), offline=True, added=added).build(function))


def _zipped(folder: Path) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(folder).as_posix())
    return made.getvalue()

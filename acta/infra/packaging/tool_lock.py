"""The lock of a folder of Python tools: `requirements.lock` has the versions and hashes of the libraries that
`requirements.txt` asks for, and of all that these need. `acta lock` writes it; a folder is not built without it.
"""

import hashlib
import re
import tempfile
from pathlib import Path

from acta.infra.packaging.bundle import LOCK_FOLDER, ROOT
from acta.infra.packaging.install import WHEELS_ALONE, InstallFailed, run_uv
from acta.infra.tool_folders import LOCK, REQUIREMENTS, BadFolder, ToolFolder

OWN_LOCK = LOCK_FOLDER / "tools.txt"
"""Acta's own libraries, which each bundle of tools has."""
LEAST_PYTHON = "3.11"
LINE = re.compile(
    r"#.*|[A-Za-z0-9][A-Za-z0-9._-]*==[^\s;/]+( ; [^/]+)?( \\)?| +--hash=sha256:[0-9a-f]{64}( \\)?"
)
"""What a lock consists of: a line with anything else could name an address, or a folder to build."""


def locked(folder: ToolFolder, root: Path = ROOT) -> Path | None:
    """The folder's lock; None: it asks for no libraries. Raises BadFolder if the lock is missing or out of date."""
    if not folder.requirements:
        return None
    command = f"Run: acta lock {folder.name} --dir {folder.path.parent}"
    if not folder.lock.is_file():
        raise BadFolder(
            f"{folder.path / REQUIREMENTS}: it asks for libraries, and there is no {LOCK} that says which versions "
            f"and hashes they have. {command}"
        )
    lines = folder.lock.read_text(encoding="utf-8").splitlines()
    if lines[:1] != [_head(folder, root)]:
        raise BadFolder(
            f"{folder.lock}: it was made from another {REQUIREMENTS}, or for other versions of Acta's own libraries. "
            f"{command}"
        )
    strange = next((line for line in lines if not LINE.fullmatch(line)), None)
    if strange is not None:
        raise BadFolder(f"{folder.lock}: {strange!r} is no version and no hash. {command}")
    return folder.lock


def make_lock(folder: ToolFolder, *, upgrade: bool = False, root: Path = ROOT) -> None:
    """Writes the lock. `upgrade`: with the newest versions that `requirements.txt` allows; else the lock's own stay.

    Raises BadFolder.
    """
    with tempfile.TemporaryDirectory() as scratch:
        wanted, pins, draft = (Path(scratch) / name for name in (REQUIREMENTS, "constraints.txt", LOCK))
        wanted.write_text("\n".join(folder.requirements), encoding="utf-8")
        pins.write_text("\n".join(_own_versions(root)), encoding="utf-8")
        if folder.lock.is_file() and not upgrade:
            draft.write_bytes(folder.lock.read_bytes())
        try:
            run_uv(
                "compile", str(wanted), "--output-file", str(draft), "--constraints", str(pins),
                "--universal", "--python-version", LEAST_PYTHON, *WHEELS_ALONE, "--generate-hashes",
                "--no-emit-index-url", "--no-emit-find-links", "--no-header", "--no-annotate",
            )  # fmt: skip
        except InstallFailed as failed:
            raise BadFolder(f"{folder.path / REQUIREMENTS}: {failed}") from None
        folder.lock.write_text(
            f"{_head(folder, root)}\n{draft.read_text(encoding='utf-8')}", encoding="utf-8"
        )


def _head(folder: ToolFolder, root: Path) -> str:
    made_from = "\n".join((*folder.requirements, "", *_own_versions(root)))
    digest = hashlib.sha256(made_from.encode()).hexdigest()[:32]
    return f"# Made by `acta lock` from {REQUIREMENTS} and the versions of Acta's own libraries: {digest}"


def _own_versions(root: Path) -> list[str]:
    lines = (root / OWN_LOCK).read_text(encoding="utf-8").splitlines()
    return [line.split(" ")[0] for line in lines if "==" in line]

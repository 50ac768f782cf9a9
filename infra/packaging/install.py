"""Installs the wheels of a lock into a folder, with `uv`."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


class InstallFailed(RuntimeError):
    """`uv` is missing or failed; the message ends with its error output."""


@dataclass(frozen=True)
class Target:
    """Where the wheels will run. `python`: major and minor version; `platform`: a name that `uv` knows, None for this
    machine."""

    python: tuple[int, int]
    platform: str | None = None


def install(lock: Path, folder: Path, target: Target) -> None:
    """Installs exactly the wheels of `lock`. Hashes are checked, nothing is built from source. Raises InstallFailed.

    Dependencies are not followed: the lock lists all of them but those of the Lambda runtime (boto3).
    """
    command = [
        str(_uv()), "pip", "install", "--quiet", "--no-config",
        "--requirements", str(lock), "--require-hashes", "--no-deps", "--only-binary", ":all:",
        "--target", str(folder), "--link-mode", "copy",
        "--python", sys.executable, "--python-version", ".".join(map(str, target.python)),
    ]  # fmt: skip
    if target.platform is not None:
        command += ["--python-platform", target.platform]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InstallFailed(f"installing {lock.name} failed: {done.stderr.strip()}")


def _uv() -> Path:
    """The `uv` of this Python environment, else the one on PATH."""
    beside = Path(sys.executable).parent / "uv"
    if beside.exists():
        return beside
    found = shutil.which("uv")
    if found is None:
        raise InstallFailed("uv is not installed in this environment and not on PATH")
    return Path(found)

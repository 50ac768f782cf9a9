"""Installing a lock's wheels into a folder, with `uv`."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


class InstallFailed(RuntimeError):
    """`uv` is missing or refused; the message ends with what it said."""


@dataclass(frozen=True)
class Target:
    """Where the wheels will run: (major, minor) of Python, and `uv`'s platform name, None for this machine."""

    python: tuple[int, int]
    platform: str | None = None


def install(lock: Path, folder: Path, target: Target) -> None:
    """Puts exactly the wheels of `lock` into `folder`; hashes are checked, nothing is built from source.

    Dependencies are not followed: the lock is the whole closure, less what the Lambda runtime brings (boto3).
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
    """The one of this environment, else the one on PATH."""
    beside = Path(sys.executable).parent / "uv"
    if beside.exists():
        return beside
    found = shutil.which("uv")
    if found is None:
        raise InstallFailed("uv is not installed in this environment and not on PATH")
    return Path(found)

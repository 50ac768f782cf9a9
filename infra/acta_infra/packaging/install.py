"""Installs the wheels of a lock into a folder, with `uv`."""

import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from acta_infra.environments import Environment

PLATFORMS = {"arm64": "aarch64-manylinux_2_28", "x86_64": "x86_64-manylinux_2_28"}
"""Architecture -> wheels that Amazon Linux 2023, the system of Lambda's current runtimes, can load."""


class InstallFailed(RuntimeError):
    """`uv` is missing or failed; the message ends with its error output."""


@dataclass(frozen=True)
class Target:
    """Where the wheels will run. `python`: major and minor version; `platform`: a name that `uv` knows, None for this
    machine."""

    python: tuple[int, int]
    platform: str | None = None


def target_of(environment: Environment) -> Target:
    """The platform that the functions of `environment` run on. Local functions run on this machine."""
    platform = None if environment.is_local else PLATFORMS[environment.architecture]
    return Target(environment.python, platform)


def install(lock: Path, folder: Path, target: Target) -> None:
    """Installs exactly the wheels of `lock`. Hashes are checked, nothing is built from source. Raises InstallFailed.

    Dependencies are not followed: the lock lists all of them but those of the Lambda runtime (boto3).
    """
    _install(lock, folder, target, "--no-config", "--require-hashes", "--no-deps")


def install_open(requirements: Path, lock: Path, folder: Path, target: Target) -> None:
    """Installs what a person's `requirements` ask for, and what that needs. `lock`: what is there already; its versions
    hold. Nothing is built from source. Raises InstallFailed.
    """
    with tempfile.TemporaryDirectory() as scratch:
        pins = Path(scratch) / "constraints.txt"
        lines = [line.split(" ")[0] for line in lock.read_text().splitlines() if "==" in line]
        pins.write_text("\n".join(lines))
        _install(requirements, folder, target, "--constraints", str(pins))


def _install(requirements: Path, folder: Path, target: Target, *options: str) -> None:
    command = [
        str(_uv()), "pip", "install", "--quiet", "--requirements", str(requirements), *options,
        "--only-binary", ":all:", "--target", str(folder), "--link-mode", "copy",
        "--python", sys.executable, "--python-version", ".".join(map(str, target.python)),
    ]  # fmt: skip
    if target.platform is not None:
        command += ["--python-platform", target.platform]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InstallFailed(f"installing {requirements.name} failed: {done.stderr.strip()}")


def _uv() -> Path:
    """The `uv` of this Python environment, else the one on PATH."""
    beside = Path(sys.executable).parent / "uv"
    if beside.exists():
        return beside
    found = shutil.which("uv")
    if found is None:
        raise InstallFailed("uv is not installed in this environment and not on PATH")
    return Path(found)

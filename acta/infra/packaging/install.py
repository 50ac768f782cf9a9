"""Installs the wheels of a lock into a folder, with `uv`, and makes the install small and reproducible: what a running
Lambda never reads is removed, and all files get the same time.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from acta.infra.environments import Environment
from acta.infra.toolchain import SetupFailed, uv

PLATFORMS = {"arm64": "aarch64-manylinux_2_28", "x86_64": "x86_64-manylinux_2_28"}
"""Architecture -> wheels that Amazon Linux 2023, the system of Lambda's current runtimes, can load."""


class InstallFailed(RuntimeError):
    """`uv` is missing or failed; the message ends with its error output."""


@dataclass(frozen=True)
class InstallTarget:
    """Where the wheels will run. `python`: major and minor version; `platform`: a name that `uv` knows, None for this
    machine."""

    python: tuple[int, int]
    platform: str | None = None


def target_of(environment: Environment) -> InstallTarget:
    """The platform that the functions of `environment` run on. Local functions run on this machine."""
    platform = None if environment.is_local else PLATFORMS[environment.architecture]
    return InstallTarget(environment.python, platform)


WHEELS_ALONE = ("--only-binary", ":all:")
"""Nothing is built from source, so no code of a package runs while it is installed."""
KEPT_VARIABLES = ("PATH", "HOME", "LANG", "TMPDIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "ALL_PROXY")
KEPT_PREFIXES = ("UV_", "SSL_CERT_", "XDG_")
"""What `uv` gets of the variables of this process: where things are and how to reach the registry, and no keys of AWS
or of models."""


def install(lock: Path, folder: Path, target: InstallTarget, *, config: bool = False) -> None:
    """Installs exactly the wheels of `lock`. Hashes are checked, nothing is built from source. `config`: the registry
    may be the one that a configuration file of uv names. Raises InstallFailed.

    Dependencies are not followed: the lock lists all of them except those that the Lambda runtime has (boto3).
    """
    platform = () if target.platform is None else ("--python-platform", target.platform)
    run_uv(
        "install", "--requirements", str(lock), "--require-hashes", "--no-deps", *WHEELS_ALONE,
        "--target", str(folder), "--link-mode", "copy", "--python", sys.executable,
        "--python-version", ".".join(map(str, target.python)), *platform, *(() if config else ("--no-config",)),
    )  # fmt: skip


def run_uv(what: str, *options: str) -> None:
    """Runs `uv pip WHAT` in a small environment. Raises InstallFailed."""
    try:
        program = uv()
    except SetupFailed as failed:
        raise InstallFailed(str(failed)) from None
    command = [program, "pip", what, "--quiet", *options]
    done = subprocess.run(command, env=kept_of(os.environ), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise InstallFailed(f"uv pip {what} failed: {done.stderr.strip()}")


def kept_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that `uv` gets of these."""
    return {
        name: value
        for name, value in environ.items()
        if name.upper() in KEPT_VARIABLES or name.startswith(KEPT_PREFIXES)
    }


EPOCH = 315_532_800
"""1980-01-01T00:00:00Z, the oldest time a zip can hold."""

PROVIDED = ("boto3", "botocore", "s3transfer", "jmespath")
"""The Lambda runtime provides these. A second copy would make the zip larger and the cold start slower."""

UNUSED_FOLDERS = ("tests", "test", "__pycache__")
UNUSED_SUFFIXES = (".pyi", ".pyx", ".pxd", ".c", ".h")
UNUSED_FILES = ("py.typed", ".lock")


LEFT_OUT: Mapping[str, Sequence[str]] = {
    "the gateway finds the route (docs/decisions/0034)": ("aws_lambda_powertools/event_handler",),
    "Acta uses its logs and its metrics": [
        f"aws_lambda_powertools/utilities/{name}"
        for name in (
            "auth_alpha", "batch", "circuit_breaker", "data_classes", "data_masking", "feature_flags", "idempotency",
            "kafka", "metadata", "parameters", "parser", "streaming", "validation",
        )
    ],
    "a time zone is read from its own file": [
        f"tzdata/zoneinfo/{name}"
        for name in ("tzdata.zi", "zone.tab", "zone1970.tab", "zonenow.tab", "iso3166.tab")
    ],
    "metrics go to CloudWatch": ("aws_lambda_powertools/metrics/provider/datadog",),
    "for type checkers, and for models of the previous major version": ("pydantic/mypy.py", "pydantic/v1"),
    "Acta calls Responses, Chat Completions and the list of models. The SDK loads each API when it is called": [
        f"openai/{kind}/{name}" for kind in ("resources", "types") for name in ("admin", "beta", "live", "realtime")
    ],
}  # fmt: skip
"""Why paths inside the install are useless to Acta -> those paths. A test calls what is left, from the zip."""

KEPT_METADATA = ("METADATA", "entry_points.txt")
"""httpx2 reads its version from METADATA. OpenTelemetry finds its context by an entry point."""


def prune(folder: Path) -> None:
    """Removes from the install in `folder` what is not needed to run it."""
    for name in ("bin", *PROVIDED):
        shutil.rmtree(folder / name, ignore_errors=True)
    for path in sorted(folder.glob("*-stubs")):
        shutil.rmtree(path)
    for name in (name for names in LEFT_OUT.values() for name in names):
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_dir() and path.name in UNUSED_FOLDERS:
            shutil.rmtree(path)
        elif path.is_file() and (path.suffix in UNUSED_SUFFIXES or path.name in UNUSED_FILES):
            path.unlink()
    for path in sorted(folder.glob("*.dist-info")):
        _prune_metadata(path)


def prune_open(folder: Path) -> None:
    """Removes from an install of a person's own libraries what no Python process reads, and nothing else: only that
    person knows which parts of the libraries are used.
    """
    shutil.rmtree(folder / "bin", ignore_errors=True)
    for path in sorted(folder.rglob("__pycache__"), reverse=True):
        shutil.rmtree(path)
    (folder / ".lock").unlink(missing_ok=True)


def _prune_metadata(folder: Path) -> None:
    if folder.name.startswith(tuple(f"{name}-" for name in PROVIDED)):
        shutil.rmtree(folder)
        return
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name not in KEPT_METADATA:
            path.unlink()
    metadata = folder / "METADATA"
    header, _, _ = metadata.read_text(encoding="utf-8").partition("\n\n")  # the rest is the project's README
    metadata.write_text(header + "\n", encoding="utf-8")


def compile_bytecode(folder: Path, root: Path) -> None:
    """Adds bytecode to `folder` that Python loads without checking the source's time, which a deployment changes.

    Paths in tracebacks are those inside the zip: `root` becomes `/var/task`.
    """
    subprocess.run(
        [
            sys.executable, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash",
            "-s", str(root), "-p", "/var/task", str(folder),
        ],
        stdout=subprocess.DEVNULL,
        check=False,  # a library may contain a file for a newer Python, which stays uncompiled
    )  # fmt: skip


def normalise(folder: Path) -> None:
    """Sets the modes and times of every file and folder, so that they do not depend on the builder."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
        os.utime(path, (EPOCH, EPOCH))
    os.utime(folder, (EPOCH, EPOCH))

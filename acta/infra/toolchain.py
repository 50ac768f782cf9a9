"""Makes what pip cannot bring: the CDK command line, and the Python environments of the local AWS and of the Lambdas.

In a clone of the repository it makes `.venv`, too. No other module knows where all that stands.

`make setup` runs it on a bare Python before anything is installed, so it imports the standard library only: `python3
acta/infra/toolchain.py`. Every part is rebuilt when what it is made from changed (its lock file, the interpreter, the
folder). Its stamp is written last, so an interrupted run can be continued.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parent
"""The folder that `acta` is imported from: a clone, or an environment's `site-packages`."""


def is_clone(folder: Path) -> bool:
    """Whether this is the repository, in which the sources of the page stand beside the package."""
    project = folder / "pyproject.toml"
    return project.is_file() and 'name = "acta-agents"' in project.read_text(encoding="utf-8")


def made_folder(root: Path, environ: Mapping[str, str]) -> Path:
    """Where everything that is made stands: in a clone the clone itself, else a folder of this version in the user's
    cache. Source: XDG Base Directory Specification, which ignores a relative XDG_CACHE_HOME.
    """
    if is_clone(root):
        return root
    from acta import __version__

    caches = Path(environ.get("XDG_CACHE_HOME", ""))
    return (caches if caches.is_absolute() else Path.home() / ".cache") / "acta" / __version__


MADE = made_folder(ROOT, os.environ)
EMULATOR_PYTHON = MADE / ".venv-emulator" / "bin" / "python"
RUNTIME_PYTHON = MADE / ".venv-runtime" / "bin" / "python"
VENV = ROOT / ".venv"
PYTHON, UV = str(VENV / "bin" / "python"), str(VENV / "bin" / "uv")
CDK_PINNED = PACKAGE / "infra" / "packaging" / "cdk"
CDK_FOLDER = MADE / "build" / "cdk-cli"
CDK = CDK_FOLDER / "node_modules" / ".bin" / "cdk"
LOCKS = ROOT / "requirements"
"""The locks of what only a clone needs."""
PACKAGED_LOCKS = PACKAGE / "infra" / "packaging" / "locks"
EMULATOR_LOCK = PACKAGE / "local_aws" / "requirements.txt"
STAMP = ".acta-stamp"
TAIL_LINES = 15
ASKED_FOR = {"audit": "Python environment of the audit", "api": "Python environment of the API's tests"}
"""Environments that are created only when they are asked for by name."""
BROWSER = "browser"
"""The library with which tests drive a browser. It is added to .venv only on request, because it takes 53 MB."""
OLDEST_NODE = 20


class SetupFailed(Exception):
    """A command of the set-up failed, or this machine lacks something; the message is what a person reads."""


def require_node(path: str | None = None) -> str:
    """Returns the version of Node.js. `path`: where it is looked for, as in PATH. Raises SetupFailed."""
    remedy = "install it from https://nodejs.org/"
    node = shutil.which("node", path=path)
    if node is None:
        raise SetupFailed(f"Node.js {OLDEST_NODE} or newer is needed and was not found: {remedy}")
    done = subprocess.run([node, "--version"], capture_output=True, text=True, check=False)
    version = done.stdout.strip().removeprefix("v")
    major = version.partition(".")[0]
    if not major.isdigit() or int(major) < OLDEST_NODE:
        raise SetupFailed(
            f"Node.js {OLDEST_NODE} or newer is needed, this is {version or 'unknown'}: {remedy}"
        )
    return version


def require_npm(path: str | None = None) -> None:
    """Raises SetupFailed."""
    if shutil.which("npm", path=path) is None:
        raise SetupFailed("npm is needed and was not found: it comes with Node.js from https://nodejs.org/")


def fingerprint(*sources: Path) -> str:
    """A digest of what a part is made from: the sources, the interpreter and the folder."""
    digest = hashlib.sha256(f"{sys.version}\n{sys.platform}\n{MADE}\n".encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()


def run(*command: str) -> None:
    environ = {
        **os.environ,
        "UV_NO_PROGRESS": "1",
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_LINK_MODE": os.environ.get("UV_LINK_MODE", "hardlink"),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    environ.pop("VIRTUAL_ENV", None)
    index = environ.get("PIP_INDEX_URL")
    if index:
        environ.setdefault("UV_DEFAULT_INDEX", index)
    try:
        done = subprocess.run(
            command,
            cwd=MADE,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except OSError as error:
        raise SetupFailed(f"{command[0]}: {error.strerror}") from None
    if done.returncode:
        tail = (done.stdout + done.stderr).strip().splitlines()[-TAIL_LINES:]
        name = " ".join([Path(command[0]).name, *command[1:3]])
        raise SetupFailed("\n".join([f"`{name}` failed with exit code {done.returncode}:", *tail]))


def make(title: str, stamp: Path, sources: Sequence[Path], *commands: Sequence[str]) -> None:
    """Runs the commands and then writes `stamp`, unless `stamp` says that the part was made from these sources. Prints
    what is made, where, and how long it took, on standard error.
    """
    wanted = fingerprint(*sources)
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    started = time.monotonic()
    said = f"  setup  {title} ({stamp.parent.relative_to(ROOT) if MADE == ROOT else stamp.parent})"
    print(f"{said} ...", file=sys.stderr, flush=True)
    for command in commands:
        run(*command)
    stamp.write_text(wanted)
    print(f"{said}: done in {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)


def make_main_environment() -> None:
    """.venv of a clone: the command line, CDK, checks and tests, and the uv that makes the rest."""
    lock, uv_lock = LOCKS / "dev.txt", LOCKS / "uv.txt"
    make(
        "Python environment of the command line and the tests",
        VENV / STAMP,
        (lock, uv_lock, ROOT / "pyproject.toml", PACKAGE / "__init__.py"),
        (sys.executable, "-m", "venv", "--clear", str(VENV)),
        (PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(uv_lock)),
        (UV, "pip", "sync", "--quiet", "--python", PYTHON, "--require-hashes", str(lock)),
        (UV, "pip", "install", "--quiet", "--python", PYTHON, "--no-build-isolation", "--no-deps", "-e", "."),
    )


def uv() -> str:
    """The `uv` that installs everything but `.venv`. Raises SetupFailed."""
    if Path(UV).exists():
        return UV
    try:
        from uv import find_uv_bin

        return find_uv_bin()
    except (ImportError, FileNotFoundError):
        raise SetupFailed("uv is missing, which this needs: pip install 'acta-agents[deploy]'") from None


def make_side_environment(name: str, title: str, lock: Path | None = None) -> None:
    """`lock`: by default the lock file of the same name."""
    venv, lock = MADE / f".venv-{name}", lock or LOCKS / f"{name}.txt"
    python = str(venv / "bin" / "python")
    make(
        title,
        venv / STAMP,
        (lock,),
        (uv(), "venv", "--quiet", "--clear", "--python", sys.executable, str(venv)),
        (uv(), "pip", "sync", "--quiet", "--python", python, "--require-hashes", str(lock)),
    )


def add_browser_driver() -> None:
    lock = LOCKS / f"{BROWSER}.txt"
    make(
        "driver of a browser, for the tests",
        VENV / f"{STAMP}-{BROWSER}",
        (lock,),
        (UV, "pip", "install", "--quiet", "--python", PYTHON, "--require-hashes", "-r", str(lock)),
    )


NPM_CI = ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")


def make_node_packages() -> None:
    """The CDK command line; in a clone also what the page is built with."""
    CDK_FOLDER.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(CDK_PINNED / name, CDK_FOLDER / name)
    lock = CDK_FOLDER / "package-lock.json"
    make("CDK command line", CDK_FOLDER / STAMP, (lock,), (*NPM_CI, "--prefix", str(CDK_FOLDER)))
    if (ROOT / "console").is_dir() and MADE == ROOT:
        lock = ROOT / "package-lock.json"
        make("what builds the page", ROOT / "node_modules" / STAMP, (lock,), NPM_CI)


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Two set-ups of one folder wait for each other. Raises SetupFailed, also for an OSError inside."""
    try:
        (MADE / "build").mkdir(parents=True, exist_ok=True)
        if MADE != ROOT and MADE.stat().st_uid != os.geteuid():
            raise SetupFailed(
                f"{MADE} belongs to another user, whose programs would run as you: set XDG_CACHE_HOME to a folder of "
                "your own"
            )
        with (MADE / "build" / "setup.lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
    except OSError as error:
        raise SetupFailed(
            f"{MADE} cannot be written ({error.strerror}): set XDG_CACHE_HOME to another folder"
        ) from None


def make_missing(*, main_environment: bool = False) -> None:
    """Makes what is missing or out of date. `main_environment`: `.venv`, too. Raises SetupFailed."""
    require_node()
    require_npm()
    with only_one(), ThreadPoolExecutor(1) as beside:
        if not main_environment:
            uv()  # where the extra is missing, nothing is installed
        node = beside.submit(make_node_packages)
        if main_environment:
            make_main_environment()
        make_side_environment("emulator", "Python environment of the local AWS", EMULATOR_LOCK)
        runtime = PACKAGED_LOCKS / "runtime.txt"
        make_side_environment("runtime", "Python environment of the Lambdas", runtime)
        node.result()


def main() -> int:
    """With a word of `ASKED_FOR`, or `browser`, makes only that part, which few targets need."""
    try:
        if sys.argv[1:]:
            name = sys.argv[1]
            with only_one():
                add_browser_driver() if name == BROWSER else make_side_environment(name, ASKED_FOR[name])
        else:
            make_missing(main_environment=True)
    except SetupFailed as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: stopped; run it again to go on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

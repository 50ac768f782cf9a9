"""Makes what every other command needs: three virtual environments and the CDK command line.

Runs on a bare Python before anything is installed, so it imports the standard library only: `python3
acta/infra/local/toolchain.py`. Every part is rebuilt when what it is made from changed (its lock file, the
interpreter, the folder). Its stamp is written last, so an interrupted run can be continued.
"""

import contextlib
import fcntl
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
EMULATOR_PYTHON = ROOT / ".venv-emulator" / "bin" / "python"
RUNTIME_PYTHON = ROOT / ".venv-runtime" / "bin" / "python"
VENV = ROOT / ".venv"
PYTHON, UV = str(VENV / "bin" / "python"), str(VENV / "bin" / "uv")
CDK = ROOT / "node_modules" / ".bin" / "cdk"
LOCKS = ROOT / "requirements"
EMULATOR_LOCK = ROOT / "acta" / "local_aws" / "requirements.txt"
STAMP = ".acta-stamp"
TAIL_LINES = 15
ASKED_FOR = {"audit": "Python environment of the audit", "api": "Python environment of the API's tests"}
"""Environments that are created only when they are asked for by name."""
BROWSER = "browser"
"""The library with which tests drive a browser. It is added to .venv only on request, because it takes 53 MB."""


class SetupFailed(Exception):
    """A command of the set-up failed; the message is what a person reads."""


def fingerprint(*sources: Path) -> str:
    """A digest of what a part is made from: the sources, the interpreter and the folder."""
    digest = hashlib.sha256(f"{sys.version}\n{sys.platform}\n{ROOT}\n".encode())
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
            cwd=ROOT,
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
    what is made and how long it took.
    """
    wanted = fingerprint(*sources)
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    started = time.monotonic()
    print(f"  setup  {title} ...", flush=True)
    for command in commands:
        run(*command)
    stamp.write_text(wanted)
    print(f"  setup  {title}: done in {time.monotonic() - started:.0f} s", flush=True)


def make_main_environment() -> None:
    """.venv: the command line, CDK, checks and tests, and the uv that makes the rest."""
    lock, uv_lock = LOCKS / "dev.txt", LOCKS / "uv.txt"
    make(
        "Python environment of the command line and the tests (.venv)",
        VENV / STAMP,
        (lock, uv_lock, ROOT / "pyproject.toml"),
        (sys.executable, "-m", "venv", "--clear", str(VENV)),
        (PYTHON, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(uv_lock)),
        (UV, "pip", "sync", "--quiet", "--python", PYTHON, "--require-hashes", str(lock)),
        (UV, "pip", "install", "--quiet", "--python", PYTHON, "--no-build-isolation", "--no-deps", "-e", "."),
    )


def make_side_environment(name: str, title: str, lock: Path | None = None) -> None:
    """`lock`: by default the lock file of the same name."""
    venv, lock = ROOT / f".venv-{name}", lock or LOCKS / f"{name}.txt"
    python = str(venv / "bin" / "python")
    make(
        f"{title} (.venv-{name})",
        venv / STAMP,
        (lock,),
        (UV, "venv", "--quiet", "--clear", "--python", sys.executable, str(venv)),
        (UV, "pip", "sync", "--quiet", "--python", python, "--require-hashes", str(lock)),
    )


def add_browser_driver() -> None:
    lock = LOCKS / f"{BROWSER}.txt"
    make(
        "driver of a browser, for the tests (.venv)",
        VENV / f"{STAMP}-{BROWSER}",
        (lock,),
        (UV, "pip", "install", "--quiet", "--python", PYTHON, "--require-hashes", "-r", str(lock)),
    )


def make_cdk_cli() -> None:
    make(
        "CDK command line (node_modules)",
        ROOT / "node_modules" / STAMP,
        (ROOT / "package-lock.json",),
        ("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"),
    )


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Two set-ups of one folder wait for each other."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "setup.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def make_all() -> None:
    failures: list[SetupFailed] = []

    def beside() -> None:
        try:
            make_cdk_cli()
        except SetupFailed as error:
            failures.append(error)

    node = threading.Thread(target=beside)
    node.start()
    try:
        make_main_environment()
        make_side_environment("emulator", "Python environment of the local AWS", EMULATOR_LOCK)
        make_side_environment("runtime", "Python environment of the Lambdas")
    finally:
        node.join()
    if failures:
        raise failures[0]


def main() -> int:
    """With a word of `ASKED_FOR`, or `browser`, makes only that part, which few targets need."""
    try:
        with only_one():
            if sys.argv[1:] == [BROWSER]:
                add_browser_driver()
            elif sys.argv[1:]:
                name = sys.argv[1]
                make_side_environment(name, ASKED_FOR[name])
            else:
                make_all()
    except SetupFailed as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: stopped; run it again to go on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())

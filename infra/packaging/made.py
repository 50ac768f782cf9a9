"""Files of a zip that are made when it is built.

The document of the API and its page (`infra/document`) are in the zip of `fallback`, the page for people
(`infra/packaging/console_page.py`) in that of `console`. Each is made by a process of its own and kept under
`build/made` by the content of its sources.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple


class Made(NamedTuple):
    """`module`: makes the files in the folder that it is given. `sources`: patterns of all that they depend on."""

    module: str
    sources: tuple[str, ...]


MADE: Mapping[str, Made] = {
    "fallback": Made(
        "infra.document",
        (
            "functions/**/*.py",
            "shared/**/*.py",
            "infra/document/**/*.py",
            "pyproject.toml",
            "requirements/dev.txt",
        ),
    ),
    "console": Made(
        "infra.packaging.console_page",
        ("functions/console/web/**/*", "infra/packaging/console_page.py", "package-lock.json"),
    ),
}
"""By the function in whose zip the files are, as `made` beside its code."""
CACHE = Path("build") / "made"
KEPT = 4
TAIL_LINES = 15


class NotMade(RuntimeError):
    """The message ends with what the process said."""


def made_for(function: str, root: Path) -> Iterator[tuple[Path, Path]]:
    """Each file, and its place in the zip. Nothing for a function without such files. Raises NotMade."""
    if function not in MADE:
        return
    folder = _made(MADE[function], root)
    for path in sorted(folder.iterdir()):
        yield path, Path("functions") / function / "made" / path.name


def _made(made: Made, root: Path) -> Path:
    module = made.module
    done = root / CACHE / f"{module}-{_key(made, root)}"
    if not done.is_dir():
        done.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".", dir=done.parent) as scratch:
            work = Path(scratch) / "made"
            work.mkdir()
            ran = subprocess.run(
                # Compiled anew: of a source that was changed within a second, Python takes the bytecode of before.
                [sys.executable, "-X", f"pycache_prefix={scratch}/compiled", "-m", module, str(work)],
                cwd=root,
                capture_output=True,
                text=True,
                check=False,
            )
            if ran.returncode != 0:
                said = "\n".join(ran.stderr.strip().splitlines()[-TAIL_LINES:])
                raise NotMade(f"{module} failed: {said}")
            if not done.is_dir():
                work.rename(done)
        _forget_old(done.parent, f"{module}-*")
    return done


def _key(made: Made, root: Path) -> str:
    digest = hashlib.sha256(f"{made.module} {sys.version_info[:3]}".encode())
    found = [path for source in made.sources for path in sorted(root.glob(source)) if path.is_file()]
    for path in found:
        digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def _forget_old(cache: Path, pattern: str) -> None:
    made = sorted(cache.glob(pattern), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in made[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)

"""Files of a zip that are made when it is built.

The document of the API and its page (`infra/document`) are in the zip of `fallback`. They are made by a process of its
own, since it imports the functions, and kept under `build/made` by the content of all sources.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

MADE = {"fallback": ("infra.document", Path("functions") / "fallback" / "made")}
"""Function -> the module that makes its files, and where they are in the zip."""
CACHE = Path("build") / "made"
SOURCES = ("functions", "shared", "infra/document")
FILES = ("pyproject.toml", "requirements/dev.txt")
KEPT = 4
TAIL_LINES = 15


class NotMade(RuntimeError):
    """The message ends with what the process said."""


def made_for(function: str, root: Path) -> Iterator[tuple[Path, Path]]:
    """Each file, and its place in the zip. Nothing for a function without such files. Raises NotMade."""
    if function not in MADE:
        return
    module, place = MADE[function]
    folder = _made(module, root)
    for path in sorted(folder.iterdir()):
        yield path, place / path.name


def _made(module: str, root: Path) -> Path:
    done = root / CACHE / f"{module}-{_key(module, root)}"
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


def _key(module: str, root: Path) -> str:
    digest = hashlib.sha256(f"{module} {sys.version_info[:3]}".encode())
    found = [path for source in SOURCES for path in sorted((root / source).rglob("*.py"))]
    for path in (*found, *(root / name for name in FILES)):
        digest.update(f"\0{path.relative_to(root).as_posix()}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:20]


def _forget_old(cache: Path, pattern: str) -> None:
    made = sorted(cache.glob(pattern), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in made[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)

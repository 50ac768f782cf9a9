"""What goes into a Lambda's zip: its libraries for the target platform, `shared/` and its own folder.

Built without Docker by `uv`, for another platform than the builder's if need be. Everything is keyed by
content under `build/bundle`: functions with the same lock share one install, and an unchanged tree is not
built again. Two builds of one tree are the same bytes with the same times.
"""

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from infra.prune import compile_bytecode, normalise, prune
from infra.uv import Target, install

ROOT = Path(__file__).resolve().parent.parent
CACHE = Path("build") / "bundle"

RECIPE = "1"
"""Part of every key: raise it when the way bundles are made changes."""

LOCKS = {"step": "step.txt"}
"""The lock a function ships, under `requirements/`; all others share `SHARED_LOCK`. Only step has LLM SDKs."""
SHARED_LOCK = "functions.txt"


@dataclass(frozen=True)
class Bundler:
    """Builds bundles of the tree at `root` for `target`."""

    target: Target
    root: Path = ROOT

    def key(self, function: str) -> str:
        """Identifies the bundle's content: 64 hex digits, equal for equal trees."""
        digest = hashlib.sha256(self._libraries_key(function).encode())
        for path in self._sources(function):
            digest.update(f"\0{path.relative_to(self.root).as_posix()}\0".encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def build(self, function: str) -> Path:
        """The folder that becomes `function`'s zip. Treat it as read-only: it is the cache itself."""
        done = self._cache(f"{function}-{self.key(function)[:20]}")
        if not done.exists():
            libraries = self.libraries(function)
            with _fresh(done) as work:
                copy_tree(libraries, work)
                for source in self._sources(function):
                    copy = work / source.relative_to(self.root)
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(source, copy)
                self._finish(work, (work / "shared", work / "functions"))
        return done

    def libraries(self, function: str) -> Path:
        """The pruned install of `function`'s lock."""
        done = self._cache(f"libraries-{self._libraries_key(function)[:20]}")
        if not done.exists():
            with _fresh(done) as work:
                install(self._lock(function), work, self.target)
                prune(work)
                self._finish(work, (work,))
        return done

    def _finish(self, work: Path, compiled: tuple[Path, ...]) -> None:
        if self.target.python == sys.version_info[:2]:
            for folder in compiled:
                compile_bytecode(folder, work)
        normalise(work)

    def _lock(self, function: str) -> Path:
        return self.root / "requirements" / LOCKS.get(function, SHARED_LOCK)

    def _libraries_key(self, function: str) -> str:
        builder = ".".join(map(str, sys.version_info[:3]))
        digest = hashlib.sha256(f"{RECIPE} {self.target} {builder}".encode())
        digest.update(self._lock(function).read_bytes())
        return digest.hexdigest()

    def _sources(self, function: str) -> Iterator[Path]:
        yield self.root / "functions" / "__init__.py"
        for folder in (self.root / "functions" / function, self.root / "shared"):
            yield from sorted(
                path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
            )

    def _cache(self, name: str) -> Path:
        return self.root / CACHE / name


class _fresh:
    """A new folder that takes its final name only when it is complete; two builders at once do no harm."""

    def __init__(self, final: Path) -> None:
        self._final = final

    def __enter__(self) -> Path:
        self._final.parent.mkdir(parents=True, exist_ok=True)
        self._work = Path(tempfile.mkdtemp(prefix=".", dir=self._final.parent))
        return self._work

    def __exit__(self, failed: object, *_: object) -> None:
        if failed is None:
            try:
                self._work.chmod(0o755)
                self._work.rename(self._final)
                return
            except OSError:
                if not self._final.exists():
                    raise
        shutil.rmtree(self._work, ignore_errors=True)


def copy_tree(source: Path, target: Path) -> None:
    """Into an existing folder, by hard links where the disk can: six functions share one install."""
    shutil.copytree(source, target, copy_function=_link, dirs_exist_ok=True)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)

"""Builds a function's bundle, the folder that becomes its zip: its code, what it imports of the engine, its libraries.

`uv` installs the libraries without Docker, also for a platform that is not the builder's. Bundles and installs are
cached under `build/bundle` by their content: functions with the same lock share one install, and an unchanged tree is
not built again. Two builds of the same tree give the same bytes and file times.

Some files of a zip are made when it is built: the document of the API and its page (`acta/infra/document`) for
`fallback`, the page for people (`acta/infra/packaging/console_page.py`) for `console`. A separate process makes
each of them, and they are kept under `build/made` by the content of their sources. An installed wheel brings the page
and not its sources.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from acta.infra.packaging.install import InstallTarget, compile_bytecode, install, normalise, prune
from acta.infra.packaging.zip_contents import Reach, reach
from acta.infra.toolchain import MADE
from acta.infra.toolchain import ROOT as ROOT

KEPT = 6
"""How many bundles of one function stay in the cache."""

RECIPE = "5"
"""Part of every key. Raise it when the way bundles are built changes."""

LOCKS = {"step": "step.txt", "traces": "traces.txt"}
"""Function -> its lock in `LOCK_FOLDER`; all others share `SHARED_LOCK`. Only `step` has the providers' SDKs, and
only `traces` OpenTelemetry's wire format."""
SHARED_LOCK = "functions.txt"
LOCK_FOLDER = Path("acta") / "infra" / "packaging" / "locks"

OPTIONAL = {
    "jsonschema": ("attr", "attrs", "jsonschema", "jsonschema_specifications", "referencing", "rpds"),
    "re2": ("re2", "google_re2"),
    "cronsim": ("cronsim",),
    "tzdata": ("tzdata",),
}
"""A library -> its folders and its dependencies' folders. Zips of functions that do not import it leave them out."""

MADE_FILES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "fallback": (
        "acta.infra.document",
        (
            "acta/functions/**/*.py",
            "acta/engine/**/*.py",
            "acta/infra/document/*.*",
            "acta/__init__.py",
        ),
    ),
    "console": (
        "acta.infra.packaging.console_page",
        ("console/**/*", "acta/infra/packaging/console_page.py", "package-lock.json"),
    ),
}
"""Function -> the module that makes files for it in a given folder, and patterns of all sources that the files depend
on. In the zip they are in the folder `made` next to the function's code."""
KEPT_MADE = 4
TAIL_LINES = 15

OFFLINE = "acta.engine.models.offline"
"""The rule-based stand-in for a model. The zips contain it only in environments where agents may choose it."""


class NotMade(RuntimeError):
    """The message ends with what the process said."""


@dataclass(frozen=True)
class Bundler:
    """Builds bundles of the tree at `root` for `target`. `offline`: with the rule-based stand-in for a model. `added`:
    path in the zip -> content of a further file.
    """

    target: InstallTarget
    root: Path = ROOT
    offline: bool = False
    added: Mapping[Path, bytes] = field(default_factory=dict)

    def key(self, function: str) -> str:
        """64 hex digits that identify the bundle's content: equal trees have equal keys."""
        digest = hashlib.sha256(self._libraries_key(function).encode())
        for path in self._reach(function).files:
            add_to(digest, path.relative_to(self.root), path.read_bytes())
        for path, place in made_for(function, self.root):
            add_to(digest, place, path.read_bytes())
        for place, text in sorted(self.added.items()):
            add_to(digest, place, text)
        return digest.hexdigest()

    def build(self, function: str) -> Path:
        """Returns the folder that becomes the zip of `function`. It is the cache itself: do not write to it.

        Raises InstallFailed where the libraries cannot be installed, NotMade where its own files cannot be made.
        """

        def fill(work: Path) -> None:
            needed = self._reach(function)
            copy_tree(self.libraries(function), work, without=_unreached(needed))
            for source in needed.files:
                copy = work / source.relative_to(self.root)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, copy)
            for source, place in made_for(function, self.root):
                (work / place.parent).mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, work / place)
            for place, text in self.added.items():
                (work / place).write_bytes(text)
            self._finish(work, (work / "acta",))

        return cached(self._cache(f"{function}-{self.key(function)[:20]}"), f"{function}-*", fill)

    def libraries(self, function: str) -> Path:
        """Returns the folder with the pruned install of the function's lock. Raises InstallFailed."""

        def fill(work: Path) -> None:
            install(self._lock(function), work, self.target)
            prune(work)
            self._finish(work, (work,))

        done = self._cache(f"libraries-{self._libraries_key(function)[:20]}")
        return cached(done, "libraries-*", fill)

    def _finish(self, work: Path, compiled: tuple[Path, ...]) -> None:
        if self.target.python == sys.version_info[:2]:
            for folder in compiled:
                compile_bytecode(folder, work)
        normalise(work)

    def _lock(self, function: str) -> Path:
        return self.root / LOCK_FOLDER / LOCKS.get(function, SHARED_LOCK)

    def _libraries_key(self, function: str) -> str:
        builder = ".".join(map(str, sys.version_info[:3]))
        digest = hashlib.sha256(f"{RECIPE} {self.target} {builder}".encode())
        digest.update(self._lock(function).read_bytes())
        return digest.hexdigest()

    def _reach(self, function: str) -> Reach:
        return reach(self.root, f"acta.functions.{function}", without=() if self.offline else (OFFLINE,))

    def _cache(self, name: str) -> Path:
        return built_folder(self.root) / name


def built_folder(root: Path) -> Path:
    """Where what is built from the tree at `root` is kept: another tree than Acta's own keeps it itself."""
    return (MADE if root == ROOT else root) / "build" / "bundle"


def add_to(digest: Any, place: Path, content: bytes) -> None:
    """Adds one file and its path to `digest`, an object of hashlib."""
    digest.update(f"\0{place.as_posix()}\0".encode())
    digest.update(content)


def made_for(function: str, root: Path) -> Iterator[tuple[Path, Path]]:
    """Each file that is made for the function, and its place in the zip. Raises NotMade."""
    if function not in MADE_FILES:
        return
    module, sources = MADE_FILES[function]
    place = Path("acta") / "functions" / function / "made"
    if (root / place).is_dir():
        yield from ((path, path.relative_to(root)) for path in sorted((root / place).iterdir()))
        return
    if not (root / sources[0].partition("/")[0]).is_dir():  # pip has built this from a clone by itself
        raise NotMade(
            "this installation has no page for people: install the wheel or the sdist of `make dist`"
        )
    digest = hashlib.sha256(f"{module} {sys.version_info[:3]} {version('pydantic')}".encode())
    for path in (path for source in sources for path in sorted(root.glob(source)) if path.is_file()):
        add_to(digest, path.relative_to(root), path.read_bytes())

    def fill(work: Path) -> None:
        with tempfile.TemporaryDirectory() as compiled:
            ran = subprocess.run(
                # With an empty bytecode cache: Python may take old bytecode for a source that changed within a second.
                [sys.executable, "-X", f"pycache_prefix={compiled}", "-m", module, str(work)],
                cwd=root,
                # The modules are those of this tree, even if another tree is installed.
                env={**os.environ, "PYTHONPATH": str(root)},
                capture_output=True,
                text=True,
                check=False,
            )
        if ran.returncode != 0:
            said = "\n".join(ran.stderr.strip().splitlines()[-TAIL_LINES:])
            raise NotMade(f"{module} failed: {said}")

    done = built_folder(root).with_name("made") / f"{module}-{digest.hexdigest()[:20]}"
    for path in sorted(cached(done, f"{module}-*", fill, most=KEPT_MADE).iterdir()):
        yield path, place / path.name


def cached(
    final: Path, alike: str, fill: Callable[[Path], None], *, used_seconds: float = 0, most: int = KEPT
) -> Path:
    """The folder `final`. If it does not exist, `fill` makes it under another name, and it is renamed when it is
    complete: two processes may build the same folder at the same time.

    Of the folders that match `alike`, those `most` stay that were made or found last, by ctime, because their
    modification times are all the same. `used_seconds`: folders stay that were made or found within that time, since
    another process may be about to read them.
    """
    if final.exists():
        with suppress(OSError):  # a folder that cannot be written to is not tidied up either
            final.chmod(final.stat().st_mode)
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".", dir=final.parent))
    try:
        fill(work)
        work.chmod(0o755)
        try:
            work.rename(final)
        except OSError:
            if not final.exists():
                raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    latest = time.time() - used_seconds
    made = sorted(final.parent.glob(alike), key=lambda path: path.stat().st_ctime, reverse=True)
    for old in (path for path in made[most:] if path.stat().st_ctime < latest):
        shutil.rmtree(old, ignore_errors=True)
    return final


def _unreached(needed: Reach) -> tuple[str, ...]:
    """Patterns for the folders of optional libraries that nothing imports, and for their metadata."""
    names = [name for library, names in OPTIONAL.items() if library not in needed.libraries for name in names]
    return tuple(pattern for name in names for pattern in (name, f"{name}-*.dist-info"))


def copy_tree(source: Path, target: Path, without: tuple[str, ...] = ()) -> None:
    """Copies into an existing folder, by hard links if the disk has them, since functions share one install.

    `without`: patterns of names at the top of `source` that are left out.
    """

    def left_out(folder: str, names: list[str]) -> set[str]:
        return set(shutil.ignore_patterns(*without)(folder, names)) if Path(folder) == source else set()

    shutil.copytree(source, target, copy_function=_link, dirs_exist_ok=True, ignore=left_out)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)

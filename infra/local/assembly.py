"""The synthesised app, stored under a digest of its sources: synth runs once for each change."""

import hashlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.local.cdk import Commands
from infra.local.toolchain import ROOT

CACHE = ROOT / "build" / "cdk"
SOURCES = ("infra", "functions", "shared", "acta/tools", "requirements")
FILES = ("cdk.json", "package-lock.json")
NOT_SOURCE = ("infra/local",)
KEPT = 4


@dataclass(frozen=True)
class Assembly:
    """`key`: digest of the sources; `folder`: where the cloud assembly is or will be."""

    key: str
    folder: Path
    context: Mapping[str, str]

    @classmethod
    def of_sources(
        cls, context: Mapping[str, str], root: Path = ROOT, cache: Path = CACHE, environment: str = ""
    ) -> "Assembly":
        """`environment`: all that is known of it, as text, where it does not stand in the sources alone."""
        digest = hashlib.sha256(
            f"{sys.version_info[:2]} {sys.platform} {sorted(context.items())}{environment}\n".encode()
        )
        for path in source_files(root):
            digest.update(f"{path.relative_to(root).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        key = digest.hexdigest()[:20]
        return cls(key=key, folder=cache / key, context=context)

    @property
    def is_synthesised(self) -> bool:
        return (self.folder / "manifest.json").is_file()

    def synthesise(self, commands: Commands) -> None:
        """Write into a folder of its own first: a stop half-way or a second synth leaves no broken assembly."""
        if self.is_synthesised:
            os.utime(self.folder)
            return
        draft = self.folder.with_name(f"{self.key}.{os.getpid()}")
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        context = {"env": "local", **self.context}
        options = [part for key, value in context.items() for part in ("-c", f"{key}={value}")]
        try:
            commands.cdk("synth", "--all", "--quiet", "--output", str(draft), *options, cwd=ROOT)
            try:
                draft.rename(self.folder)
            except OSError:
                if not self.is_synthesised:
                    raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        forget_old(self.folder.parent)


def source_files(root: Path) -> Iterator[Path]:
    skipped = [root / name for name in NOT_SOURCE]
    for source in SOURCES:
        for path in sorted((root / source).rglob("*")):
            if (
                path.is_file()
                and "__pycache__" not in path.parts
                and not any(path.is_relative_to(s) for s in skipped)
            ):
                yield path
    for name in FILES:
        if (root / name).is_file():
            yield root / name


def forget_old(cache: Path) -> None:
    folders = [
        path for path in cache.iterdir() if (path / "manifest.json").is_file() and "." not in path.name
    ]
    for old in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)

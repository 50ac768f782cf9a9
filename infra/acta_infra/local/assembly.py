"""The synthesised app, stored under a digest of its sources: synth runs once for each change."""

import hashlib
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from acta_infra.local.cdk import Commands
from acta_infra.local.toolchain import ROOT
from acta_infra.rollout.release import digest_of_sources

CACHE = ROOT / "build" / "cdk"
SOURCES = (
    "infra", "functions", "console", "shared", "acta/tools", "requirements", "cdk.json", "package-lock.json",
)  # fmt: skip
NOT_SOURCE = ("infra/acta_infra/local",)
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
        here = f"{sys.version_info[:2]} {sys.platform} {sorted(context.items())}{environment}"
        made_from = f"{here}\n{digest_of_sources(root, SOURCES, NOT_SOURCE)}"
        key = hashlib.sha256(made_from.encode()).hexdigest()[:20]
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


def forget_old(cache: Path) -> None:
    folders = [
        path for path in cache.iterdir() if (path / "manifest.json").is_file() and "." not in path.name
    ]
    for old in sorted(folders, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(old, ignore_errors=True)

"""The wheel as its users have it: built by `make dist`, installed into fresh environments, used in empty folders."""

import fcntl
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from acta.infra.tool_folders import TOOLS_DIR
from acta.infra.toolchain import ROOT, UV
from tests.e2e.support.deployments import neutral_environ

WATCH = """\
import os, sys
def _noted(event, arguments):
    if event == "open" and isinstance(arguments[0], str) and os.path.abspath(arguments[0]).startswith({clone!r}):
        with open({log!r}, "a") as log:
            log.write(arguments[0] + chr(10))
sys.addaudithook(_noted)
"""
"""Runs at the start of every Python process of an environment: notes which files of the clone it opens."""


def dist(folder: Path) -> list[Path]:
    """What `make dist` builds. It goes through one folder of the clone, so that two builds wait for each other."""
    with (ROOT / "build" / "dist.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run(["make", "dist", f"DIST={folder}"], cwd=ROOT, check=True, capture_output=True)
    return sorted(folder.glob("acta_agents-*"))


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the sdist."""
    wheel, sdist = dist(tmp_path_factory.mktemp("dist"))
    return wheel, sdist


class Installed(NamedTuple):
    """An environment with Acta, and an empty home and folder. `opened`: the files of the clone that were opened."""

    folder: Path

    @property
    def work(self) -> Path:
        return self.folder / "work"

    @property
    def opened(self) -> list[str]:
        log = self.folder / "opened.log"
        return log.read_text().splitlines() if log.exists() else []

    @property
    def environ(self) -> dict[str, str]:
        home = {"HOME": str(self.folder / "home"), "XDG_CACHE_HOME": str(self.folder / "cache")}
        path = os.pathsep.join((str(self.folder / "venv" / "bin"), os.environ["PATH"]))
        left_out = ("PYTHONPATH", TOOLS_DIR)
        kept = {name: value for name, value in neutral_environ().items() if name not in left_out}
        return {**kept, **home, "PATH": path}

    def run(self, program: str, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        """Runs a program of the environment in the empty folder."""
        return subprocess.run(
            [str(self.folder / "venv" / "bin" / program), *words],
            cwd=self.work,
            env={**self.environ, **more},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def python(self, code: str) -> "subprocess.CompletedProcess[str]":
        return self.run("python", "-c", code)


Install = Callable[..., Installed]


@pytest.fixture
def install(built: tuple[Path, Path], tmp_path: Path) -> Install:
    """Makes an environment with the wheel, with an extra where one is named, and further packages."""

    def make(extra: str = "", *packages: str) -> Installed:
        made = Installed(tmp_path)
        for name in ("work", "home"):
            (tmp_path / name).mkdir()
        python = str(tmp_path / "venv" / "bin" / "python")
        wheel = f"acta-agents{f'[{extra}]' if extra else ''} @ {built[0].as_uri()}"
        for command in (
            (UV, "venv", "--quiet", str(tmp_path / "venv")),
            (UV, "pip", "install", "--quiet", "--python", python, wheel, *packages),
        ):
            subprocess.run(command, check=True, capture_output=True)
        (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
        (site / "watch.pth").write_text("import watch_opened\n")
        watch = WATCH.format(clone=f"{ROOT}{os.sep}", log=str(tmp_path / "opened.log"))
        (site / "watch_opened.py").write_text(watch)
        return made

    return make

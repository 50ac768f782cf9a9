"""`acta up` or `acta dev` as a child process, used as a script would use it."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

from acta.infra.tool_folders import TOOLS_DIR
from tests.e2e.support.deployments import neutral_environ

PATIENCE_SECONDS = 240


class Served:
    """One state directory and, while running, the process that serves it. `program`: the command. `repository`: where
    commands are given, with the tools of that repository; None: here, with those of the tests. `environ`: further
    variables.
    """

    def __init__(
        self, state: Path, repository: Path | None = None, program: str = "up", **environ: str
    ) -> None:
        self.state = state
        self.repository = repository
        self.program = program
        self.environ = environ
        self.process: subprocess.Popen[str] | None = None
        self.ready: dict[str, Any] = {}
        self.progress = ""

    def start(self) -> None:
        """Does nothing if it runs already."""
        if self.process is not None and self.process.poll() is None:
            return
        log = self.state.with_suffix(".stderr")
        with log.open("w") as stderr:
            self.process = subprocess.Popen(
                command(self.program, "--json", "--state", str(self.state)),
                env={**environ_in(self.repository), **self.environ},
                cwd=self.repository,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        self.progress = log.read_text()
        assert line, f"acta {self.program} ended: {self.progress}"
        self.ready = json.loads(line)

    def stop(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """The exit code, and what came on standard output after the first line."""
        assert self.process is not None
        assert self.process.stdout is not None
        self.process.send_signal(number)
        rest = self.process.stdout.read()
        code = self.process.wait(PATIENCE_SECONDS)
        self.process.stdout.close()
        self.process = None
        return code, rest

    def acta(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return acta(*arguments, "--state", str(self.state), repository=self.repository)

    def get(self, path: str, token: str | None = None) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token or self.ready['token']}"}
        return httpx.get(self.ready["api_url"] + path, headers=headers, trust_env=False, timeout=60)

    def descendants(self) -> list[int]:
        """Process ids of everything below the command."""
        assert self.process is not None
        listing = subprocess.run(["ps", "-A", "-o", "pid=,ppid="], capture_output=True, text=True, check=True)
        pairs = [tuple(map(int, line.split())) for line in listing.stdout.splitlines()]
        family = [self.process.pid]
        for member in family:
            family.extend(pid for pid, parent in pairs if parent == member)
        return family[1:]


def environ_in(repository: Path | None) -> dict[str, str]:
    given = neutral_environ()
    return given if repository is None else {name: given[name] for name in given.keys() - {TOOLS_DIR}}


def acta(*arguments: str, repository: Path | None = None) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command(*arguments),
        env=environ_in(repository),
        cwd=repository,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "acta.cli.main", *arguments]


def is_alive(pid: int) -> bool:
    """A process that has ended and that nobody has waited for yet is not alive."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return found.stdout.strip() != "" and not found.stdout.strip().startswith("Z")

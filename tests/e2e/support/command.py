"""The `acta` command as a child process."""

import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.e2e.support.deployments import neutral_environ

ACTA = Path(sys.executable).with_name("acta")
STOP_SECONDS = 60


class Ended(NamedTuple):
    code: int
    out: str
    err: str


def acta(*arguments: str, environ: Mapping[str, str] | None = None, cwd: Path | None = None) -> Ended:
    """Runs a command until it ends; its standard input is empty."""
    done = subprocess.run(
        [ACTA, *arguments],
        env={**neutral_environ(), **(environ or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def started(*arguments: str, environ: Mapping[str, str] | None = None) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [ACTA, *arguments],
        env={**neutral_environ(), **(environ or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    )


class Up:
    """`acta up --json` on a state directory. `ready`: the line of JSON that it prints when it can be called."""

    def __init__(self, state: Path, *more: str, environ: Mapping[str, str] | None = None) -> None:
        self._errors = (state.parent / f"{state.name}.stderr").open("a+", encoding="utf-8")
        self.process = subprocess.Popen(
            [ACTA, "up", "--state", str(state), "--json", *more],
            env={**neutral_environ(), **(environ or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            encoding="utf-8",
            start_new_session=True,
        )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.process.wait(STOP_SECONDS)
            raise AssertionError(f"acta up ended: {self.errors}")
        self.ready: dict[str, Any] = json.loads(line)

    @property
    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read()

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(STOP_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._errors.close()

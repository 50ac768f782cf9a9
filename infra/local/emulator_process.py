"""The local AWS as a child process: start it on a free port, wait until it answers, stop it in order.

Used by the command line and by every test that needs AWS. It runs in the product's own environment and must
not import ministack: the emulator has an interpreter of its own, given as `emulator_python`.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from infra.local.emulator import process_environment

HOST = "127.0.0.1"
REGION = "us-east-1"
ACCOUNT = "000000000000"
ROOT = Path(__file__).resolve().parents[2]

_START_SECONDS = 60.0
_STOP_SECONDS = 40.0


class EmulatorFailed(Exception):
    """The emulator ended by itself or did not answer in time; the text ends with what it printed last."""


class EmulatorProcess:
    """Context manager around `python -m infra.local.emulator`.

    `lambda_environment` has the variables of every Lambda, `function_environments` by a function's name those of
    that one alone; keys belong into the second. Both go through a pipe: the emulator's own environment is
    `environment`, by default only what an interpreter needs of this process's. `lambda_endpoint` is the Lambdas'
    AWS_ENDPOINT_URL, by default the emulator. Output goes to `<state_dir>/emulator.log`.
    """

    def __init__(
        self,
        *,
        state_dir: Path,
        port: int | None = None,
        emulator_python: Path | None = None,
        runtime_python: Path | None = None,
        lambda_endpoint: str | None = None,
        lambda_environment: Mapping[str, str] | None = None,
        function_environments: Mapping[str, Mapping[str, str]] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.port = port or free_port()
        self.url = f"http://{HOST}:{self.port}"
        self.state_dir = state_dir
        self.log_path = state_dir / "emulator.log"
        if environment is None:
            environment = {name: os.environ[name] for name in process_environment.KEPT if name in os.environ}
        self._environment = dict(environment)
        self._variables = {"every": dict(lambda_environment or {}), "one": dict(function_environments or {})}
        self._command = [
            str(emulator_python or ROOT / ".venv-emulator/bin/python"),
            *("-m", "infra.local.emulator"),
            *("--port", str(self.port)),
            *("--state", str(state_dir.resolve())),
            "--supervised",
            *("--runtime-python", str(runtime_python or ROOT / ".venv-runtime/bin/python")),
        ]
        if lambda_endpoint:
            self._command += ["--lambda-endpoint", lambda_endpoint]
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._log_start = 0

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError("the emulator is not running")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Returns when the emulator answers. Raises EmulatorFailed."""
        self.state_dir.mkdir(parents=True, exist_ok=True)
        self._log = self.log_path.open("ab")
        self._log_start = self._log.tell()
        # Its standard input is a pipe that only we hold: when we are gone, however that came, it ends.
        # A session of its own: Ctrl-C in a terminal reaches the caller, who stops the emulator in order.
        self._process = subprocess.Popen(
            self._command,
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it ended already, which is reported below
            self._process.stdin.write(json.dumps(self._variables, default=dict).encode() + b"\n")
            self._process.stdin.flush()
        deadline = time.monotonic() + _START_SECONDS
        while not self._answers():
            if not self.running:
                raise EmulatorFailed(
                    f"the local AWS ended with {self._process.returncode}\n{self._last_output()}"
                )
            if time.monotonic() > deadline:
                self.kill()
                raise EmulatorFailed(f"the local AWS did not answer in time\n{self._last_output()}")
            time.sleep(0.05)

    def stop(self) -> int:
        """End it in order, so that its state is saved; the exit code. Killed when that takes too long."""
        if self._process is None:
            return 0
        if self.running:
            self._process.send_signal(signal.SIGTERM)
        try:
            code = self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._forget()
        return code

    def kill(self) -> None:
        """End it as a crash would: nothing is saved."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._forget()

    def __enter__(self) -> EmulatorProcess:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_ministack/health", timeout=2) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _last_output(self) -> str:
        """Of this start only."""
        if not self.log_path.exists():
            return ""
        return self.log_path.read_bytes()[self._log_start :].decode(errors="replace")[-2000:]

    def _forget(self) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None
        if self._log is not None:
            self._log.close()
            self._log = None


def free_port() -> int:
    """A TCP port nobody listened on a moment ago."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])

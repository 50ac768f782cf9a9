"""Starts the local AWS as a child process on a free port, waits until it answers, and stops it in order.

The emulator runs in an interpreter of its own, `emulator_python`, where `requirements.txt` of this package is
installed. ministack need not be installed where this module runs.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO

from acta.local_aws import credentials, saved_state
from acta.local_aws.credentials import Credentials
from acta.local_aws.loopback import HOST, free_port
from acta.local_aws.own_environment import KEPT
from acta.local_aws.saved_state import NEVER
from acta.local_aws.settings import ACCOUNT, REGION

__all__ = ["ACCOUNT", "NEVER", "REGION", "EmulatorFailed", "EmulatorProcess", "left_running"]

_STARTED = """
import sys
sys.path.append(sys.argv.pop(1))
from acta.local_aws.__main__ import main
sys.exit(main())
"""
"""`python -m acta.local_aws`, found where this package is. That folder comes last: the emulator's interpreter has
packages of its own, and where this package is installed the folder has another application's.
"""

_START_SECONDS = 60.0
_STOP_SECONDS = 40.0


class EmulatorFailed(Exception):
    """The emulator ended by itself or did not answer in time; the message ends with what it printed last."""


class EmulatorProcess:
    """Context manager around `python -m acta.local_aws`.

    `emulator_python` has the packages of `requirements.txt`; `runtime_python` runs the Lambdas and has AWS's runtime
    client, `awslambdaric`. `code_dir`: where the code of functions is unpacked; several emulators may share it, so
    that each need not unpack it again. By default it is in the state directory.
    `lambda_environment` holds the variables of every Lambda, `function_environments` those of one, by the
    function's name; keys belong into the second. Both go through a pipe. `environment` is the emulator's own, by
    default the few variables of this process that an interpreter needs. `lambda_endpoint` is the Lambdas'
    AWS_ENDPOINT_URL, by default the emulator. `options`: further options of the command line, by name
    (`settings.py`). Output goes to `<state_dir>/emulator.log`.
    """

    def __init__(
        self,
        *,
        state_dir: Path,
        emulator_python: Path,
        runtime_python: Path,
        code_dir: Path | None = None,
        port: int | None = None,
        lambda_endpoint: str | None = None,
        lambda_environment: Mapping[str, str] | None = None,
        function_environments: Mapping[str, Mapping[str, str]] | None = None,
        environment: Mapping[str, str] | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.port = port or free_port()
        self.url = f"http://{HOST}:{self.port}"
        self.state_dir = state_dir
        self.log_path = state_dir / "emulator.log"
        if environment is None:
            environment = {name: os.environ[name] for name in KEPT if name in os.environ}
        self._environment = dict(environment)
        self._variables = {"every": dict(lambda_environment or {}), "one": dict(function_environments or {})}
        self._command = [
            # Made absolute without following links: a virtual environment's interpreter is a link out of it.
            *(
                str(Path.cwd() / emulator_python),
                "-P",
                "-c",
                _STARTED,
                str(Path(__file__).resolve().parents[2]),
            ),
            *("--port", str(self.port)),
            *("--state", str(state_dir.resolve())),
            *("--code", str((code_dir or state_dir / "code").resolve())),
            "--supervised",
            *("--runtime-python", str(Path.cwd() / runtime_python)),
        ]
        if lambda_endpoint:
            self._command += ["--lambda-endpoint", lambda_endpoint]
        for name, value in (options or {}).items():
            self._command += [f"--{name}", value]
        self._process: subprocess.Popen[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._log_start = 0

    @property
    def credentials_file(self) -> Path:
        """Of the run: the form is that of AWS's shared credentials file."""
        return self.state_dir / credentials.FILE

    @property
    def credentials(self) -> Credentials:
        """The operator's, the account's root user. Raises NoCredentials unless it runs."""
        return Credentials.from_file(self.credentials_file)

    @property
    def pid(self) -> int:
        if self._process is None:
            raise RuntimeError("the emulator is not running")
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def last_saved(self) -> str:
        """When state was last saved: ISO 8601, or NEVER."""
        return saved_state.last_saved(self.state_dir) or NEVER

    @property
    def restored_from(self) -> str | None:
        """When the state was saved that this emulator began with, if the one before did not end in order.

        ISO 8601 or NEVER; None if it did end in order, or there was none.
        """
        return saved_state.restored_from(self.state_dir)

    def start(self) -> None:
        """Returns when the emulator answers. Raises EmulatorFailed."""
        self.state_dir.mkdir(parents=True, exist_ok=True)
        self.state_dir.chmod(
            0o700
        )  # also one that was there: it has keys and the data of whoever starts this
        self._log = open(self.log_path, "ab", opener=lambda path, how: os.open(path, how, 0o600))  # noqa: SIM115
        self._log_start = self._log.tell()
        # Only this process holds the other end of its standard input: the emulator ends when this process does.
        # A session of its own: Ctrl-C in a terminal reaches the caller alone, who stops the emulator in order.
        self._process = subprocess.Popen(
            self._command,
            cwd=self.state_dir,
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            umask=0o077,
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
        """End it in order, so that its state is saved, and return the exit code. Kill it if that takes too long."""
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
        """End it as a crash would. Nothing is saved."""
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


def left_running(state_dir: Path) -> str | None:
    """One line for a person if an emulator works on the directory: which process it is and how to end it."""
    return saved_state.in_use(state_dir) if saved_state.is_claimed(state_dir) else None

"""What the emulator was asked to do, read once and handed to every gap."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from acta.local_aws.loopback import HOST

REGION = "us-east-1"
ACCOUNT = "000000000000"
SCRATCH = "scratch-"


@dataclass(frozen=True)
class Settings:
    """One run of the emulator.

    `lambda_environment` is for every Lambda, `function_environments` by a function's name for that one alone.
    Both are kept out of `repr`: they carry keys.
    """

    port: int
    state_dir: Path
    code_dir: Path
    """Of unpacked functions; several emulators may share it (`lambdas/code.py`)."""
    runtime_python: Path
    lambda_endpoint: str
    lambda_environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    function_environments: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    longest_pause_seconds: float | None = None
    """Of the state machines: a Wait or the interval before a Retry ends after this time at the latest. None: as in the
    definition."""
    invocation_check_url: str | None = None
    """Asked before a state machine invokes a Lambda, and may refuse it. None: nobody is asked."""
    supervised: bool = False
    """End in order once standard input is closed: an emulator does not outlive the starter that holds the other end."""

    @property
    def scratch_dir(self) -> Path:
        """For the Lambda processes' own `/tmp`; removed when the emulator ends, so nothing large belongs here.

        Named after this process: functions of a killed predecessor may still write into that one's folder.
        """
        return self.state_dir / f"{SCRATCH}{os.getpid()}"


def from_arguments(arguments: Sequence[str], standard_input: IO[bytes]) -> Settings:
    """Parse the command line and, with `--supervised`, the first line of standard input.

    That line is a JSON object of variables for the Lambdas: `{"every": {NAME: value}, "one": {function: {NAME:
    value}}}`. They do not come by the environment: Linux shows a process's first environment in `/proc` for as
    long as it lives.
    """
    parser = argparse.ArgumentParser(
        prog="python -m acta.local_aws", description="AWS on this machine, for development and tests."
    )
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument(
        "--state", type=Path, required=True, metavar="DIR", help="all of the emulator's state"
    )
    parser.add_argument(
        "--code",
        type=Path,
        metavar="DIR",
        help="unpacked functions, kept for the next run; else in the state",
    )
    parser.add_argument(
        "--runtime-python", type=Path, required=True, help="interpreter that runs Python Lambdas"
    )
    parser.add_argument("--lambda-endpoint", metavar="URL", help="AWS_ENDPOINT_URL of the Lambdas")
    parser.add_argument(
        "--longest-pause",
        type=float,
        metavar="SECONDS",
        help="of a state machine's waits and retry intervals",
    )
    parser.add_argument(
        "--invocation-check",
        metavar="URL",
        help="asked before a state machine invokes a Lambda; may refuse it",
    )
    parser.add_argument(
        "--supervised",
        action="store_true",
        help="the first line of standard input has the Lambdas' variables; end when it is closed",
    )
    parsed = parser.parse_args(arguments)
    # Made absolute without following links: a virtual environment's interpreter is a link out of it.
    runtime_python = Path.cwd() / parsed.runtime_python
    if not runtime_python.is_file():
        parser.error(f"--runtime-python: no interpreter at {parsed.runtime_python}")
    variables = json.loads(standard_input.readline()) if parsed.supervised else {}
    return Settings(
        port=parsed.port,
        state_dir=parsed.state.resolve(),
        code_dir=(parsed.code or parsed.state / "code").resolve(),
        runtime_python=runtime_python,
        lambda_endpoint=parsed.lambda_endpoint or f"http://{HOST}:{parsed.port}",
        lambda_environment=variables.get("every", {}),
        function_environments=variables.get("one", {}),
        longest_pause_seconds=parsed.longest_pause,
        invocation_check_url=parsed.invocation_check,
        supervised=parsed.supervised,
    )

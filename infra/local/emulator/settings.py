"""What the launcher was asked to do, parsed once and handed to every gap."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

HOST = "127.0.0.1"
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
    runtime_python: Path
    lambda_endpoint: str
    lambda_environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    function_environments: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    supervised: bool = False
    """End in order once standard input is closed: a starter that holds its other end cannot leave us behind."""

    @property
    def scratch_dir(self) -> Path:
        """Where unpacked code and the Lambda processes' own `/tmp` live; removed when the emulator ends.

        This process's alone: what still dies with a predecessor may write into that one's.
        """
        return self.state_dir / f"{SCRATCH}{os.getpid()}"


def from_arguments(arguments: Sequence[str], standard_input: IO[bytes]) -> Settings:
    """Parse the command line and, with `--supervised`, the first line of standard input.

    That line is a JSON object of variables, `{"every": {NAME: value}, "one": {function: {NAME: value}}}`. They come
    this way and not in the environment, which holds its first values for as long as the process lives, for
    everything on this machine that may read `/proc`.
    """
    parser = argparse.ArgumentParser(
        prog="python -m infra.local.emulator", description="The local AWS of Acta."
    )
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument(
        "--state", type=Path, required=True, metavar="DIR", help="all of the emulator's state"
    )
    parser.add_argument(
        "--runtime-python", type=Path, required=True, help="interpreter that runs Python Lambdas"
    )
    parser.add_argument("--lambda-endpoint", metavar="URL", help="AWS_ENDPOINT_URL of the Lambdas")
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
        runtime_python=runtime_python,
        lambda_endpoint=parsed.lambda_endpoint or f"http://{HOST}:{parsed.port}",
        lambda_environment=variables.get("every", {}),
        function_environments=variables.get("one", {}),
        supervised=parsed.supervised,
    )

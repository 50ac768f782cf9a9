"""What the launcher was asked to do, parsed once and handed to every gap."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

HOST = "127.0.0.1"
REGION = "us-east-1"
ACCOUNT = "000000000000"
SCRATCH = "scratch-"


@dataclass(frozen=True)
class Settings:
    """One run of the emulator.

    `lambda_environment` holds the values of the `--lambda-env` names, read before the launcher cleans its own
    environment; it is kept out of `repr` because it carries keys.
    """

    port: int
    state_dir: Path
    runtime_python: Path
    lambda_endpoint: str
    lambda_environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    ends_with_stdin: bool = False
    """End in order once standard input is closed: a starter that holds its other end cannot leave us behind."""

    @property
    def scratch_dir(self) -> Path:
        """Where unpacked code and the Lambda processes' own `/tmp` live; removed when the emulator ends.

        This process's alone: what still dies with a predecessor may write into that one's.
        """
        return self.state_dir / f"{SCRATCH}{os.getpid()}"


def from_arguments(arguments: Sequence[str], environment: Mapping[str, str]) -> Settings:
    """Parse the command line. Unset `--lambda-env` variables are left out, not passed as empty."""
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
    parser.add_argument("--lambda-env", action="append", default=[], metavar="NAME")
    parser.add_argument("--ends-with-stdin", action="store_true", help="end when standard input is closed")
    parsed = parser.parse_args(arguments)
    # Made absolute without following links: a virtual environment's interpreter is a link out of it.
    runtime_python = Path.cwd() / parsed.runtime_python
    if not runtime_python.is_file():
        parser.error(f"--runtime-python: no interpreter at {parsed.runtime_python}")
    return Settings(
        port=parsed.port,
        state_dir=parsed.state.resolve(),
        runtime_python=runtime_python,
        lambda_endpoint=parsed.lambda_endpoint or f"http://{HOST}:{parsed.port}",
        lambda_environment={name: environment[name] for name in parsed.lambda_env if name in environment},
        ends_with_stdin=parsed.ends_with_stdin,
    )

"""Emulators with the interpreters under test."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from acta.local_aws.emulator_process import EmulatorProcess

ROOT = Path(__file__).resolve().parents[2]
"""Where `local_aws` is imported from."""
EMULATOR_PYTHON = Path(os.environ.get("LOCAL_AWS_PYTHON", ROOT / ".venv-emulator/bin/python"))
"""Has what `requirements.txt` names."""
RUNTIME_PYTHON = Path(os.environ.get("LOCAL_AWS_RUNTIME_PYTHON", ROOT / ".venv-runtime/bin/python"))
"""Has AWS's runtime client, and runs the functions."""
KEYED = "keyed"
"""The name of the one function that is given KEY."""


def emulator_on(state_dir: Path, **more: Any) -> EmulatorProcess:
    return EmulatorProcess(
        state_dir=state_dir, emulator_python=EMULATOR_PYTHON, runtime_python=RUNTIME_PYTHON, **more
    )

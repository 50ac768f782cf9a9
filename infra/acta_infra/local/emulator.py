"""Acta's use of the local AWS: with the interpreters that `make setup` made, and one folder of unpacked functions."""

from typing import Any

from acta_infra.local.toolchain import EMULATOR_PYTHON, ROOT, RUNTIME_PYTHON
from local_aws.emulator_process import EmulatorProcess

UNPACKED_CODE = ROOT / "build" / "lambda-code"
"""What all emulators of this tree share: functions are unpacked once, not by every run."""


def emulator(**options: Any) -> EmulatorProcess:
    """`options`: further arguments of `EmulatorProcess`."""
    return EmulatorProcess(
        emulator_python=EMULATOR_PYTHON, runtime_python=RUNTIME_PYTHON, code_dir=UNPACKED_CODE, **options
    )

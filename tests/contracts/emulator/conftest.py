"""One emulator for all contract tests, reached the way the product reaches it: by SDK, over HTTP."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from infra.local.emulator_process import ROOT, EmulatorProcess
from tests.contracts.emulator.cloud import Cloud

EMULATOR_PYTHON = Path(os.environ.get("ACTA_EMULATOR_PYTHON", ROOT / ".venv-emulator/bin/python"))
RUNTIME_PYTHON = Path(os.environ.get("ACTA_RUNTIME_PYTHON", ROOT / ".venv-runtime/bin/python"))


def emulator_on(state_dir: Path, environment: dict[str, str] | None = None) -> EmulatorProcess:
    """An emulator with the interpreters under test; the Lambdas are offered what `environment` adds."""
    offered = environment or {}
    return EmulatorProcess(
        state_dir=state_dir,
        emulator_python=EMULATOR_PYTHON,
        runtime_python=RUNTIME_PYTHON,
        lambda_env=list(offered),
        environment={**os.environ, **offered},
    )


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    hostile = {"AUTH": "true", "SFN_WAIT_SCALE": "0", "EMULATOR_ONLY": "1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in hostile.items():
            patch.setenv(name, value)
        process = emulator_on(tmp_path_factory.mktemp("emulator"), {"OFFERED_KEY": "offered"})
        process.start()
    yield process
    process.stop()


@pytest.fixture(scope="session")
def cloud(emulator: EmulatorProcess) -> Cloud:
    return Cloud(emulator.url)

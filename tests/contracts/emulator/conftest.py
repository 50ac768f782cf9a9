"""One emulator for all contract tests, reached the way the product reaches it: by SDK, over HTTP."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.local.emulator_process import EmulatorProcess
from infra.local.toolchain import ROOT
from tests.contracts.emulator.cloud import Cloud

EMULATOR_PYTHON = Path(os.environ.get("ACTA_EMULATOR_PYTHON", ROOT / ".venv-emulator/bin/python"))
RUNTIME_PYTHON = Path(os.environ.get("ACTA_RUNTIME_PYTHON", ROOT / ".venv-runtime/bin/python"))


KEYED = "keyed"
"""The name of the one function that is given KEY."""


THOROUGH = (
    "test_cognito",
    "test_emulator_process",
    "test_options",
    "test_queues",
    "test_table_streams",
    "test_task_tokens",
    "test_time_limits",
)
"""Files that wait, synthesise or start emulators of their own. `make test` meets what is in them in deployed
stacks too, which wait, expire, notify, are stopped and started again.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent and item.path.stem in THOROUGH:
            item.add_marker("thorough")


def emulator_on(state_dir: Path, **more: Any) -> EmulatorProcess:
    """An emulator with the interpreters under test."""
    return EmulatorProcess(
        state_dir=state_dir, emulator_python=EMULATOR_PYTHON, runtime_python=RUNTIME_PYTHON, **more
    )


@pytest.fixture(scope="session")
def emulator(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    hostile = {"AUTH": "true", "SFN_WAIT_SCALE": "0", "EMULATOR_ONLY": "1"}
    process = emulator_on(
        tmp_path_factory.mktemp("emulator"),
        lambda_environment={"OFFERED": "offered"},
        function_environments={KEYED: {"KEY": "secret"}},
        environment={**os.environ, **hostile},
    )
    with process:
        yield process


@pytest.fixture(scope="session")
def cloud(emulator: EmulatorProcess) -> Cloud:
    return Cloud.of(emulator)

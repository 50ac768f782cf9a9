"""One emulator for all contract tests, reached as an application reaches it: by AWS's SDK, over HTTP."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from acta.local_aws.emulator_process import EmulatorProcess
from acta.local_aws.testing import Cloud
from tests.local_aws.emulators import KEYED, emulator_on

THOROUGH = (
    "test_emulator_process",
    "test_options",
    "test_queues",
    "test_table_streams",
    "test_task_tokens",
    "test_time_limits",
)
"""Files that wait or start emulators of their own. `make test` leaves them out and meets what is in them in deployed
stacks, which wait, expire, notify, are stopped and started again.
"""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).with_name("contracts") and item.path.stem in THOROUGH:
            item.add_marker("thorough")


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

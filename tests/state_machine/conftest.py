"""The state machine as it is deployed, in the emulator, with functions that do what a test's script says."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from acta.infra.environments import LOCAL
from acta.infra.local.stack import emulator
from tests.state_machine.machine import Machine


@pytest.fixture(scope="session")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    state: Path = tmp_path_factory.mktemp("state-machine")
    with emulator(state_dir=state, options={"longest-pause": "0.1"}) as aws:
        yield Machine(aws)


@pytest.fixture(scope="session")
def quick(machine: Machine) -> Machine:
    """One that parks what has waited for a second."""
    return Machine(machine.emulator, replace(LOCAL, park_after_seconds=1))

"""The state machine as it is deployed, in the emulator and in the engine of one process, with functions that do what a
test's script says.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from acta.infra.environments import LOCAL
from acta.infra.local.stack import emulator
from acta.local_aws.emulator_process import EmulatorProcess
from tests.state_machine.embedded import EmbeddedMachine
from tests.state_machine.machine import Machine

ENGINES = ("step functions", "embedded")


@pytest.fixture(scope="session")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmulatorProcess]:
    state: Path = tmp_path_factory.mktemp("state-machine")
    with emulator(state_dir=state, options={"longest-pause": "0.1"}) as started:
        yield started


@pytest.fixture(scope="session", params=ENGINES)
def machine(request: pytest.FixtureRequest) -> Machine | EmbeddedMachine:
    return EmbeddedMachine() if request.param == "embedded" else Machine(request.getfixturevalue("aws"))


@pytest.fixture(scope="session", params=ENGINES)
def quick(request: pytest.FixtureRequest) -> Machine | EmbeddedMachine:
    """One that parks what has waited for a second."""
    environment = replace(LOCAL, park_after_seconds=1)
    if request.param == "embedded":
        return EmbeddedMachine(environment)
    return Machine(request.getfixturevalue("aws"), environment)

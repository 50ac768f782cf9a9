from collections.abc import Iterator

import pytest

from acta.cli.client import Client
from acta.cli.target import Target
from tests.unit.acta.cli.fake_deployment import FakeDeployment


@pytest.fixture
def deployment() -> Iterator[FakeDeployment]:
    with FakeDeployment() as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(deployment: FakeDeployment, pauses: list[float]) -> Iterator[Client]:
    client = Client(Target(deployment.url, "a.b.c"), pause=pauses.append)
    yield client
    client.close()

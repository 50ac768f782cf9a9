from collections.abc import Callable, Iterator

import pytest

from acta.cli.main import main
from acta.client.api import Client
from acta.client.deployment import Deployment
from tests.acta.fake_deployment import FakeDeployment
from tests.acta.real_api import RealApi

Acta = Callable[..., int]
"""Runs a command against the fake deployment; its exit code."""


@pytest.fixture
def deployment() -> Iterator[FakeDeployment]:
    with FakeDeployment() as running:
        yield running


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(deployment: FakeDeployment, pauses: list[float]) -> Iterator[Client]:
    client = Client(Deployment(deployment.url, "a.b.c"), pause=pauses.append)
    yield client
    client.close()


@pytest.fixture
def acta(deployment: FakeDeployment) -> Acta:
    def run(*arguments: str) -> int:
        return main([*arguments, "--api-url", deployment.url, "--token", "a.b.c"])

    return run


@pytest.fixture
def real_api() -> Iterator[RealApi]:
    with RealApi() as running:
        yield running

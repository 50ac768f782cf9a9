"""Each suite runs on every adapter of its port; the local AWS only where the environment names one."""

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest
from moto import mock_aws

from tests.stores.backends import (
    ENDPOINT,
    Aws,
    Stores,
    aws_stores,
    create,
    local_aws,
    memory_stores,
    moto_clients,
)

_ACCOUNTS = {"moto": "moto_account"} | ({"local_aws": "local_account"} if ENDPOINT in os.environ else {})


@pytest.fixture(scope="session")
def clients() -> Aws:
    """Made once: a client reads all that the service has to offer, megabytes of it."""
    return moto_clients()


@pytest.fixture(scope="module")
def moto_account(clients: Aws) -> Iterator[Aws]:
    """A table and a bucket for each file: a table that grows makes moto slow."""
    with mock_aws():
        yield create(clients)


@pytest.fixture(scope="session")
def local_account() -> Aws:
    return local_aws()


@pytest.fixture(params=["memory", *_ACCOUNTS])
def stores(request: pytest.FixtureRequest) -> Stores:
    if request.param == "memory":
        return memory_stores()
    return aws_stores(request.getfixturevalue(_ACCOUNTS[request.param]))


@pytest.fixture(params=[*_ACCOUNTS])
def aws(request: pytest.FixtureRequest) -> Aws:
    """For what only the AWS adapters can meet: an SDK that retries, other people's objects."""
    account: Aws = request.getfixturevalue(_ACCOUNTS[request.param])
    return account


@pytest.fixture
def tenant() -> str:
    """A new one for each test: they share tables."""
    return f"tenant-{uuid4().hex}"

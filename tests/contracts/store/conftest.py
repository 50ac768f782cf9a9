"""Each suite runs on every adapter of its port; the local AWS only where the environment names one."""

import os
from collections.abc import Iterator
from uuid import uuid4

import pytest
from moto import mock_aws

from tests.contracts.store.backends import (
    ENDPOINT,
    Aws,
    Stores,
    aws_stores,
    local_aws,
    memory_stores,
    moto_aws,
)

_ACCOUNTS = {"moto": "moto_account"} | ({"local_aws": "local_account"} if ENDPOINT in os.environ else {})


@pytest.fixture(scope="module")
def moto_account() -> Iterator[Aws]:
    with mock_aws():
        yield moto_aws()


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

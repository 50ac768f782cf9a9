"""Each suite runs on every adapter of its port; the local AWS only where the environment names one."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from moto import mock_aws

from tests.stores.backends import (
    ACCOUNTS,
    AWS_ACCOUNTS,
    Aws,
    Stores,
    aws_stores,
    create,
    local_aws,
    moto_clients,
    sqlite,
)


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


@pytest.fixture
def sqlite_account() -> Aws:
    return sqlite()


@pytest.fixture(params=[*ACCOUNTS])
def account(request: pytest.FixtureRequest) -> Aws:
    account: Aws = request.getfixturevalue(ACCOUNTS[request.param])
    return account


@pytest.fixture
def stores(account: Aws) -> Stores:
    return aws_stores(account)


@pytest.fixture(params=[*AWS_ACCOUNTS])
def aws(request: pytest.FixtureRequest) -> Aws:
    """For what only an SDK can meet, which retries, and a bucket with other people's objects."""
    account: Aws = request.getfixturevalue(AWS_ACCOUNTS[request.param])
    return account


@pytest.fixture
def tenant() -> str:
    """A new one for each test: they share tables."""
    return f"tenant-{uuid4().hex}"

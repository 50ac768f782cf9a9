"""An account of moto's for each test."""

from collections.abc import Iterator

import pytest
from moto import mock_aws

from tests.stores.backends import Aws, create, moto_clients


@pytest.fixture(scope="session")
def clients() -> Aws:
    """Made once: a client reads all that the service has to offer, megabytes of it."""
    return moto_clients()


@pytest.fixture
def aws(clients: Aws) -> Iterator[Aws]:
    with mock_aws():
        account = create(clients)
        account.s3.put_bucket_versioning(Bucket=account.bucket, VersioningConfiguration={"Status": "Enabled"})
        yield account

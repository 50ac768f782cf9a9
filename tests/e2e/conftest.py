"""People of tenants of their own, and what is behind the API they talk to."""

import uuid
from collections.abc import Callable, Iterator

import pytest

from acta_infra.local.issuer import Role
from tests.conftest import Deployed
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person

Admit = Callable[..., Person]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/e2e/" in str(item.path):
            item.add_marker("e2e")


@pytest.fixture
def admit(deployed: Deployed) -> Iterator[Admit]:
    """Makes people: `admit()` of a new tenant, `admit(tenant="t", user="u", role="admin")` of a given one."""
    admitted: list[Person] = []

    def make(tenant: str | None = None, user: str = "ann", role: Role = "member") -> Person:
        tenant = f"tenant-{uuid.uuid4().hex}" if tenant is None else tenant
        token = deployed.issuer.issue_token(tenant, user, role)
        admitted.append(Person(deployed.url, token, tenant, user))
        return admitted[-1]

    yield make
    for person in admitted:
        person.leave()


@pytest.fixture
def ann(admit: Admit) -> Person:
    """A member of a tenant that is this test's alone."""
    return admit()


@pytest.fixture(scope="session")
def behind(deployed: Deployed) -> Behind:
    return Behind(deployed.aws_endpoint_url, deployed.credentials)

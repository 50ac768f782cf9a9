"""People of tenants of their own, their browsers, and what is behind the API they talk to."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from acta.infra.local.issuer import PageLinks, Role
from tests.conftest import Deployed
from tests.e2e.support.behind import Behind
from tests.e2e.support.browser import NoBrowser
from tests.e2e.support.person import Person

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Driven

    from tests.e2e.support.screen import Screen

Admit = Callable[..., Person]
Screens = Callable[..., "Screen"]


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


@pytest.fixture(scope="module")
def chromium() -> Iterator[Driven]:
    """Without a browser these tests are skipped, but never in continuous integration.

    Of a file and not of the whole run: as long as it is driven, its event loop runs in this thread, and no other test
    could have one.
    """
    from tests.e2e.support.screen import driven  # only here: not every test needs what drives a browser

    try:
        with driven() as found:
            yield found
    except NoBrowser as why:
        if os.environ.get("CI"):
            raise
        pytest.skip(str(why))


@pytest.fixture
def screens(chromium: Driven, deployed: Deployed) -> Iterator[Screens]:
    """Makes browsers: `screens()`, or `screens(viewport=PHONE)`. At the end none of them may have done wrong."""
    from tests.e2e.support.screen import DESK, Screen

    made: list[Screen] = []

    def make(**how: Any) -> Screen:
        context = chromium.new_context(**{"viewport": DESK, "locale": "en-GB", "timezone_id": "UTC", **how})
        made.append(Screen(context, deployed.url, PageLinks(deployed.state)))
        return made[-1]

    yield make
    wrong = [each for screen in made for each in screen.wrong]
    for screen in made:
        screen.context.close()
    assert wrong == []


@pytest.fixture
def screen(screens: Screens) -> Screen:
    return screens()

"""A browser for each person that a test needs."""

import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser as Driven

from acta_infra.local.issuer import PageLinks
from tests.conftest import Deployed
from tests.e2e.support.browser import NoBrowser
from tests.e2e.support.screen import DESK, Screen, driven

Screens = Callable[..., Screen]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Driven]:
    """Without a browser these tests are skipped, but never in continuous integration.

    Of a file and not of the whole run: as long as it is driven, its event loop runs in this thread, and no other test
    could have one.
    """
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

"""A session in its provider's line says so in plain words: on its page, in the list, and on the command line."""

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.e2e.support.behind import Behind
from tests.e2e.support.person import OVER, Person
from tests.e2e.support.screen import Screen

pytestmark = pytest.mark.thorough

LIMITS = {"offline": {"tokens_per_minute": 1}}
"""One call uses up hours of it."""


@pytest.fixture
def limited(behind: Behind) -> Iterator[None]:
    with behind.configured("step", "recover", ACTA_PROVIDER_LIMITS=json.dumps(LIMITS)):
        yield


def test_who_waits_for_its_provider_s_limit_sees_since_when_and_behind_how_many(
    screen: Screen, limited: None, ann: Person
) -> None:
    first = ann.start("Count the apples")
    ann.watch(first, lambda session: session["state"] in OVER or session["state_reason"] == "queued")
    second = ann.start("Count the pears")
    page = screen.sign_in(ann, place=f"sessions/{second}")
    expect(page.locator(".state")).to_have_text("Waits for the provider's limit", timeout=60_000)
    notice = page.locator(".notice").filter(has_text="The limit of the model's provider is reached")
    expect(notice).to_contain_text(re.compile(r"Joined the line .* (first of|before it)"))
    expect(notice).to_contain_text("It goes on at the latest in")
    expect(page.get_by_role("button", name="Try now")).to_have_count(0)  # it keeps its place
    screen.accessible()
    screen.picture("queued")
    page.goto(f"{screen.url}/console/sessions")
    expect(page.get_by_role("row").filter(has_text="Count the pears")).to_contain_text("Joined the line")
    screen.accessible()
    screen.picture("queued-list")
    for each in (first, second):
        ann.post(f"/v1/sessions/{each}/cancel")

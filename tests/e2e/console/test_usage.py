"""The page of what was used: charts that need no colour, the same figures in tables, and only their own for members."""

import time
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Admit, Screens
from tests.e2e.support.person import PATIENCE_SECONDS, Person
from tests.e2e.support.screen import PHONE, Screen

pytestmark = pytest.mark.thorough

LOOK_SECONDS = 0.2


def used(person: Person) -> None:
    """A session that has ended and is counted. The stand-in for a model cannot do this, so the goal is not met."""
    person.finished(person.start("Say hello"))
    deadline = time.monotonic() + PATIENCE_SECONDS
    while person.data("/v1/usage")["total"]["work"]["runs"]["completed"] != 1:
        assert time.monotonic() < deadline, "it is not counted"
        time.sleep(LOOK_SECONDS)


def in_both_themes(screen: Screen, page: Page, name: str) -> None:
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        screen.accessible()
        screen.picture(f"{name}-{theme}")


def test_an_admin_sees_what_the_tenant_used(screen: Screen, admit: Admit) -> None:
    person = admit(role="admin")
    used(person)
    page = screen.sign_in(person, "admin", "member", place="usage")
    expect(page.get_by_role("heading", name="How runs ended")).to_be_visible()
    tokens = page.get_by_role("region", name="Tokens", exact=True)
    total = person.data("/v1/usage")["total"]["tokens"]["output"]
    tokens.get_by_text("Tokens as a table").click()
    assert tokens.get_by_role("row").count() == 1 + 8  # the day that began a week ago, and today
    last = tokens.get_by_role("row").last.get_by_role("cell").last
    expect(last).to_have_text(str(total))
    in_both_themes(screen, page, "usage")
    page.get_by_label("Grouped by").select_option("Agent")
    expect(tokens.get_by_text("default").first).to_be_visible()
    page.get_by_label("Time").select_option("the last 24 hours")
    page.get_by_label("Grouped by").select_option("Hour")
    expect(page).to_have_url(f"{screen.url}/console/usage?by=hour&range=1d")
    expect(tokens.locator("tbody tr")).to_have_count(25)


@pytest.mark.parametrize("group", ["Model", "Person"])
def test_each_group_has_its_names(screen: Screen, admit: Admit, group: str) -> None:
    person = admit(role="admin")
    used(person)
    page = screen.sign_in(person, "admin", "member", place="usage")
    page.get_by_label("Grouped by").select_option(group)
    by = {"Model": "model", "Person": "user"}[group]
    (item,) = person.data("/v1/usage", by=by)["items"]
    expect(
        page.get_by_role("region", name="Tokens", exact=True).get_by_text(item["key"]).first
    ).to_be_visible()


def test_a_member_sees_their_own_on_a_phone(screens: Screens, ann: Person) -> None:
    used(ann)
    screen = screens(viewport=PHONE)
    page = screen.sign_in(ann, place="usage")
    expect(page.get_by_role("heading", name="Your usage")).to_be_visible()
    expect(page.get_by_label("Grouped by")).to_have_count(0)
    says = "1 ended; 0 % met their goal, 100 % were completed without a person's answer."
    expect(page.get_by_text(says)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    in_both_themes(screen, page, "usage-phone")


def test_who_has_used_nothing_is_told_so(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann, place="usage")
    expect(page.get_by_text("No model was asked in this time.")).to_be_visible()
    screen.accessible()

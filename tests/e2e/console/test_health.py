"""The page of health: models, keys and the audit trail. For admins."""

from typing import Literal

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Admit
from tests.e2e.console.conftest import Screens
from tests.e2e.support.person import Person
from tests.e2e.support.screen import PHONE, Screen

pytestmark = pytest.mark.thorough


def test_an_admin_sees_the_keys_and_who_did_what(screen: Screen, admit: Admit) -> None:
    person = admit(role="admin")
    session = person.start("Say hello")
    page = screen.sign_in(person, "admin", "member", place="health")
    expect(page.get_by_role("table", name="Keys")).to_be_visible()
    page.get_by_role("button", name="Ask the providers").click()
    expect(page.get_by_role("button", name="Ask the providers")).to_be_enabled()
    trail = page.get_by_role("table", name="Who did what")
    expect(trail.get_by_role("row").filter(has_text="session.start")).to_contain_text(session)
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        screen.accessible()
        screen.picture(f"health-{theme}")
    page.get_by_label("Action").fill("session.delete")
    page.get_by_label("Action").press("Enter")
    expect(page.get_by_text("There is no such record.")).to_be_visible()


def test_it_fits_a_phone(screens: Screens, admit: Admit) -> None:
    person = admit(role="admin")
    person.start("Say hello")
    screen = screens(viewport=PHONE)
    page = screen.sign_in(person, "admin", "member", place="health")
    expect(page.get_by_role("table", name="Who did what")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    screen.accessible()
    screen.picture("health-phone")


def test_a_member_has_no_such_page(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann, place="health")
    expect(page.get_by_role("heading", name="This page is for admins")).to_be_visible()
    expect(page.get_by_role("link", name="Health")).to_have_count(0)

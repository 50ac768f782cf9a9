"""API2, broken authentication, in the browser: two people sign in in tabs of one browser, and neither of the tabs shows
the one and sends as the other.

Each rule of a tab by itself: `console/sign-in/tab.test.ts`.
"""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.e2e.conftest import Admit, Screens
from tests.e2e.support.person import Person

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Request

    from tests.e2e.support.screen import Screen

    Tabs = tuple[Screen, Page, Page]

SECRET = "Only for ann"


def expect(shown: Locator) -> Any:
    from playwright.sync_api import expect  # only here: the other attacks need nothing that drives a browser

    return expect(shown)


class Sent:
    """Who the requests of a tab to the API are from."""

    def __init__(self, page: Page) -> None:
        self.people: list[str] = []
        page.on("request", self._note)

    def _note(self, request: Request) -> None:
        if "/v1/" in request.url:
            self.people.append(subject(request.headers["authorization"].removeprefix("Bearer ")))


def subject(token: str) -> str:
    middle = token.split(".")[1]
    return str(json.loads(base64.urlsafe_b64decode(middle + "=" * (-len(middle) % 4)))["sub"])


def kept(page: Page) -> Any:
    return page.evaluate("JSON.parse(sessionStorage.getItem('acta.tokens'))")


def shows(page: Page, person: Person) -> None:
    expect(page.locator("details.person summary")).to_have_text(person.name)


@pytest.fixture
def boss(ann: Person, admit: Admit) -> Person:
    return admit(ann.tenant, "boss", "admin")


@pytest.fixture
def tabs(screens: Screens, ann: Person, boss: Person) -> Tabs:
    """One browser with a tab in which ann has signed in, and another one, in which the boss has."""
    screen = screens()
    anns = screen.sign_in(ann)
    bosses = screen.context.new_page()
    bosses.goto(screen.link(boss, "admin"))
    shows(bosses, boss)
    return screen, anns, bosses


def sign_out(page: Page) -> None:
    page.locator("details.person summary").click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You have signed out")).to_be_visible()


def test_a_tab_shows_and_sends_as_its_own_person_while_somebody_else_signs_in_beside_it(
    tabs: Tabs, ann: Person, boss: Person
) -> None:
    _, anns, bosses = tabs
    ann.start(SECRET, visibility="private")
    of_ann, of_boss = Sent(anns), Sent(bosses)
    for page in (anns, bosses):
        page.bring_to_front()
        page.get_by_role("link", name="Sessions", exact=True).click()
        expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    expect(anns.get_by_text(SECRET).first).to_be_visible()
    expect(bosses.get_by_text("Nobody has started a session yet.")).to_be_visible()
    expect(bosses.get_by_text(SECRET)).to_have_count(0)
    shows(anns, ann)
    shows(bosses, boss)
    assert (set(of_ann.people), set(of_boss.people)) == ({"ann"}, {"boss"})
    assert (kept(anns)["user"], kept(bosses)["user"]) == ("ann", "boss")


def test_it_stays_so_after_the_token_was_renewed(tabs: Tabs) -> None:
    _, anns, _ = tabs
    before = kept(anns)["bearer"]
    of_ann = Sent(anns)
    anns.route(
        "**/v1/**",
        lambda route: (
            route.fulfill(status=401, json={"message": "Unauthorized"})
            if route.request.headers["authorization"] == f"Bearer {before}"
            else route.continue_()
        ),
    )
    anns.bring_to_front()
    anns.get_by_role("link", name="Files", exact=True).click()
    expect(anns.get_by_text("There is nothing here yet")).to_be_visible()
    assert kept(anns)["bearer"] != before
    assert (set(of_ann.people), kept(anns)["user"]) == ({"ann"}, "ann")
    anns.unroute_all()


def test_a_tab_whose_person_signed_out_is_somebody_elses_only_after_it_is_loaded_again(
    screens: Screens, ann: Person, boss: Person
) -> None:
    """What ann wrote is gone, too."""
    screen = screens()
    anns = screen.sign_in(ann, place="sessions/new")
    anns.get_by_label("What is to be done?").fill(SECRET)
    second = screen.open("inbox")
    sign_out(second)
    expect(anns.get_by_text("You have signed out")).to_be_visible()
    second.goto(screen.link(boss, "admin"))
    shows(second, boss)
    expect(anns.get_by_text("You have signed out")).to_be_visible()
    assert kept(anns) is None
    anns.reload()
    shows(anns, boss)
    expect(anns.get_by_label("What is to be done?")).to_have_value("")
    assert kept(anns)["user"] == "boss"
    assert SECRET not in json.dumps(anns.evaluate("({...sessionStorage})"))


def test_a_page_out_of_the_browsers_memory_is_loaded_again(tabs: Tabs, boss: Person) -> None:
    """As after going back in history: the page is as it was, and its tab has become somebody else's meanwhile."""
    _, page, bosses = tabs
    theirs = json.dumps(kept(bosses))
    page.evaluate("theirs => sessionStorage.setItem('acta.tokens', theirs)", theirs)
    of_page = Sent(page)
    page.evaluate("dispatchEvent(new PageTransitionEvent('pageshow', {persisted: true}))")
    shows(page, boss)
    page.get_by_role("link", name="Sessions", exact=True).click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    assert set(of_page.people) == {"boss"}


def test_a_new_tab_is_nobodys_where_two_people_have_signed_in(tabs: Tabs) -> None:
    screen, *_ = tabs
    third = screen.context.new_page()
    third.goto(f"{screen.url}/console/inbox")
    expect(third.get_by_role("button", name="Sign in")).to_be_visible()
    assert kept(third) is None


def test_signing_out_ends_nobody_elses_sign_in_and_revokes_what_would_renew_it(
    tabs: Tabs, boss: Person
) -> None:
    screen, anns, bosses = tabs
    renews = kept(anns)["renews"]
    with anns.expect_response("**/oauth2/revoke") as answered:
        sign_out(anns)
    assert answered.value.status == 200
    form = {"grant_type": "refresh_token", "client_id": "acta", "refresh_token": renews}
    refused = screen.context.request.post(f"{screen.url}/oauth2/token", form=form)
    assert (refused.status, refused.json()) == (400, {"error": "invalid_grant"})
    shows(bosses, boss)
    assert kept(bosses)["user"] == "boss"

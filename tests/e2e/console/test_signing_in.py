"""Signing in on the page: by a link of the local stack, at the issuer, from tab to tab, and out again."""

from playwright.sync_api import expect

from tests.e2e.conftest import Screens
from tests.e2e.support.person import Person
from tests.e2e.support.screen import Screen


def test_a_link_signs_in_once(screens: Screens, ann: Person) -> None:
    first = screens()
    link = first.link(ann)
    first.page.goto(link)
    expect(first.page.get_by_role("heading", name="Inbox")).to_be_visible()
    assert "code=" not in first.page.url
    second = screens()
    second.page.goto(link)
    expect(second.page.get_by_role("button", name="Sign in")).to_be_visible()
    expect(second.page.get_by_role("alert")).to_contain_text("used already")


def test_whoever_has_not_signed_in_goes_to_the_issuer_and_comes_back_to_where_they_were(
    screen: Screen,
) -> None:
    page = screen.page
    page.goto(f"{screen.url}/console/sessions")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()
    screen.accessible()
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("User").fill("bob")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{screen.url}/console/sessions")
    expect(page.get_by_text("bob")).to_be_visible()


def test_a_second_tab_is_signed_in_too_and_both_are_out_together(screen: Screen, ann: Person) -> None:
    first = screen.sign_in(ann)
    second = screen.open("inbox")
    second.get_by_text(ann.name).click()
    second.get_by_role("button", name="Sign out").click()
    for page in (first, second):
        expect(page.get_by_text("You have signed out")).to_be_visible()
        expect(page.get_by_role("button", name="Sign in")).to_be_visible()


def test_a_form_of_another_page_cannot_make_a_sign_in_of_this_one(screen: Screen) -> None:
    screen.page.goto(f"{screen.url}/console/signed-in?code=x&state=y")
    expect(screen.page.get_by_role("alert")).to_contain_text("not begun in this tab")
    assert "code=" not in screen.page.url


def test_a_sign_in_that_is_over_leaves_what_is_shown_and_says_so(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann)
    page.route("**/v1/**", lambda route: route.fulfill(status=401, json={"message": "Unauthorized"}))
    page.route("**/oauth2/token", lambda route: route.fulfill(status=400, json={"error": "invalid_grant"}))
    expect(page.get_by_text("You are no longer signed in")).to_be_visible(timeout=15_000)
    expect(page.get_by_role("heading", name="Inbox")).to_be_visible()
    screen.accessible()
    page.unroute_all()
    page.get_by_role("button", name="Sign in again").click()
    expect(page.get_by_label("User")).to_be_visible()

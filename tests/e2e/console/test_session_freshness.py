"""What a session's page shows is never old and taken for new: after a sign-in that ended, a sleep, an outage."""

import re
from contextlib import suppress

from playwright.sync_api import Error, Page, Route, expect

from tests.e2e.console.test_inbox import Asked, deletion
from tests.e2e.support.person import Person
from tests.e2e.support.screen import Screen

FROM = re.compile("What you see is from")


def opened(screen: Screen, person: Person) -> tuple[Page, Asked]:
    """The page of a session that waits for somebody, as it is now."""
    asked = deletion(person, "old.txt")
    page = screen.sign_in(person, place=f"sessions/{asked[0]}")
    expect(page.locator(".state")).to_have_text("Waits for a person")
    expect(page.locator(".live")).to_be_visible()
    return page, asked


def is_old(screen: Screen, page: Page) -> None:
    expect(page.get_by_text(FROM)).to_be_visible(timeout=60_000)
    expect(page.locator(".live")).to_have_count(0)
    screen.accessible()


def is_new(page: Page) -> None:
    """Nothing says that it is old, and it shows what was decided meanwhile."""
    expect(page.get_by_text(FROM)).to_have_count(0, timeout=60_000)
    expect(page.locator(".state")).not_to_have_text("Waits for a person")


def reject(person: Person, asked: Asked) -> None:
    person.resolve(asked[0], asked[1]["intervention_id"], "reject")


def test_a_machine_that_slept_says_from_when_its_page_is_until_it_has_read_again(
    screen: Screen, ann: Person
) -> None:
    screen.page.clock.install()
    page, asked = opened(screen, ann)
    held: list[Route] = []
    page.route("**/v1/sessions/**", lambda route: held.append(route))
    reject(ann, asked)
    page.clock.fast_forward("02:00:00")
    is_old(screen, page)
    expect(page.get_by_text("2 h ago").first).to_be_visible()
    screen.picture("slept")
    page.unroute("**/v1/sessions/**")
    for each in held:
        with suppress(Error):  # the page has given it up by itself
            each.abort()
    is_new(page)


def test_a_sign_in_that_ends_in_the_middle_leaves_what_was_read_and_says_from_when_it_is(
    screen: Screen, ann: Person
) -> None:
    page, asked = opened(screen, ann)
    page.route("**/v1/**", lambda route: route.fulfill(status=401, json={"message": "Unauthorized"}))
    page.route("**/oauth2/token", lambda route: route.fulfill(status=400, json={"error": "invalid_grant"}))
    reject(ann, asked)
    expect(page.get_by_text("You are no longer signed in")).to_be_visible(timeout=60_000)
    is_old(screen, page)
    screen.picture("signed-out-amid")


def test_while_nothing_answers_as_in_a_deploy_the_page_says_so_and_goes_on_by_itself(
    screen: Screen, ann: Person
) -> None:
    page, asked = opened(screen, ann)
    page.route("**/v1/**", lambda route: route.fulfill(status=503, json={"message": "Service Unavailable"}))
    reject(ann, asked)
    is_old(screen, page)
    page.unroute("**/v1/**")
    is_new(page)

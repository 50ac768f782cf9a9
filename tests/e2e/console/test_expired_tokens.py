"""A token ends in the middle of work: it is renewed unseen, or the page says so and keeps what was written."""

import json

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.console.test_inbox import Asked, place, question, recorded
from tests.e2e.console.test_unsent import drafts
from tests.e2e.support.person import Person
from tests.e2e.support.screen import Screen

OVER = "You are no longer signed in"


def asked_for_a_text(ann: Person) -> Asked:
    return question(ann.asked(ann.start("Create the file notes.md")))


class Expired:
    """Every request with the token that the page has now is refused, as the gateway refuses it."""

    def __init__(self, page: Page) -> None:
        self.bearer = page.evaluate("JSON.parse(sessionStorage.getItem('acta.tokens')).bearer")
        self.refused: list[str] = []
        self.renewals: list[str] = []
        page.route("**/v1/**", self._answer)
        page.route("**/oauth2/token", self._renew)

    def _answer(self, route: Route) -> None:
        if self.renewals or route.request.headers["authorization"] != f"Bearer {self.bearer}":
            route.continue_()
            return
        self.refused.append(f"{route.request.method} {route.request.url}")
        route.fulfill(status=401, json={"message": "Unauthorized"})

    def _renew(self, route: Route) -> None:
        self.renewals.append(route.request.post_data or "")
        route.continue_()


def without_renewal(route: Route) -> None:
    """As an issuer answers that gives this client no refresh token."""
    answer = route.fetch()
    route.fulfill(response=answer, json={**answer.json(), "refresh_token": None})


def test_a_token_that_ends_while_somebody_answers_is_renewed_unseen(screen: Screen, ann: Person) -> None:
    asked = asked_for_a_text(ann)
    page = screen.sign_in(ann, place=place(asked))
    page.get_by_label("Your answer").fill("A kettle.")
    expired = Expired(page)
    page.get_by_role("button", name="Send: answer").click()
    expect(page.get_by_text("You answered")).to_be_visible()
    expect(page.get_by_text(OVER)).to_have_count(0)
    expect(page.get_by_role("alert")).to_have_count(0)
    assert expired.refused
    (renewal,) = expired.renewals
    assert "grant_type=refresh_token" in renewal
    assert recorded(ann, asked)["input"] == {"text": "A kettle."}
    assert drafts(page) == 0


def test_a_session_that_is_watched_goes_on_over_the_end_of_a_token(screen: Screen, ann: Person) -> None:
    asked = asked_for_a_text(ann)
    page = screen.sign_in(ann, place=f"sessions/{asked[0]}")
    expect(page.locator(".state")).to_have_text("Waits for a person")
    page.get_by_label("Say something").fill("And be quick")
    expired = Expired(page)
    ann.resolve(asked[0], asked[1]["intervention_id"], "answer", input={"text": "A kettle."})
    expect(page.locator(".state")).to_have_text("Goal met", timeout=60_000)
    expect(page.get_by_text(OVER)).to_have_count(0)
    expect(page.get_by_label("Say something")).to_have_value("And be quick")
    assert len(expired.renewals) == 1, "one for everything that the page reads"


@pytest.mark.thorough
def test_a_sign_in_that_cannot_be_renewed_says_so_and_what_was_written_is_there_after_the_next(
    screen: Screen, ann: Person
) -> None:
    asked = asked_for_a_text(ann)
    page = screen.page
    page.route("**/oauth2/token", without_renewal)
    screen.sign_in(ann, place=place(asked))
    page.unroute("**/oauth2/token")
    assert json.loads(page.evaluate("sessionStorage.getItem('acta.tokens')"))["renews"] == ""
    page.get_by_label("Your answer").fill("A kettle.")
    page.get_by_text("Comment (optional)").click()
    page.get_by_label("Comment").fill("as we said")
    expired = Expired(page)
    page.get_by_role("button", name="Send: answer").click()
    expect(page.get_by_text(OVER)).to_be_visible()
    expect(page.get_by_label("Your answer")).to_have_value("A kettle.")
    expect(page.get_by_text("Your sign-in has ended. Sign in again.").first).to_be_visible()
    assert expired.renewals == []
    screen.accessible()
    screen.picture("expired-token")
    page.unroute_all()
    page.get_by_role("button", name="Sign in again").click()
    page.get_by_label("Tenant").fill(ann.tenant)
    page.get_by_label("User").fill(ann.name)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{screen.url}/console/{place(asked)}")
    expect(page.get_by_label("Your answer")).to_have_value("A kettle.")
    expect(page.get_by_label("Comment")).to_have_value("as we said")
    expect(page.get_by_text(OVER)).to_have_count(0)
    page.get_by_role("button", name="Send: answer").click()
    expect(page.get_by_text("You answered")).to_be_visible()
    assert (recorded(ann, asked)["input"], recorded(ann, asked)["comment"]) == (
        {"text": "A kettle."},
        "as we said",
    )

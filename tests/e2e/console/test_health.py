"""The page of health: models, keys and the audit trail. For admins."""

import re
from datetime import UTC, datetime
from typing import Any, Literal

import pytest
from playwright.sync_api import expect

from acta.engine.recovery.store import ROUNDS, RoundCounts
from tests.e2e.conftest import Admit, Screens
from tests.e2e.support.behind import Behind
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
    started = trail.get_by_role("row").filter(has_text="session.start").get_by_role("link", name="a session")
    expect(started).to_have_attribute("href", f"/console/sessions/{session}")
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        screen.accessible()
        screen.picture(f"health-{theme}")
    page.get_by_label("Action").fill("session.delete")
    page.get_by_label("Action").press("Enter")
    expect(page.get_by_text("There is no such record.")).to_be_visible()


def test_an_admin_sees_the_release_its_limits_and_when_recovery_looked_last(
    screen: Screen, admit: Admit, behind: Behind
) -> None:
    person = admit(role="admin")
    for round in ROUNDS:
        behind.recover(round)
    health = person.data("/v1/admin/health")
    page = screen.sign_in(person, "admin", "member", place="health")
    deployment = page.get_by_role("region", name="This deployment")
    expect(deployment).to_contain_text("Environmentlocal")
    expect(deployment).to_contain_text(f"reads version {health['schema']['reads']}")
    expect(deployment).to_contain_text("Audit trailis recorded")
    expect(deployment).to_contain_text(
        "Limitsnone" if health["limits"]["tokens_per_hour"] is None else "tokens an hour"
    )
    expect(deployment).to_contain_text(re.compile("Recoverylooked (just now|[0-9]+ s ago)"))
    expect(deployment.get_by_text("It is late")).to_have_count(0)
    screen.accessible()


@pytest.mark.parametrize(
    ("recovery", "said"),
    [
        ({"last_scan": None, "late": True}, "has not looked yet It is late"),
        (
            {"late": False, "last_scan": {"restarted": 2, "unanswered": 1}},
            "2 restarted, 1 requests that AWS did not answer",
        ),
    ],
)
def test_what_recovery_did_is_said_in_words(
    screen: Screen, admit: Admit, recovery: dict[str, Any], said: str
) -> None:
    person = admit(role="admin")
    health = person.data("/v1/admin/health")
    if recovery["last_scan"]:
        at = datetime.now(UTC).isoformat()
        recovery["last_scan"] = {
            **dict.fromkeys(RoundCounts._fields, 0),
            "ended_at": at,
            **recovery["last_scan"],
        }
    told = {"success": True, "data": {**health, "recovery": recovery}}
    screen.context.route("**/v1/admin/health", lambda route: route.fulfill(json=told))
    page = screen.sign_in(person, "admin", "member", place="health")
    expect(page.get_by_role("region", name="This deployment")).to_contain_text(said)
    screen.accessible()


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

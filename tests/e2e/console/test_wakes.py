"""Schedules and triggers on the page: when the next times come, what became of each, and what people do about it."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Admit
from tests.e2e.sessions.test_triggers import deliver, trigger, with_secret
from tests.e2e.support.screen import PHONE, Screen

pytestmark = pytest.mark.thorough

WEEKDAYS = {
    "schedule_id": "morning",
    "agent_id": "default",
    "goal": "Report of {{date}}.",
    "cron": "0 8 * * 1-5",
    "timezone": "Europe/Berlin",
}


def test_a_schedule_shows_its_next_times_and_what_became_of_each_and_is_run_and_paused(
    screen: Screen, admit: Admit
) -> None:
    ann = admit()
    assert ann.post("/v1/schedules", WEEKDAYS).status_code == 201
    page = screen.sign_in(ann, "member", place="schedules")
    row = page.get_by_role("table", name="Schedules").get_by_role("row").nth(1)
    expect(row).to_contain_text("0 8 * * 1-5, Europe/Berlin")
    expect(page.get_by_role("link", name="Triggers")).to_have_count(0)
    screen.accessible()
    row.get_by_role("link", name="morning").click()
    times = page.get_by_role("definition").get_by_role("listitem")
    expect(times).to_have_count(5)
    expect(times.first).to_have_text(re.compile("day, .* 0?8:00"))

    page.get_by_role("button", name="Run now").click()
    run = page.get_by_role("table", name="History").get_by_role("row").nth(1)
    expect(run).to_contain_text("started, asked for")
    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("paused", exact=True)).to_be_visible()
    screen.accessible()
    screen.picture("schedule")
    run.get_by_role("link").click()
    expect(page.get_by_text("Started by schedule morning")).to_be_visible()
    page.goto(f"{screen.url}/console/sessions")
    expect(page.get_by_role("link", name="schedule morning")).to_be_visible()
    page.set_viewport_size(PHONE)
    page.get_by_role("link", name="schedule morning").click()
    expect(page.get_by_role("button", name="Resume")).to_be_visible()
    screen.accessible()


def test_a_trigger_shows_the_events_that_were_refused_and_an_admin_replays_one(
    screen: Screen, admit: Admit
) -> None:
    admin = with_secret(admit(role="admin"))
    url = trigger(admin)
    assert admin.post("/v1/triggers/issues/pause").status_code == 200
    deliver(url, {"issue": {"title": "Broken"}})
    page = screen.sign_in(admin, "admin", "member", place="schedules")
    page.get_by_role("link", name="Triggers").click()
    page.get_by_role("table", name="Triggers").get_by_role("link", name="issues").click()
    page.get_by_role("link", name="refused").click()
    event = page.get_by_role("table", name="Events").get_by_role("row").nth(1)
    expect(event).to_contain_text("The trigger is paused.")
    screen.accessible()
    screen.picture("trigger")
    event.get_by_role("button", name="Replay").click()
    expect(page.get_by_role("alert")).to_contain_text("Resume it, then replay the event.")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    event.get_by_role("button", name="Replay").click()
    expect(page.get_by_text("There is none.")).to_be_visible()
    page.get_by_role("link", name="all", exact=True).click()
    expect(event).to_contain_text(re.compile("waiting|started"))

"""What somebody has written and not sent: it outlasts a reload and another page, and ends with what it was for."""

import json

import pytest
from playwright.sync_api import Dialog, Page, expect

from tests.e2e.conftest import Admit, Screens
from tests.e2e.console.test_inbox import deletion, place, question, recorded
from tests.e2e.support.person import Person
from tests.e2e.support.screen import PHONE, Screen

KEPT = "Not sent yet, kept in this tab."
DRAFTS = "Object.keys(sessionStorage).filter(name => name.startsWith('acta.draft.')).length"


def drafts(page: Page) -> int:
    return int(page.evaluate(DRAFTS))


def questions(page: Page) -> list[str]:
    """The kinds of questions that the browser asks from now on, each answered with yes."""
    asked: list[str] = []

    def answer(dialog: Dialog) -> None:
        asked.append(dialog.type)
        dialog.accept()

    page.on("dialog", answer)
    return asked


def test_a_half_written_answer_outlasts_a_reload_and_is_gone_once_it_is_sent(
    screen: Screen, ann: Person
) -> None:
    asked = question(ann.asked(ann.start("Create the file notes.md")))
    page = screen.sign_in(ann, place=place(asked))
    page.get_by_label("Your answer").fill("A kettle, and")
    page.get_by_text("Comment (optional)").click()
    page.get_by_label("Comment").fill("as we said")
    expect(page.get_by_text(KEPT)).to_have_count(2)
    screen.accessible()
    screen.picture("unsent")
    page.reload()
    expect(page.get_by_label("Your answer")).to_have_value("A kettle, and")
    page.get_by_role("link", name="Sessions").click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    page.go_back()
    expect(page.get_by_label("Comment")).to_have_value("as we said")
    page.get_by_label("Your answer").fill("A kettle.")
    page.get_by_role("button", name="Send: answer").click()
    expect(page.get_by_text("You answered")).to_be_visible()
    assert (recorded(ann, asked)["input"], recorded(ann, asked)["comment"]) == (
        {"text": "A kettle."},
        "as we said",
    )
    assert drafts(page) == 0


def test_nobody_else_in_the_tab_sees_it_and_signing_out_leaves_nothing(
    screen: Screen, ann: Person, admit: Admit
) -> None:
    page = screen.sign_in(ann, place="sessions/new")
    page.get_by_label("What is to be done?").fill("Ann's secret goal")
    assert drafts(page) == 1
    page.goto(screen.link(admit(ann.tenant, "ben"), place="sessions/new"))
    expect(page.get_by_label("What is to be done?")).to_have_value("")
    assert drafts(page) == 0
    page.get_by_label("What is to be done?").fill("Ben's")
    page.get_by_text("ben", exact=True).click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_text("You have signed out")).to_be_visible()
    assert drafts(page) == 0


@pytest.mark.thorough
def test_a_goal_is_there_after_a_sign_in_that_ended_and_files_are_asked_about(
    screen: Screen, ann: Person
) -> None:
    page = screen.sign_in(ann, place="sessions/new")
    page.get_by_label("What is to be done?").click()
    page.get_by_label("What is to be done?").fill("List my files")
    page.get_by_label("Drop files for it here").set_input_files(
        {"name": "a.md", "mimeType": "text/plain", "buffer": b"x"}
    )
    page.get_by_role("link", name="Back to the sessions").click()
    page.get_by_role("link", name="Start a session").click()
    expect(page.get_by_text("a.md")).to_be_visible()
    asked = questions(page)
    page.reload()
    assert asked == ["beforeunload"]
    expect(page.get_by_label("What is to be done?")).to_have_value("List my files")
    expect(page.get_by_text(KEPT)).to_be_visible()
    page.reload()
    assert asked == ["beforeunload"], "what is kept needs no question"
    page.get_by_role("button", name="Start", exact=True).click()
    page.wait_for_url(lambda url: "/console/sessions/ses_" in url)
    assert drafts(page) == 0


@pytest.mark.thorough
def test_what_is_too_long_to_be_kept_says_so_and_is_asked_about(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann, place="sessions/new")
    page.get_by_label("What is to be done?").click()
    page.evaluate(
        "sessionStorage.setItem('full', 'x'.repeat(5_242_000 - JSON.stringify(sessionStorage).length))"
    )
    page.get_by_label("What is to be done?").fill("word " * 2_000)
    expect(page.get_by_text("too long to keep")).to_be_visible()
    screen.accessible()
    asked = questions(page)
    page.reload()
    assert asked == ["beforeunload"]


@pytest.mark.thorough
def test_a_message_a_corrected_plan_and_another_input_are_kept(screen: Screen, ann: Person) -> None:
    ann.put_file("notes.md", "# Notes\n")
    session_id = ann.start("List all files and write a summary to summary.md", review_every=1)
    ann.asked(session_id)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    page.get_by_label("Say something").fill("And be quick")
    page.get_by_role("button", name="Correct the plan").click()
    dialog = page.get_by_role("dialog", name="Correct the plan")
    dialog.get_by_label("Step 3").fill("Write it in one sentence")
    page.reload()
    expect(dialog.get_by_label("Step 3")).to_have_value("Write it in one sentence")
    screen.accessible()
    dialog.get_by_role("button", name="Save the plan").click()
    expect(page.locator(".steps")).to_contain_text("Write it in one sentence")
    expect(page.get_by_label("Say something")).to_have_value("And be quick")
    page.get_by_role("button", name="Throw it away").click()
    expect(page.get_by_label("Say something")).to_have_value("")
    assert drafts(page) == 0
    asked = deletion(ann, "old.txt")
    page.goto(f"{screen.url}/console/{place(asked)}")
    page.get_by_role("button", name="Change it").click()
    page.get_by_label("path", exact=True).fill("other.txt")
    page.reload()
    expect(page.get_by_label("path", exact=True)).to_have_value("other.txt")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)


@pytest.mark.thorough
def test_editors_open_again_with_what_was_written_and_what_it_began_with(
    screens: Screens, admit: Admit
) -> None:
    boss = admit(role="admin")
    assert boss.post("/v1/agents", {"agent_id": "desk", "name": "Desk"}).status_code == 201
    screen = screens(viewport=PHONE)
    page = screen.sign_in(boss, "admin", "member", place="agents/desk")
    page.get_by_role("button", name="Edit").click()
    mine = json.dumps({"name": "Desk", "goal": "Mine"})
    page.get_by_label("The agent as JSON").fill(mine)
    assert boss.http.put("/v1/agents/desk", json={"name": "Desk", "goal": "Theirs"}).status_code == 200
    page.reload()
    expect(page.get_by_label("The agent as JSON")).to_have_value(mine)
    expect(page.get_by_role("alert", name="Changed meanwhile").get_by_text("Theirs")).to_be_visible()
    screen.accessible()
    page.get_by_role("button", name="Throw my text away").click()
    assert drafts(page) == 0
    page.goto(f"{screen.url}/console/prompts/agent_planning_system")
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("Plan in two steps.")
    page.reload()
    expect(page.get_by_label("Text", exact=True)).to_have_value("Plan in two steps.")


@pytest.mark.thorough
def test_a_memory_that_somebody_changed_meanwhile_is_shown_beside_what_was_kept(
    screen: Screen, ann: Person
) -> None:
    made = ann.post("/v1/memories", {"kind": "fact", "text": "Fred is a plant"}).json()["data"]
    page = screen.sign_in(ann, place="memories")
    page.get_by_role("button", name="Edit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What is remembered").fill("Fred is a fern")
    page.keyboard.press("Escape")
    path = f"/v1/memories/{made['memory_id']}"
    assert ann.http.put(path, json={"kind": "fact", "text": "Fred is a cactus"}).status_code == 200
    page.reload()
    expect(page.get_by_text("not saved yet")).to_be_visible()
    page.get_by_role("button", name="Edit").click()
    expect(dialog.get_by_label("What is remembered")).to_have_value("Fred is a fern")
    expect(dialog).to_contain_text("Fred is a cactus")
    dialog.get_by_role("button", name="Save mine anyway").click()
    expect(page.locator(".card")).to_contain_text("Fred is a fern")
    assert drafts(page) == 0

"""The page of a session: what a person does about one that is at work."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.support.behind import Behind
from tests.e2e.support.gate import Gate
from tests.e2e.support.person import Json, Person
from tests.e2e.support.screen import Screen
from tests.e2e.support.thinking import calls, end, plan

pytestmark = pytest.mark.thorough

GOAL = "List all files and write a summary to summary.md"


def asking(person: Person) -> str:
    """A session that waits for a look at its first turn."""
    person.put_file("notes.md", "# Notes\nA line.\n")
    session_id = person.start(GOAL, review_every=1)
    person.asked(session_id)
    return session_id


def now(person: Person, session_id: str) -> Json:
    session: Json = person.data(f"/v1/sessions/{session_id}")["session"]
    return session


def steer(page: Page, name: str) -> None:
    page.get_by_role("group", name="What to do with the session").get_by_role("button", name=name).click()


def test_the_plan_is_corrected_while_the_agent_works_and_the_versions_show_how(
    screen: Screen, ann: Person
) -> None:
    session_id = asking(ann)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    page.get_by_role("button", name="Correct the plan").click()
    dialog = page.get_by_role("dialog", name="Correct the plan")
    screen.accessible()
    dialog.get_by_label("Step 3").fill("Write summary.md in one sentence")
    dialog.get_by_role("button", name="Add a step").click()
    dialog.get_by_label("New step").fill(f"Check <b>it</b> {'x' * 500}")
    screen.picture("session-plan-editor")
    dialog.get_by_role("button", name="Save the plan").click()
    expect(page.locator(".steps")).to_contain_text("Write summary.md in one sentence")
    expect(page.locator(".steps")).to_contain_text("Check <b>it</b>")
    assert now(ann, session_id)["plan"]["version"] == 2
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_text("Versions of the plan").click()
    second = page.get_by_role("region", name="Version 2")
    expect(second.locator(".added")).to_have_count(2)
    expect(second.locator(".removed")).to_have_count(1)
    screen.accessible()
    screen.picture("session-versions")


def test_a_plan_that_changed_meanwhile_is_not_overwritten(screen: Screen, ann: Person) -> None:
    session_id = asking(ann)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    page.get_by_role("button", name="Correct the plan").click()
    dialog = page.get_by_role("dialog", name="Correct the plan")
    dialog.get_by_label("Step 3").fill("Mine")
    edit = {"operations": [{"op": "edit", "step_number": 3, "description": "Theirs"}]}
    assert ann.patch(f"/v1/sessions/{session_id}/plan", edit, If_Match='"1"').status_code == 200
    expect(dialog.get_by_text("The plan has changed meanwhile")).to_be_visible(timeout=30_000)
    dialog.get_by_role("button", name="Save the plan").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_role("button", name="Leave it").click()
    expect(page.locator(".steps")).to_contain_text("Theirs")


def test_step_by_step_is_turned_off_and_on(screen: Screen, ann: Person) -> None:
    session_id = asking(ann)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    button = page.get_by_role("button", name="Step by step")
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    assert now(ann, session_id)["limits"]["review_every"] == 0
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    assert now(ann, session_id)["limits"]["review_every"] == 1


def test_limits_are_raised_and_a_refusal_says_why(screen: Screen, ann: Person) -> None:
    session_id = asking(ann)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    steer(page, "Limits")
    dialog = page.get_by_role("dialog", name="Limits")
    dialog.get_by_label("Tokens").fill("1")
    dialog.get_by_role("button", name="Change the limits").click()
    expect(dialog.get_by_role("alert")).to_be_visible()
    screen.accessible()
    dialog.get_by_label("Tokens").fill("400000")
    dialog.get_by_label("Turns").fill("60")
    dialog.get_by_role("button", name="Change the limits").click()
    expect(page.locator(".bars")).to_contain_text("of 60")
    expect(page.locator(".bars")).to_contain_text("of 400,000")


def test_a_session_is_cancelled_once_the_person_is_sure(screen: Screen, ann: Person) -> None:
    session_id = asking(ann)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    steer(page, "Cancel")
    page.get_by_role("button", name="Leave it").click()
    assert now(ann, session_id)["state"] == "waiting_for_user"
    steer(page, "Cancel")
    screen.accessible()
    page.get_by_role("button", name="Cancel the run").click()
    expect(page.locator(".state")).to_have_text("Cancelled")
    expect(page.get_by_role("button", name="Step by step")).to_have_count(0)


@pytest.fixture
def gate(behind: Behind, llmock_server: Any) -> Iterator[Gate]:
    """The step function talks to the model through a gate."""
    with Gate(llmock_server.port) as gate:
        base_url = gate.url + llmock_server.base_url("anthropic").removeprefix(llmock_server.url)
        key = {"ACTA_PROVIDER": "anthropic", "ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": base_url}
        with behind.configured("step", **key):
            yield gate


def test_a_run_is_paused_and_resumed(screen: Screen, ann: Person, gate: Gate, llmock: Any) -> None:
    llmock.tool_mode("off").add(
        plan(), calls(("create_file", {"path": "made.txt", "content": "made"})), end()
    )
    page = screen.sign_in(ann, place=f"sessions/{ann.start()}")
    expect(page.locator(".state")).to_have_text("No goal yet")
    screen.accessible()
    page.get_by_label("Say something").fill(GOAL)
    gate.shut()
    page.get_by_role("button", name="Send").click()
    gate.wait_for_a_request()
    steer(page, "Pause")
    expect(page.locator(".state")).to_have_text("Paused", timeout=20_000)
    expect(page.get_by_text("It goes on when somebody resumes it.")).to_be_visible()
    gate.open()
    steer(page, "Resume")
    expect(page.locator(".state")).to_have_text("Goal met", timeout=40_000)


def test_a_fork_goes_on_from_the_chosen_turn(screen: Screen, ann: Person) -> None:
    ann.put_file("notes.md", "# Notes\nA line.\n")
    session_id = ann.start(GOAL)
    ann.finished(session_id)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    page.get_by_role("treeitem").filter(has_text="list_files").first.click()
    steer(page, "Try again from the chosen row")
    page.get_by_label("A message there").fill("List all files")
    page.get_by_role("button", name="Start the other session").click()
    expect(page.get_by_role("link", name="begun from another session")).to_be_visible()
    assert session_id not in page.url


def test_copied_words_for_programs_name_no_token(screen: Screen, ann: Person) -> None:
    session_id = asking(ann)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    page.get_by_text("As curl and JSON").click()
    screen.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as curl").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert "$ACTA_TOKEN" in copied
    assert f"/v1/sessions/{session_id}" in copied
    assert "eyJ" not in copied
    expect(page.get_by_label("The session as JSON")).to_contain_text('"review_every": 1')
    screen.accessible()


def test_a_question_is_decided_where_the_work_is_seen(screen: Screen, ann: Person) -> None:
    session_id = asking(ann)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    question = page.get_by_role("region", name="Waits for a decision")
    expect(page.get_by_role("heading", name="Steer this session")).to_be_visible()
    screen.accessible()
    screen.picture("session-asks")
    question.get_by_role("button", name="Continue").click()
    expect(
        page.get_by_role("treeitem").filter(has_text=re.compile("Decided: continue, by .ann"))
    ).to_have_count(1)

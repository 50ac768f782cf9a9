"""The pages of agents and tools: read by members, changed and tried by admins; who is overtaken loses nothing."""

import json
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Admit, Screens
from tests.e2e.support.person import Person
from tests.e2e.support.screen import PHONE, Screen

pytestmark = pytest.mark.thorough

DESK = {"agent_id": "desk", "name": "Desk", "goal": "Answers customers", "tools": ["read_file", "list_files"]}


def made(person: Person) -> Any:
    answer = person.post("/v1/agents", DESK)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def in_both_themes(screen: Screen, page: Page, name: str) -> None:
    themes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for theme in themes:
        page.emulate_media(color_scheme=theme)
        screen.accessible()
        screen.picture(f"{name}-{theme}")


def test_an_agent_is_made_changed_and_deleted(screen: Screen, admit: Admit) -> None:
    person = admit(role="admin")
    page = screen.sign_in(person, "admin", "member", place="agents")
    page.get_by_role("button", name="New agent").click()
    text = page.get_by_label("The agent as JSON")
    text.fill(json.dumps({**DESK, "tools": ["nobody_has_it"]}))
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("alert").get_by_text("tools", exact=True)).to_be_visible()
    in_both_themes(screen, page, "agent-refused")
    text.fill("{")
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("alert")).to_contain_text("This is not JSON")
    text.fill(json.dumps(DESK))
    page.get_by_role("button", name="Make it").click()
    expect(page.get_by_role("heading", name="Desk")).to_be_visible()
    in_both_themes(screen, page, "agent")
    page.get_by_role("button", name="Edit").click()
    fields = json.loads(text.input_value())
    text.fill(json.dumps({**fields, "goal": "Answers in their language"}))
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Answers in their language").first).to_be_visible()
    assert person.data("/v1/agents/desk")["version"] == 2
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Agents")).to_be_visible()
    assert person.get("/v1/agents/desk").status_code == 404


def test_the_agents_that_one_may_call_are_shown_and_one_of_them_is_deleted_only_by_a_second_yes(
    screen: Screen, admit: Admit
) -> None:
    person = admit(role="admin")
    made(person)
    entry = {"agent": "desk", "as": "ask_desk", "caps": {"max_steps": 5}, "files": "given"}
    boss = {"agent_id": "boss", "name": "Boss", "agents": [entry]}
    assert person.post("/v1/agents", boss).status_code == 201
    page = screen.sign_in(person, "admin", "member", place="agents/boss")
    called = page.get_by_role("definition").filter(has_text="as ask_desk")
    expect(called).to_contain_text("desk: as ask_desk, max steps 5, only the files that it is given")
    in_both_themes(screen, page, "agent-that-calls")
    called.get_by_role("link", name="desk").click()
    page.get_by_role("button", name="Delete").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Delete").click()
    expect(dialog.get_by_role("alert")).to_contain_text("boss")
    dialog.get_by_role("button", name="Delete anyway").click()
    expect(page.get_by_text("What it names is missing")).to_be_visible()
    assert person.get("/v1/agents/desk").status_code == 404


def test_who_was_faster_takes_nothing_away(screen: Screen, admit: Admit) -> None:
    person = admit(role="admin")
    agent = made(person)
    page = screen.sign_in(person, "admin", "member", place="agents/desk")
    page.get_by_role("button", name="Edit").click()
    text = page.get_by_label("The agent as JSON")
    mine = json.dumps({"name": "Desk", "goal": "Mine"})
    text.fill(mine)
    theirs = person.http.put("/v1/agents/desk", json={"name": "Desk", "goal": "Theirs"})
    assert theirs.json()["data"]["version"] == agent["version"] + 1
    page.get_by_role("button", name="Save").click()
    meanwhile = page.get_by_role("alert", name="Changed meanwhile")
    expect(meanwhile.get_by_text("Theirs")).to_be_visible()
    expect(text).to_have_value(mine)
    screen.accessible()
    page.get_by_role("button", name="Keep my text").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Edit")).to_be_visible()
    assert person.data("/v1/agents/desk")["goal"] == "Mine"


def test_a_tool_says_what_it_is_and_who_uses_it(screen: Screen, admit: Admit) -> None:
    person = admit(role="admin")
    made(person)
    page = screen.sign_in(person, "admin", "member", place="tools")
    expect(page.get_by_role("row").filter(has_text="delete_file")).to_contain_text("a person")
    in_both_themes(screen, page, "tools")
    page.get_by_role("link", name="read_file").click()
    expect(page.get_by_role("link", name="Desk")).to_be_visible()
    expect(page.get_by_text("It works only in a session: start one to try it.")).to_be_visible()
    expect(page.get_by_role("button", name="Call it")).to_have_count(0)
    in_both_themes(screen, page, "tool")


def test_a_member_reads_them_and_has_no_dead_button(screens: Screens, admit: Admit) -> None:
    root = admit(role="admin")
    made(root)
    person = admit(tenant=root.tenant, user="bob")
    screen = screens(viewport=PHONE)
    page = screen.sign_in(person, place="agents")
    page.get_by_role("link", name="Desk").click()
    expect(page.get_by_role("heading", name="Desk")).to_be_visible()
    expect(page.get_by_role("button", name="Edit")).to_have_count(0)
    expect(page.get_by_role("button", name="Delete")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    in_both_themes(screen, page, "agent-phone")
    page.get_by_role("link", name="read_file").click()
    expect(page.get_by_role("heading", name="What it takes")).to_be_visible()
    expect(page.get_by_role("button", name="Call it")).to_have_count(0)
    screen.accessible()

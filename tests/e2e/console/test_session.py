"""The page of a session: what it shows while and after the agent works, and what a person does there."""

from playwright.sync_api import Page, expect

from tests.e2e.conftest import Screens
from tests.e2e.support.person import Person
from tests.e2e.support.screen import PHONE, Screen

GOAL = "List all files and write a summary to summary.md"


def ended(person: Person, goal: str = GOAL) -> str:
    person.put_file("notes.md", "# Notes\nA line.\n")
    session_id = person.start(goal)
    person.finished(session_id)
    return session_id


def test_a_goal_is_followed_to_its_end_without_a_reload(screen: Screen, ann: Person) -> None:
    ann.put_file("notes.md", "# Notes\nA line.\n")
    session_id = ann.start(GOAL)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    expect(page.locator(".state")).to_have_text("Goal met", timeout=40_000)
    expect(page.locator(".steps > li.completed")).to_have_count(3)
    expect(page.get_by_role("progressbar", name="Steps")).to_have_js_property("value", 3)
    turns = ann.data(f"/v1/sessions/{session_id}")["session"]["run"]["iteration"]
    expect(page.get_by_role("progressbar", name="Turns")).to_have_js_property("value", turns)
    expect(page.locator(".markdown").first).to_contain_text("Created summary.md")
    expect(page.get_by_role("tree").get_by_text("create_file")).to_be_visible()
    screen.accessible()
    screen.picture("session-done")
    page.emulate_media(color_scheme="dark")
    screen.accessible()
    screen.picture("session-dark")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    assert download.value.path().read_text(encoding="utf-8") == ann.file("summary.md")


def test_a_file_that_it_wrote_leads_to_its_page(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann, place=f"sessions/{ended(ann)}")
    page.get_by_role("link", name="summary.md").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("summary.md")
    expect(page.get_by_role("table", name="Versions")).to_be_visible()


def test_of_a_long_goal_the_beginning_is_shown_and_all_of_it_when_asked(screen: Screen, ann: Person) -> None:
    goal = f"{GOAL}. {'word ' * 300}the last words"
    page = screen.sign_in(ann, place=f"sessions/{ann.start(goal)}")
    shown = page.locator(".quoted").filter(has_text="The goal, as").locator("blockquote")
    expect(shown).to_contain_text("word …")
    page.get_by_role("button", name="Show the whole goal").click()
    expect(shown).to_contain_text("the last words")
    expect(page.get_by_role("button", name="Show the whole goal")).to_have_count(0)
    screen.accessible()


def test_evidence_of_a_step_leads_to_its_call_and_what_the_tool_said(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann, place=f"sessions/{ended(ann)}")
    page.get_by_role("button", name="See call 1: list_files").click()
    detail = page.get_by_role("region", name="Chosen row")
    expect(detail).to_contain_text("notes.md")
    screen.accessible()
    screen.picture("session-detail")


def test_the_trace_is_walked_with_the_keyboard(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann, place=f"sessions/{ended(ann)}")
    tree = page.get_by_role("tree", name="Trace")
    tree.focus()
    page.keyboard.press("Home")
    expect(page.get_by_role("treeitem", selected=True)).to_contain_text("Run started")
    page.keyboard.press("End")
    expect(page.get_by_role("treeitem", selected=True)).to_contain_text("Ended")
    call = page.get_by_role("treeitem").filter(has_text="list_files")
    call.click()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("treeitem").filter(has_text="Observation")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("treeitem").filter(has_text="Observation")).to_have_count(0)


def test_the_waterfall_has_every_step_of_the_log(screen: Screen, ann: Person) -> None:
    session_id = ended(ann)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    page.get_by_role("button", name="Waterfall").click()
    bars = page.get_by_role("list", name="Waterfall").get_by_role("listitem")
    expect(bars).to_have_count(len(ann.items(f"/v1/sessions/{session_id}/steps")))
    expect(bars.first).to_contain_text("Planning")
    screen.accessible()
    screen.picture("session-waterfall")
    page.get_by_role("button", name="See call 1: list_files").click()
    expect(page.get_by_role("region", name="Chosen row")).to_contain_text("notes.md")


def test_an_answer_is_rated_and_why_by_keyboard_and_the_usage_shows_it(screen: Screen, ann: Person) -> None:
    session_id = ended(ann)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    choices = page.get_by_role("group", name="Rate the answer")
    good, bad = (choices.get_by_role("button", name=name) for name in ("Good answer", "Bad answer"))
    expect(page.get_by_label("Why?")).to_have_count(0)
    good.focus()
    page.keyboard.press("Enter")
    expect(good).to_have_attribute("aria-pressed", "true")
    expect(choices).to_contain_text("1 good, 0 bad")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(bad).to_have_attribute("aria-pressed", "true")
    expect(good).to_have_attribute("aria-pressed", "false")
    page.get_by_label("Why?").fill("A file is missing.")
    screen.accessible()
    page.get_by_role("button", name="Send the comment").press("Enter")
    expect(page.get_by_role("figure").filter(has_text=f"{ann.name} says of the answer")).to_contain_text(
        "A file is missing."
    )
    screen.accessible()
    screen.picture("session-rated")
    shown = ann.data(f"/v1/sessions/{session_id}")["session"]["ratings"]
    assert [(one["by"], one["rating"]) for one in shown] == [(ann.name, "down")]


def test_a_word_to_an_ended_session_begins_its_next_run(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann, place=f"sessions/{ended(ann)}")
    page.get_by_label("Say something").fill("List all files")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_role("treeitem").filter(has_text="List all files")).to_have_count(2, timeout=40_000)
    expect(page.get_by_label("Say something")).to_have_value("")


def test_a_deleted_session_says_so_and_an_open_page_of_it_too(screen: Screen, ann: Person) -> None:
    session_id = ended(ann)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    other = screen.open(f"sessions/{session_id}")
    page.bring_to_front()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete for good").click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    other.bring_to_front()
    expect(other.get_by_role("heading", name="There is no such session")).to_be_visible(timeout=15_000)
    screen.accessible(other)


def test_two_tabs_show_the_same_and_a_reload_in_mid_air_loses_nothing(screen: Screen, ann: Person) -> None:
    session_id = ann.start(GOAL)
    first = screen.sign_in(ann, place=f"sessions/{session_id}")
    second = screen.open(f"sessions/{session_id}")
    first.reload()
    for page in (first, second):
        expect(page.locator(".state")).to_have_text("Goal met", timeout=40_000)
        expect(page.get_by_role("treeitem").filter(has_text="Ended")).to_have_count(1)
        assert rows(page) == rows(first)


def test_while_nobody_answers_it_says_since_when_and_goes_on_by_itself(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann, place=f"sessions/{ended(ann)}")
    expect(page.locator(".state")).to_have_text("Goal met")
    screen.context.set_offline(True)
    expect(page.get_by_text("What you see is from")).to_be_visible(timeout=15_000)
    expect(page.locator(".live")).to_have_count(0)
    screen.context.set_offline(False)
    expect(page.get_by_text("What you see is from")).to_have_count(0)
    expect(page.locator(".state")).to_have_text("Goal met")


def test_it_fits_a_phone(screens: Screens, ann: Person) -> None:
    screen = screens(viewport=PHONE)
    page = screen.sign_in(ann, place=f"sessions/{ended(ann)}")
    expect(page.locator(".markdown").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    screen.accessible()
    screen.picture("session-phone")


def rows(page: Page) -> list[str]:
    texts: list[str] = page.get_by_role("treeitem").all_inner_texts()
    return texts

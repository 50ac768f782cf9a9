"""The list of sessions: looked through, several cancelled, and a new one started with files."""

import re

import pytest
from playwright.sync_api import Route, expect

from tests.e2e.conftest import Admit, Screens
from tests.e2e.support.person import Person
from tests.e2e.support.screen import PHONE, Screen

HOSTILE = "<img src=x onerror=alert(1)><script>alert(1)</script> \u202egnp.exe ✔ Goal met"


def waiting(person: Person, goal: str) -> str:
    """A session that is open until somebody ends it: it asks before it spends what it does not have."""
    session_id = person.start(goal, token_budget=1)
    person.asked(session_id)
    return session_id


def test_sessions_are_found_by_words_state_agent_person_and_metadata(
    screen: Screen, ann: Person, admit: Admit
) -> None:
    ann.start("Count the apples", metadata={"team": "fruit"})
    bob = admit(tenant=ann.tenant, user="bob")
    bob.start("Count the beans")
    ann.start()
    page = screen.sign_in(ann, place="sessions")
    expect(page.locator("a.goal")).to_have_count(3)
    screen.picture("sessions")
    page.get_by_label("Words in the goal").fill("COUNT")
    page.get_by_label("Words in the goal").press("Enter")
    expect(page.locator("a.goal")).to_have_text(["Count the beans", "Count the apples"])
    page.get_by_label("Mine").check()
    expect(page.locator("a.goal")).to_have_text(["Count the apples"])
    page.get_by_label("Metadata").fill("team=veg")
    page.get_by_label("Metadata").press("Enter")
    expect(page.get_by_text("No session fits")).to_be_visible()
    screen.accessible()
    page.reload()
    expect(page.get_by_label("Metadata")).to_have_value("team=veg")
    page.get_by_role("button", name="Show all").click()
    expect(page.locator("a.goal")).to_have_count(3)
    page.get_by_label("State").select_option("No goal yet")
    expect(page.locator("a.goal")).to_have_text([re.compile("^Session ")])


@pytest.mark.parametrize("width", [390, 320])
def test_agents_are_read_by_name_and_a_long_name_makes_no_page_wider(
    screens: Screens, ann: Person, admit: Admit, width: int
) -> None:
    name = "Order desk of the branch in Llanfairpwllgwyngyll, nights and weekends"
    boss = admit(ann.tenant, "boss", "admin")
    agent = boss.post("/v1/agents", {"name": name}).json()["data"]["agent_id"]
    session = ann.start("Create the file notes.md", agent_id=agent)
    ann.asked(session)
    screen = screens(viewport={"width": width, "height": 740})
    page = screen.sign_in(ann, place="sessions")
    for place in ("sessions", f"sessions/{session}", "memories", "inbox"):
        page.goto(f"{screen.url}/console/{place}")
        expect(page.get_by_text(name).first).to_be_attached()
        assert agent not in page.locator("main").inner_text(), place
        assert page.evaluate("document.documentElement.scrollWidth") <= width, place
        screen.picture(f"named-{width}-{place.partition('/')[0]}{len(place) > 20}")


def test_completed_sessions_are_told_apart_by_whether_their_goal_was_met(screen: Screen, ann: Person) -> None:
    ann.put_file("notes.md", "# Notes\n")
    met = ann.start("List all files and write a summary to summary.md")
    unmet = ann.start("Write a short note about snow", max_steps=1)
    for session in (met, unmet):
        ann.finished(session)
    if ann.get("/v1/sessions", goal_met="true").status_code != 200:
        pytest.skip("the stack that is up was deployed before they could be told apart")
    page = screen.sign_in(ann, place="sessions")
    page.get_by_label("State").select_option("Goal met")
    expect(page.locator("a.goal")).to_have_text(["List all files and write a summary to summary.md"])
    page.get_by_label("State").select_option("Ended without the goal")
    expect(page.locator("a.goal")).to_have_text(["Write a short note about snow"])
    page.reload()
    expect(page.get_by_label("State")).to_have_value("unmet")


def test_a_session_that_somebody_starts_appears_by_itself(screen: Screen, ann: Person) -> None:
    page = screen.sign_in(ann, place="sessions")
    expect(page.get_by_text("Nobody has started a session yet")).to_be_visible()
    ann.start("Count the pears")
    expect(page.get_by_role("link", name="Count the pears")).to_be_visible(timeout=15_000)


@pytest.mark.thorough
def test_a_long_list_has_pages_and_back_leads_to_the_one_before(screen: Screen, ann: Person) -> None:
    for number in range(27):
        ann.start(metadata={"number": str(number)})
    page = screen.sign_in(ann, place="sessions")
    expect(page.locator("a.goal")).to_have_count(25)
    page.get_by_role("link", name="Next page").click()
    expect(page.locator("a.goal")).to_have_count(2)
    page.go_back()
    expect(page.locator("a.goal")).to_have_count(25)


def test_several_are_cancelled_after_one_question_and_each_says_what_became_of_it(
    screen: Screen, ann: Person
) -> None:
    first, second, kept = (waiting(ann, f"Summarise {name}") for name in ("one", "two", "three"))
    page = screen.sign_in(ann, place="sessions")
    for name in ("one", "two"):
        page.get_by_role("checkbox", name=f"Choose Summarise {name}").check()
    failing = re.compile(f"/v1/sessions/{second}/cancel$")
    page.route(failing, _unavailable)
    page.get_by_role("button", name="Cancel 2 sessions").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name="Leave them")).to_be_focused()
    screen.accessible()
    dialog.get_by_role("button", name="Cancel 2 sessions").click()
    expect(dialog.get_by_role("listitem").filter(has_text="Summarise one")).to_contain_text("✔ cancelled")
    expect(dialog.get_by_role("listitem").filter(has_text="Summarise two")).to_contain_text(
        "not cancelled: Busy. Come again."
    )
    screen.picture("cancelled")
    page.unroute(failing)
    dialog.get_by_role("button", name="Try again").click()
    expect(dialog.get_by_text("✔ cancelled")).to_have_count(2)
    dialog.get_by_role("button", name="Close").click()
    states = {each: ann.snapshot(each)["state"] for each in (first, second, kept)}
    assert states == {first: "cancelled", second: "cancelled", kept: "waiting_for_user"}


def test_leaving_the_question_cancels_nothing_and_gives_the_focus_back(screen: Screen, ann: Person) -> None:
    session_id = waiting(ann, "Summarise one")
    page = screen.sign_in(ann, place="sessions")
    page.get_by_role("checkbox", name="Choose all that are open").focus()
    page.keyboard.press("Space")
    button = page.get_by_role("button", name="Cancel 1 session")
    button.focus()
    page.keyboard.press("Enter")
    page.get_by_role("dialog").wait_for()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()
    assert ann.snapshot(session_id)["state"] == "waiting_for_user"


def test_a_session_is_started_with_files_whose_names_exist_already(screen: Screen, ann: Person) -> None:
    ann.put_file("notes.md", "old")
    page = screen.sign_in(ann, place="sessions")
    page.get_by_role("link", name="Start a session").click()
    page.get_by_label("What is to be done?").fill("List all files and write a summary to summary.md")
    page.get_by_label("Drop files for it here").set_input_files(
        [{"name": name, "mimeType": "text/html", "buffer": b"new"} for name in ("notes.md", "<b>.html")]
    )
    page.get_by_text("Limits", exact=True).click()
    page.get_by_label("Turns at most").fill("7")
    page.get_by_role("link", name="Sessions", exact=True).click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    page.go_back()  # what was written, its limits too, is still there
    page.get_by_text("Limits", exact=True).click()
    expect(page.get_by_label("Turns at most")).to_have_value("7")
    screen.accessible()
    screen.picture("new-session")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/console/sessions/(?!new)"))
    session_id = page.url.rpartition("/")[2]
    session = ann.finished(session_id).session
    assert session["limits"]["max_steps"] == 7
    assert session["goal"].endswith("Files:\n- notes (2).md\n- <b>.html")
    assert [ann.file(path) for path in ("notes.md", "notes (2).md", "<b>.html")] == ["old", "new", "new"]


def test_a_private_session_takes_its_files_to_where_nobody_else_sees_them(
    screen: Screen, ann: Person
) -> None:
    page = screen.sign_in(ann, place="sessions/new")
    page.get_by_label("What is to be done?").fill("List my files")
    page.get_by_label("Drop files for it here").set_input_files(
        [{"name": "secret.md", "mimeType": "text/plain", "buffer": b"mine"}]
    )
    page.get_by_label("Who may see it").select_option("Only me")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/console/sessions/(?!new)"))
    assert ann.files() & {"secret.md"} == set()
    assert ann.file("~/secret.md") == "mine"
    assert ann.snapshot(page.url.rpartition("/")[2])["visibility"] == "private"


def test_a_file_that_is_refused_starts_nothing_and_the_others_are_not_sent_twice(
    screen: Screen, ann: Person
) -> None:
    page = screen.sign_in(ann, place="sessions/new")
    page.get_by_label("What is to be done?").fill("List my files")
    page.get_by_label("Drop files for it here").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": b"x"} for name in ("good.md", "a%20b.md")]
    )
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("a%20b.md")
    expect(page.get_by_text("good.md is stored")).to_be_visible()
    assert ann.items("/v1/sessions") == []
    page.get_by_role("button", name="Take a%20b.md away").click()
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/console/sessions/(?!new)"))
    assert ann.files() == {"good.md"}
    assert len(ann.items("/v1/sessions")) == 1


def test_a_start_whose_answer_is_lost_is_the_same_session_when_it_is_tried_again(
    screen: Screen, ann: Person
) -> None:
    page = screen.sign_in(ann, place="sessions/new")
    page.get_by_label("What is to be done?").fill("List my files")

    def lose(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route("**/v1/sessions", lose)
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("cannot be reached")
    page.unroute("**/v1/sessions", lose)
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/console/sessions/(?!new)"))
    assert len(ann.items("/v1/sessions")) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_hostile_goals_are_text_also_on_a_phone(screens: Screens, ann: Person, scheme: str) -> None:
    ann.start(HOSTILE)
    ann.start("x" * 9_000)
    screen = screens(viewport=PHONE, color_scheme=scheme)
    page = screen.sign_in(ann, place="sessions")
    expect(page.get_by_role("link", name="<img src=x onerror=alert(1)>")).to_contain_text("⟨U+202E⟩")
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    screen.accessible()
    screen.picture(f"sessions-phone-{scheme}")
    page.get_by_role("link", name="Start a session").click()
    screen.accessible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    screen.picture(f"new-session-phone-{scheme}")


def _unavailable(route: Route) -> None:
    error = {"code": "UNAVAILABLE", "message": "Busy. Come again."}
    route.fulfill(status=503, json={"success": False, "error": error})

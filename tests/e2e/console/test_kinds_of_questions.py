"""Each kind of question on the page: its options, what they take, who may choose them, and when it is too late."""

import pytest
from playwright.sync_api import expect

from tests.e2e.conftest import Admit, Screens
from tests.e2e.console.test_inbox import Asked, deletion, place, question, recorded
from tests.e2e.support.person import Json, Person
from tests.e2e.support.screen import Screen

pytestmark = pytest.mark.thorough

APPROVAL = "approval_required"


def agent(boss: Person, **policies: Json) -> str:
    """The id of a new agent of the tenant, which asks people by these rules."""
    made = boss.post("/v1/agents", {"agent_id": "careful", "name": "Careful", "interventions": policies})
    assert made.status_code == 201, made.text
    return "careful"


def deletion_by(person: Person, agent_id: str) -> Asked:
    person.put_file("old.txt", "gold")
    return question(person.asked(person.start("Delete the file old.txt", agent_id=agent_id)))


def test_a_review_shows_what_runs_next_and_goes_on(screen: Screen, ann: Person) -> None:
    ann.put_file("a.txt", "alpha")
    asked = question(ann.asked(ann.start("Show the file a.txt", review_every=1)))
    assert asked[1]["type"] == "checkpoint_review"
    page = screen.sign_in(ann, place=place(asked))
    expect(page.get_by_role("heading", name="Go on?")).to_be_visible()
    screen.accessible()
    screen.picture("review")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("You let it go on")).to_be_visible()
    assert recorded(ann, asked)["resolution"] == "continue"


def test_a_pause_says_who_paused_and_a_cancelled_session_is_over(screen: Screen, ann: Person) -> None:
    asked = deletion(ann, "old.txt")
    ann.post(f"/v1/sessions/{asked[0]}/pause")
    seen = ann.watch(asked[0], lambda session: len(session["interventions"]) == 2)
    (pause,) = [each for each in seen.session["interventions"] if each["type"] == "checkpoint_review"]
    page = screen.sign_in(ann, place=place((asked[0], pause)))
    expect(page.get_by_role("heading", name="The session is paused")).to_be_visible()
    expect(page.get_by_text("Paused by ann.")).to_be_visible()
    screen.accessible()
    page.get_by_role("button", name="Cancel the session").click()
    expect(page.get_by_text("You cancelled the session")).to_be_visible()
    page.goto(f"{screen.url}/console/{place(asked)}")
    expect(page.get_by_text("The session ended before anybody decided.")).to_be_visible()


def test_a_used_up_budget_is_raised(screen: Screen, ann: Person) -> None:
    ann.put_file("a.txt", "alpha")
    asked = question(ann.asked(ann.start("Show the file a.txt", token_budget=500)))
    assert asked[1]["type"] == "budget_exceeded"
    page = screen.sign_in(ann, place=place(asked))
    expect(page.get_by_role("heading", name="The budget is used up")).to_be_visible()
    page.get_by_role("button", name="Raise the budget").click()
    screen.accessible()
    screen.picture("budget")
    needed = asked[1]["context"]["token_budget_needed"]
    expect(page.get_by_label("Tokens in all")).to_have_value(str(needed))
    expect(page.get_by_label("US dollars")).to_have_count(0)
    page.get_by_label("Tokens in all").fill("1")
    page.get_by_role("button", name="Send: raise the budget").click()
    expect(page.get_by_role("alert")).to_be_visible()
    page.get_by_label("Tokens in all").fill("200000")
    page.get_by_role("button", name="Send: raise the budget").click()
    expect(page.get_by_text("You raised the budget")).to_be_visible()
    assert recorded(ann, asked)["input"] == {"token_budget": 200_000}


def test_nobody_without_the_role_has_a_button(screens: Screens, ann: Person, admit: Admit) -> None:
    boss = admit(ann.tenant, "boss", "admin")
    asked = deletion_by(ann, agent(boss, **{APPROVAL: {"role": "finance"}}))
    mine = screens()
    page = mine.sign_in(ann, place=place(asked))
    expect(page.get_by_text("Only somebody with the role finance decides this.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    expect(page.get_by_role("checkbox")).to_have_count(0)
    mine.accessible()
    mine.picture("role")
    page = screens().sign_in(admit(ann.tenant, "fay"), "member", "finance", place=place(asked))
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("You approved this")).to_be_visible()
    expect(mine.page.get_by_role("status", name="The decision")).to_contain_text("fay approved this")


def test_whoever_asked_may_refuse_and_somebody_else_lets_it_run(
    screens: Screens, ann: Person, admit: Admit
) -> None:
    boss = admit(ann.tenant, "boss", "admin")
    asked = deletion_by(ann, agent(boss, **{APPROVAL: {"approver_must_differ": True}}))
    page = screens().sign_in(ann, place=place(asked))
    expect(page.get_by_text("So somebody else lets it run. You may refuse it.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    expect(page.get_by_role("button", name="Reject")).to_be_visible()
    page = screens().sign_in(boss, place=place(asked))
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("You approved this")).to_be_visible()


def test_an_expiry_is_shown_as_one(screen: Screen, ann: Person, admit: Admit) -> None:
    boss = admit(ann.tenant, "boss", "admin")
    asked = deletion_by(ann, agent(boss, **{APPROVAL: {"timeout_seconds": 20}}))
    page = screen.sign_in(ann, place=place(asked))
    expect(page.get_by_text("Without a decision it does not run.")).to_be_visible()
    decided = page.get_by_role("status", name="The decision")
    expect(decided).to_contain_text("Nobody decided in time: it does not run.", timeout=60_000)
    screen.picture("expired")


FAKE = (
    "<h1>Inbox</h1><button>Approve</button> You approved this\n"
    "<script>document.title = 'owned'</script><img src=//elsewhere.example/x onerror=\"document.title='owned'\">\n"
    "[Approve](javascript:document.title='owned') https://elsewhere.example/login\n"
    "</blockquote></figure><section role=status aria-label='The decision'>ben approved this</section>\n"
    "\u202egnp.exe \u2066\u200b\n"
)


@pytest.mark.parametrize("text", [FAKE, "x" * 1_000_000, FAKE * 200], ids=["chrome", "one line", "long"])
def test_words_of_others_are_text_in_a_frame(screen: Screen, ann: Person, text: str) -> None:
    asked = deletion(ann, "old.txt", text)
    page = screen.sign_in(ann, place=place(asked))
    page.on("dialog", lambda dialog: screen.wrong.append(dialog.message))
    frame = page.locator(".preview .quoted")
    expect(frame).to_be_visible(timeout=30_000)
    if text.startswith(FAKE):
        expect(frame).to_contain_text("<script>document.title = 'owned'</script>")
        expect(frame).to_contain_text("⟨U+202E⟩gnp.exe")
        expect(page.get_by_role("heading", name="Inbox")).to_have_count(1)
        expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(1)
        assert page.locator(".quoted a, .quoted img, .quoted button, .quoted script").count() == 0
    more = page.get_by_role("button", name="Show all")
    if more.count():
        more.click()
        expect(more).to_have_count(0)
    assert page.title() == "Inbox · Acta"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.get_by_role("status", name="The decision")).to_have_count(0)
    screen.accessible()
    screen.picture(f"hostile-{len(text)}")
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_text("You rejected this")).to_be_visible()


def test_a_replaced_file_is_shown_with_what_would_differ(screen: Screen, ann: Person) -> None:
    ann.put_file("notes.md", "The kettle is broken.\n")
    replacing = '{"path": "notes.md", "content": "The kettle is new.\\n", "replace": true}'
    asked = question(ann.asked(ann.start(f"use create_file with {replacing}")))
    assert asked[1]["tool_call"]["input"]["replace"] is True
    page = screen.sign_in(ann, place=place(asked))
    differing = page.get_by_label("The file now, and what would replace it")
    expect(differing).to_contain_text("Removed: The kettle is broken.")
    expect(differing).to_contain_text("Added: The kettle is new.")
    screen.accessible()
    screen.picture("replace")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("You approved this")).to_be_visible()

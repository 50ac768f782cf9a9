"""The inbox: what waits for a person is found, understood and decided, by one or by several, once."""

import re

import pytest
from playwright.sync_api import Request, Route, expect

from tests.e2e.conftest import Admit, Screens
from tests.e2e.support.person import Json, Person, Seen
from tests.e2e.support.screen import PHONE, Screen

Asked = tuple[str, Json]


def deletion(person: Person, path: str, text: str = "gold") -> Asked:
    """A session that asks whether it may delete the file, and what it asks."""
    person.put_file(path, text)
    return question(person.asked(person.start(f"Delete the file {path}")))


def question(seen: Seen) -> Asked:
    (asked,) = seen.session["interventions"]
    return str(seen.session["session_id"]), asked


def place(asked: Asked) -> str:
    return f"inbox/{asked[0]}/{asked[1]['intervention_id']}"


def recorded(person: Person, asked: Asked) -> Json:
    found: Json = person.data(f"/v1/sessions/{asked[0]}/interventions/{asked[1]['intervention_id']}")
    return found


def test_what_waits_is_found_understood_and_approved(screen: Screen, ann: Person) -> None:
    asked = deletion(ann, "old.txt", "the only copy")
    page = screen.sign_in(ann)
    screen.accessible()
    screen.picture("list")
    page.get_by_role("link", name="May the agent delete a file?").click()
    expect(page).to_have_url(re.compile(place(asked)))
    detail = page.get_by_role("region", name="The question")
    expect(detail.get_by_text("the only copy")).to_be_visible()
    expect(detail.get_by_text("ann asked: Delete the file old.txt")).to_be_visible()
    expect(detail.get_by_text("Runs exactly what is shown here, once.")).to_be_visible()
    expect(detail.get_by_text("Expires in 29 min")).to_be_visible()
    screen.accessible()
    screen.picture("question")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("You approved this")).to_be_visible()
    expect(page.get_by_text("The agent was told and goes on.")).to_be_visible()
    screen.accessible()
    screen.picture("decided")
    expect(page.get_by_text("Nothing waits for a person.")).to_be_visible()
    ann.finished(asked[0])
    assert "old.txt" not in ann.files()
    page.get_by_role("link", name="Decided").click()
    expect(page.get_by_role("listitem").filter(has_text="old.txt")).to_contain_text("You approved this")
    screen.accessible()
    screen.picture("history")
    page.get_by_role("link", name="May the agent delete a file?").click()
    expect(page.get_by_role("status", name="The decision")).to_contain_text("You approved this")
    expect(page.get_by_role("link", name="Decided", exact=True).first).to_have_attribute(
        "aria-current", "page"
    )
    expect(page.get_by_text("What would be deleted")).to_have_count(0)
    screen.accessible()
    screen.picture("history-one")


def test_a_rejection_takes_a_comment_along(screen: Screen, ann: Person) -> None:
    asked = deletion(ann, "old.txt")
    page = screen.sign_in(ann, place=place(asked))
    page.get_by_label("Comment").fill("keep it")
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_text("You rejected this")).to_be_visible()
    assert (recorded(ann, asked)["resolution"], recorded(ann, asked)["comment"]) == ("reject", "keep it")


def test_a_decision_that_did_not_get_through_says_so_and_is_sent_again(screen: Screen, ann: Person) -> None:
    asked = deletion(ann, "old.txt")
    page = screen.sign_in(ann, place=place(asked))
    page.get_by_label("Comment").fill("keep it")
    asked_for: list[Request] = []
    page.on("request", lambda one: asked_for.append(one))
    screen.context.set_offline(True)
    page.get_by_role("button", name="Reject", exact=True).click()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Your decision “Reject” was not sent.")
    expect(alert).not_to_contain_text("by itself")
    expect(alert).to_be_in_viewport(ratio=1)
    screen.picture("not-sent")
    screen.context.set_offline(False)
    assert recorded(ann, asked)["state"] == "pending", "nothing is sent before somebody says so"
    screen.accessible()
    page.get_by_role("button", name="Send it again").click()
    expect(page.get_by_text("You rejected this")).to_be_visible()
    assert (recorded(ann, asked)["resolution"], recorded(ann, asked)["comment"]) == ("reject", "keep it")
    sent = [one.headers["idempotency-key"] for one in asked_for if one.method == "POST"]
    assert len(sent) == 2
    assert len(set(sent)) == 1, "it counts once, also where only its answer was lost"


def test_another_input_is_seen_as_a_difference_before_it_runs(screen: Screen, ann: Person) -> None:
    ann.put_file("other.txt", "other")
    asked = deletion(ann, "old.txt")
    page = screen.sign_in(ann, place=place(asked))
    page.get_by_role("button", name="Change it").click()
    page.get_by_text("Edit it as JSON").click()
    field = page.get_by_label("The whole input, as JSON")
    field.fill('{"path": "other.txt"')
    expect(page.get_by_text("This is no JSON yet")).to_be_visible()
    expect(page.get_by_role("button", name="Approve with this input")).to_be_disabled()
    field.fill('{"path": "other.txt"}')
    expect(page.get_by_label("What you change")).to_contain_text("path: old.txt")
    changes = page.get_by_label("What it changes")
    expect(changes).to_have_count(1)
    expect(changes).to_contain_text("other.txt · 5 characters now")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    screen.accessible()
    screen.picture("modify")
    page.get_by_role("button", name="Approve with this input").click()
    expect(page.get_by_text("You changed the input and approved it")).to_be_visible()
    ann.finished(asked[0])
    assert ann.files() == {"old.txt"}


def test_what_was_changed_is_neither_lost_nor_mistaken_for_what_the_agent_wants(
    screen: Screen, ann: Person
) -> None:
    ann.put_file("other.txt", "other")
    asked = deletion(ann, "old.txt")
    page = screen.sign_in(ann, place=place(asked))
    page.get_by_role("button", name="Change it").click()
    page.get_by_label("path", exact=True).fill("other.txt")
    page.get_by_role("button", name="Back to the agent's input").click()
    expect(page.get_by_text("What you changed is not sent.")).to_be_visible()
    expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    expect(page.get_by_role("button", name="Approve the agent's input")).to_be_visible()
    screen.accessible()
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_label("path", exact=True)).to_have_value("other.txt")
    page.get_by_role("button", name="Approve with this input").click()
    expect(page.get_by_text("You changed the input and approved it")).to_be_visible()
    ann.finished(asked[0])
    assert ann.files() == {"old.txt"}


def test_a_question_is_answered(screen: Screen, ann: Person) -> None:
    asked = question(ann.asked(ann.start("Create the file notes.md")))
    assert asked[1]["type"] == "clarification_needed"
    page = screen.sign_in(ann, place=place(asked))
    expect(page.get_by_text("The agent asks")).to_be_visible()
    answer = page.get_by_label("Your answer")
    expect(answer).to_be_in_viewport(ratio=1)
    expect(page.get_by_label("Comment")).to_be_hidden()
    screen.accessible()
    screen.picture("clarification")
    page.get_by_text("Comment (optional)").click()
    expect(page.get_by_label("Comment")).to_be_visible()
    answer.fill("A kettle.")
    page.get_by_role("button", name="Send: answer").click()
    expect(page.get_by_text("You answered")).to_be_visible()
    assert recorded(ann, asked)["input"] == {"text": "A kettle."}


@pytest.mark.thorough
def test_several_approvals_are_decided_together_and_each_result_is_shown(screen: Screen, ann: Person) -> None:
    several = [deletion(ann, f"old-{n}.txt") for n in range(3)]
    page = screen.sign_in(ann)
    page.get_by_label("Choose all 3 approvals").check()
    expect(page.get_by_role("heading", name="3 approvals are chosen")).to_be_visible()
    ann.resolve(several[0][0], several[0][1]["intervention_id"], "reject")
    screen.accessible()
    screen.picture("several")
    page.get_by_role("button", name="Approve 3").click()
    expect(page.get_by_text("All of them are decided.")).to_be_visible()
    expect(page.get_by_text("You approved this")).to_have_count(2)
    expect(page.get_by_text("Your decision does not count.")).to_have_count(1)
    assert [recorded(ann, each)["resolution"] for each in several] == ["reject", "approve", "approve"]
    screen.picture("several-done")
    later = deletion(ann, "new.txt")
    page.get_by_label("Decide together").check()
    expect(page.get_by_role("heading", name="One approval is chosen")).to_be_visible()
    expect(page.get_by_text("You approved this")).to_have_count(0)
    page.get_by_role("button", name="Choose none").click()
    page.get_by_role("link", name="May the agent delete a file?").click()
    expect(page).to_have_url(re.compile(place(later)))
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()


def test_what_is_decided_elsewhere_says_by_whom_at_once(screen: Screen, ann: Person, admit: Admit) -> None:
    asked = deletion(ann, "old.txt")
    page = screen.sign_in(ann, place=place(asked))
    expect(page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    admit(ann.tenant, "ben").resolve(asked[0], asked[1]["intervention_id"], "reject", comment="mine")
    expect(page.get_by_role("status", name="The decision")).to_contain_text("ben rejected this")
    expect(page.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    screen.picture("elsewhere")


def test_of_two_tabs_one_decides_and_both_say_so(screen: Screen, ann: Person) -> None:
    asked = deletion(ann, "old.txt")
    first = screen.sign_in(ann, place=place(asked))
    second = screen.open(place(asked))
    for page in (first, second):
        expect(page.get_by_role("button", name="Reject", exact=True)).to_be_visible()
    first.get_by_role("button", name="Reject", exact=True).click()
    for page in (first, second):
        expect(page.get_by_role("status", name="The decision")).to_contain_text("You rejected this")


def test_whoever_comes_late_sees_the_recorded_decision(screens: Screens, ann: Person, admit: Admit) -> None:
    asked = deletion(ann, "old.txt")
    screen = screens()
    page = screen.sign_in(ann, place=place(asked))
    approve = page.get_by_role("button", name="Approve", exact=True)
    expect(approve).to_be_visible()
    page.route("**/v1/**/interventions/int_*", lambda route: route.abort())  # it hears of nothing
    admit(ann.tenant, "ben").resolve(asked[0], asked[1]["intervention_id"], "reject")
    page.unroute("**/v1/**/interventions/int_*")
    approve.click()
    expect(page.get_by_role("status", name="The decision")).to_contain_text("ben rejected this")


def test_a_phone_shows_the_list_then_the_question(screens: Screens, ann: Person) -> None:
    asked = deletion(ann, "old.txt")
    screen = screens(viewport=PHONE)
    page = screen.sign_in(ann)
    screen.picture("phone-list")
    page.get_by_role("link", name="May the agent delete a file?").click()
    expect(page.get_by_role("link", name="All that waits")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    screen.accessible()
    screen.picture("phone-question")
    page.get_by_role("button", name="Reject", exact=True).click()
    expect(page.get_by_text("You rejected this")).to_be_visible()
    assert recorded(ann, asked)["resolution"] == "reject"


def test_the_keyboard_alone_is_enough(screen: Screen, ann: Person) -> None:
    several = [deletion(ann, f"old-{n}.txt") for n in range(2)]
    page = screen.sign_in(ann)
    expect(page.get_by_role("link", name="May the agent delete a file?")).to_have_count(2)
    page.get_by_role("link", name="Waiting", exact=True).focus()
    for key in ("j", "j", "k", "j", "Enter"):
        page.keyboard.press(key)
    expect(page).to_have_url(re.compile(place(several[1])))
    expect(page.get_by_role("button", name="Reject", exact=True)).to_be_visible()
    for _ in range(60):
        if page.evaluate("document.activeElement.textContent") == "Reject":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("You rejected this")).to_be_visible()
    assert recorded(ann, several[1])["resolution"] == "reject"


@pytest.mark.parametrize("size", [{"width": 1_100, "height": 760}, PHONE], ids=["desk", "phone"])
def test_the_decision_is_in_reach_and_covers_nothing_that_has_the_focus(
    screens: Screens, ann: Person, size: Json
) -> None:
    asked = deletion(ann, "old.txt", "a line of many\n" * 400)
    screen = screens(viewport=size)
    page = screen.sign_in(ann, place=place(asked))
    approve = page.get_by_role("button", name="Approve", exact=True)
    expect(page.get_by_role("button", name="Show all")).to_have_count(1)
    expect(approve).to_be_in_viewport(ratio=1)
    page.get_by_role("link", name="this session").focus()
    for _ in range(6):
        page.keyboard.press("Tab")
        assert page.evaluate(NOT_COVERED)
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_label("path", exact=True)).to_be_focused()
    assert page.evaluate(NOT_COVERED)


@pytest.mark.parametrize("size", [{"width": 1_280, "height": 800}, PHONE], ids=["desk", "phone"])
def test_what_sends_an_answer_is_seen_and_can_be_clicked_wherever_the_question_is_read(
    screens: Screens, ann: Person, size: Json
) -> None:
    asked = deletion(ann, "old.txt", "a line of many\n" * 400)
    screen = screens(viewport=size)
    page = screen.sign_in(ann, place=place(asked))
    page.get_by_role("button", name="Change it").click()
    send = page.get_by_role("button", name="Approve with this input")
    expect(send).to_be_disabled()
    written = page.get_by_label("path", exact=True)
    written.fill("other.txt")
    expect(send).to_be_enabled()
    for where in (0, 99_999):
        page.evaluate("y => window.scrollTo(0, y)", where)
        assert send.evaluate(HAS_ITS_PLACE)
    written.focus()
    assert page.evaluate(NOT_COVERED)
    screen.accessible()
    screen.picture(f"send-{size['width']}")
    send.click()
    expect(page.get_by_role("status", name="The decision")).to_be_visible()
    assert recorded(ann, asked)["input"] == {"input": {"path": "other.txt"}}


HAS_ITS_PLACE = """button => {
  const { left, right, top, bottom } = button.getBoundingClientRect();
  const corners = [[left + 3, top + 3], [right - 3, bottom - 3], [(left + right) / 2, (top + bottom) / 2]];
  return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth &&
    corners.every(([x, y]) => button.contains(document.elementFromPoint(x, y)));
}"""
"""All of it is on the screen, and nothing lies over it."""
NOT_COVERED = """() => {
  const [bar, focused] = [document.querySelector(".deciders"), document.activeElement];
  if (bar.contains(focused)) return true;
  return focused.getBoundingClientRect().top < bar.getBoundingClientRect().top;
}"""
"""Some of what has the focus is seen (WCAG 2.2, 2.4.11)."""


def test_nothing_is_approved_before_its_whole_input_is_read(screen: Screen, ann: Person) -> None:
    asked = deletion(ann, "old.txt")

    def shorten(route: Route) -> None:
        answer = route.fetch()
        found = answer.json()
        found["data"]["tool_call"]["shortened"] = True
        route.fulfill(response=answer, json=found)

    held: list[Route] = []
    page = screen.page
    page.route("**/v1/sessions/*/interventions/int_*", shorten)
    page.route("**/v1/**/input", lambda route: held.append(route))
    screen.sign_in(ann, place=place(asked))
    expect(page.get_by_text("The whole input is being read")).to_be_visible()
    approve = page.get_by_role("button", name="Approve", exact=True)
    expect(approve).to_be_disabled()
    expect(page.get_by_role("button", name="Reject", exact=True)).to_be_enabled()
    page.unroute("**/v1/**/input")  # it may have been asked for once more
    for each in held:
        each.continue_()
    expect(approve).to_be_enabled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_colours_keep_anybody_from_reading(screens: Screens, ann: Person, scheme: str) -> None:
    asked = deletion(ann, "old.txt")
    screen = screens(color_scheme=scheme)
    screen.sign_in(ann, place=place(asked))
    expect(screen.page.get_by_role("button", name="Approve", exact=True)).to_be_visible()
    screen.accessible()
    screen.picture(f"question-{scheme}")

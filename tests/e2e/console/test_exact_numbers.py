"""What a person reads, changes and approves on the page is what runs, to the last digit of each number."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.doubles.http_sink import Sink
from tests.e2e.conftest import Admit
from tests.e2e.console.test_inbox import Asked, place, question
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.screen import Screen

ACCOUNT = 2**53 + 1
"""Has no double of its own: JavaScript reads its neighbour, which ends with 2."""
SCHEMA = {
    "type": "object",
    "properties": {
        "account": {"type": "integer", "maximum": ACCOUNT},
        "rate": {"type": "number"},
        "note": {"type": "string"},
    },
    "required": ["account", "rate"],
}


@pytest.fixture(scope="module")
def bank(behind: Behind) -> Iterator[Sink]:
    with Sink() as made, behind.configured("tool", "admin", ACTA_HTTP_TOOL_ALLOW=made.at):
        yield made


@pytest.fixture
def ann(admit: Admit, bank: Sink) -> Person:
    bank.heard.clear()
    ann = admit(role="admin")
    tool = {
        "name": "transfer", "description": "Pays rent", "kind": "http", "input_schema": SCHEMA, "high_stakes": True,
        "config": {"url": bank.url("/transfers"), "method": "POST"},
    }  # fmt: skip
    assert ann.post("/v1/tools", tool).status_code == 201
    return ann


def asked_to_pay(ann: Person) -> Asked:
    goal = f'use transfer with {{"account": {ACCOUNT}, "rate": -0.0, "note": "rent"}}'
    return question(ann.asked(ann.start(goal)))


def test_the_number_that_is_approved_is_the_one_that_runs(screen: Screen, ann: Person, bank: Sink) -> None:
    asked = asked_to_pay(ann)
    page = screen.sign_in(ann, place=place(asked))
    call = page.get_by_role("group", name="Call of transfer")
    expect(call.get_by_text(str(ACCOUNT), exact=True)).to_be_visible()
    call.get_by_text("The input as JSON").click()
    exact = call.get_by_label("The input as JSON")
    for number in (str(ACCOUNT), "-0.0"):
        expect(exact).to_contain_text(number)
    screen.picture("exact")
    page.get_by_role("button", name="Approve", exact=True).click()
    expect(page.get_by_text("You approved this")).to_be_visible()
    ann.finished(asked[0])
    (heard,) = bank.heard
    assert (heard.body["account"], str(heard.body["rate"])) == (ACCOUNT, "-0.0")


def test_numbers_that_nobody_changed_are_sent_back_as_they_were(
    screen: Screen, ann: Person, bank: Sink
) -> None:
    asked = asked_to_pay(ann)
    page = screen.sign_in(ann, place=place(asked))
    page.get_by_role("button", name="Change it").click()
    page.get_by_label("note", exact=True).fill("rent of May")
    field = page.get_by_label("The whole input, as JSON")
    assert f'"account": {ACCOUNT}' in field.input_value()
    assert '"rate": -0.0' in field.input_value()
    differing = page.get_by_role("group", name="What you change")
    expect(differing).to_contain_text("Added: note: rent of May")
    expect(differing).not_to_contain_text("Added: account")
    page.get_by_role("button", name="Approve with this input").click()
    expect(page.get_by_text("You changed the input and approved it")).to_be_visible()
    ann.finished(asked[0])
    assert [heard.body for heard in bank.heard] == [{"account": ACCOUNT, "rate": 0.0, "note": "rent of May"}]
    assert str(bank.heard[0].body["rate"]) == "-0.0"


def test_a_definition_that_is_edited_and_an_event_that_is_shown_keep_their_numbers(
    screen: Screen, ann: Person
) -> None:
    session, _ = asked_to_pay(ann)
    page = screen.sign_in(ann, "admin", "member", place=f"sessions/{session}")
    page.get_by_role("treeitem", name="Call").click()
    shown = page.get_by_role("region", name="Chosen row").get_by_label("Input", exact=True)
    expect(shown).to_contain_text(str(ACCOUNT))
    expect(shown).to_contain_text("-0.0")
    page = screen.open("tools/transfer")
    expect(page.get_by_label("Its schema")).to_contain_text(str(ACCOUNT))
    page.get_by_role("button", name="Edit").click()
    page.get_by_label("What it does").fill("Pays the rent")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Pays the rent")).to_be_visible()
    schema = ann.get("/v1/tools/transfer").json()["data"]["input_schema"]
    assert schema["properties"]["account"]["maximum"] == ACCOUNT

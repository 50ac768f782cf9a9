"""Sessions whose model says what a test wants: stuck, out of budget or tokens, away, writing, hostile."""

from collections.abc import Iterator
from typing import Any

import pytest
from llmock.scenarios import Fail, Reply
from playwright.sync_api import Page, expect

from tests.e2e.console.test_inbox import place, question, recorded
from tests.e2e.models.test_model_turns import short_pauses
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.scenarios import REPEATS_ITSELF
from tests.e2e.support.screen import Screen
from tests.e2e.support.script import Call, do, end, plan
from tests.e2e.support.script import question as asks
from tests.e2e.support.stage import Stage

pytestmark = pytest.mark.thorough

PRICED = "claude-opus-5"
HOSTILE = (
    "Approved by Acta ✔</blockquote></figure><button>Approve</button><script>document.title='owned'</script>"
    "<img src=//elsewhere.example/x onerror=\"document.title='owned'\"> [Approve](javascript:alert(1)) \u202egnp.exe"
)


@pytest.fixture(scope="module")
def provider(behind: Behind, llmock_server: Any) -> Iterator[None]:
    variables = {
        "ACTA_PROVIDER": "anthropic",
        "ACTA_MODEL": PRICED,
        "ACTA_PARTIAL_TEXT_MS": "50",
        "ANTHROPIC_API_KEY": "sk-test",
        "ANTHROPIC_BASE_URL": llmock_server.base_url("anthropic"),
    }
    with behind.configured("step", "status", **variables):
        yield


@pytest.fixture
def stage(provider: None, llmock: Any, ann: Person) -> Stage:
    return Stage(ann, llmock.tool_mode("off"))


def only_text(page: Page) -> None:
    assert page.title() != "owned"
    assert page.locator("main img, main script, main iframe").count() == 0
    assert page.locator(".quoted button").filter(has_text="Approve").count() == 0
    assert page.locator('a[href^="javascript:"]').count() == 0


def test_who_is_stuck_is_tried_again_with_a_hint(screen: Screen, stage: Stage, ann: Person) -> None:
    stage.prepare(*REPEATS_ITSELF.says, *REPEATS_ITSELF.says[-1:])
    asked = question(ann.asked(ann.start(REPEATS_ITSELF.goal)))
    assert asked[1]["type"] == "error_recovery"
    page = screen.sign_in(ann, place=place(asked))
    expect(page.get_by_role("heading", name="The agent is stuck")).to_be_visible()
    page.get_by_role("button", name="Try again").click()
    page.get_by_label("A hint for the agent").fill("That file was deleted.")
    screen.accessible()
    screen.picture("stuck")
    page.get_by_role("button", name="Send: try again").click()
    expect(page.get_by_text("You had it tried again")).to_be_visible()
    assert recorded(ann, asked)["input"] == {"hint": "That file was deleted."}


def test_what_runs_out_of_budget_is_finished_with_what_it_has(
    screen: Screen, stage: Stage, ann: Person
) -> None:
    asked = question(ann.asked(ann.start("Say hello", token_budget=500)))
    page = screen.sign_in(ann, place=place(asked))
    page.get_by_role("button", name="Finish now").click()
    expect(page.get_by_text("You had it finish")).to_be_visible()
    page.get_by_role("link", name="See the session").click()
    expect(page.locator(".state")).to_have_text("Ended without the goal", timeout=30_000)
    expect(page.get_by_text("It had no budget left")).to_be_visible()
    screen.accessible()


def test_of_a_used_up_budget_the_limit_that_is_short_is_raised_and_no_other(
    screen: Screen, stage: Stage, ann: Person
) -> None:
    stage.prepare(do(plan("Say it")), end("Said.", 1))
    asked = question(ann.asked(ann.start("Say it", cost_budget_usd=0.01)))
    before = ann.snapshot(asked[0])["budget"]
    needed = asked[1]["context"]["cost_budget_usd_needed"]
    page = screen.sign_in(ann, place=place(asked))
    page.get_by_role("button", name="Raise the budget").click()
    expect(page.get_by_label("US dollars in all")).to_have_value(str(needed))
    expect(page.get_by_label("US dollars in all")).to_be_focused()
    expect(page.get_by_label("Tokens in all")).to_have_value("")
    expect(page.get_by_text(f"The next call needs ${needed} in all.")).to_be_visible()
    screen.accessible()
    screen.picture("dollars")
    page.get_by_role("button", name="Send: raise the budget").click()
    expect(page.get_by_text("You raised the budget")).to_be_visible()
    assert recorded(ann, asked)["input"] == {"cost_budget_usd": needed}
    after = ann.finished(asked[0]).session["budget"]
    assert (after["token_budget"], after["cost_budget_usd"]) == (before["token_budget"], needed)


def test_a_cost_budget_fills_a_bar(screen: Screen, stage: Stage, ann: Person) -> None:
    stage.prepare(do(plan("Say it")), end("Said.", 1))
    session_id = ann.start("Say it", cost_budget_usd=5)
    ann.finished(session_id)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    bar = page.get_by_role("progressbar", name="Cost")
    expect(bar).to_have_js_property("max", 5)
    assert bar.evaluate("bar => bar.value") > 0
    expect(page.locator(".bars")).to_contain_text("of $5.00")
    screen.accessible()


def test_what_the_model_writes_is_seen_while_it_writes(
    screen: Screen, stage: Stage, ann: Person, llmock: Any
) -> None:
    said = " ".join(f"word{number}" for number in range(150))
    stage.prepare(do(plan("Say it")))
    stage.model.add(Reply(text=said, tool_calls=()))
    stage.prepare(end("Said.", 1))
    stage.model.pace(80)
    try:
        page = screen.sign_in(ann, place=f"sessions/{ann.start('Say much')}")
        writing = page.locator(".quoted").filter(has_text="The model is writing")
        expect(writing).to_contain_text("word3", timeout=40_000)
    finally:
        stage.model.pace(0)
    expect(page.locator(".state")).to_have_text("Goal met", timeout=40_000)
    expect(writing).to_have_count(0)


def test_a_provider_that_is_away_is_waited_for_and_tried_now(
    screen: Screen, stage: Stage, ann: Person, behind: Behind
) -> None:
    stage.model.add(Fail(500, times=9))
    stage.prepare(do(plan("Say it")), end("Said.", 1))
    with short_pauses(behind):
        session_id = ann.start("Say it")
        page = screen.sign_in(ann, place=f"sessions/{session_id}")
        expect(page.locator(".state")).to_have_text("Waits for the provider", timeout=60_000)
    expect(page.get_by_text("It tries again")).to_be_visible()
    screen.accessible()
    screen.picture("away")
    page.get_by_role("button", name="Try now").click()
    expect(page.locator(".state")).to_have_text("Goal met", timeout=40_000)


def test_tokens_of_the_hour_that_are_used_up_say_until_when(
    screen: Screen, stage: Stage, ann: Person, behind: Behind
) -> None:
    with behind.configured("step", ACTA_TENANT_TOKENS_PER_HOUR="100"):
        session_id = ann.start("Say it")
        page = screen.sign_in(ann, place=f"sessions/{session_id}")
        expect(page.get_by_text("The tenant's tokens of this hour are used up.", exact=True)).to_be_visible(
            timeout=40_000
        )
        expect(page.get_by_text("Without a decision the session goes on.")).to_be_visible()
        screen.accessible()
        screen.picture("hour")


def test_hostile_words_of_an_agent_are_text_wherever_they_are_asked(
    screen: Screen, stage: Stage, ann: Person
) -> None:
    stage.prepare(do(plan("Ask")), do(asks(HOSTILE)))
    asked = question(ann.asked(ann.start("Ask me")))
    page = screen.sign_in(ann, place=place(asked))
    quoted = page.locator(".question .quoted")
    expect(quoted).to_contain_text("<script>document.title='owned'</script>")
    only_text(page)
    screen.accessible()
    screen.picture("hostile-question")
    page.goto(f"{screen.url}/console/sessions/{asked[0]}")
    expect(page.get_by_role("region", name="Waits for a decision")).to_contain_text("Approved by Acta")
    only_text(page)


def test_hostile_and_endless_inputs_of_tools_are_text_in_the_trace(
    screen: Screen, stage: Stage, ann: Person
) -> None:
    endless = "x" * 1_000_000
    ann.put_file("endless.txt", endless)
    stage.prepare(
        do(plan("Write it", "Read it")),
        do(Call("create_file", {"path": "a.html", "content": HOSTILE})),
        do(Call("read_file", {"path": "endless.txt"})),
        end(HOSTILE, 1, 2),
    )
    session_id = ann.start("Write and read")
    ann.finished(session_id)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    expect(page.locator(".state")).to_have_text("Goal met")
    for name in ("create_file", "read_file"):
        call = page.get_by_role("treeitem").filter(has_text=name)
        call.click()
        detail = page.get_by_role("region", name="Chosen row")
        expect(detail).to_contain_text("a.html" if name == "create_file" else "endless.txt")
        page.keyboard.press("ArrowRight")
        page.get_by_role("treeitem").filter(has_text="Observation").last.click()
        expect(detail).to_contain_text("a.html" if name == "create_file" else "xxxxxxxxxx")
        only_text(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
    screen.accessible()
    screen.picture("hostile-trace")


def test_an_answer_by_a_schema_is_shown_as_data(screen: Screen, stage: Stage, ann: Person) -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}
    stage.prepare(do(plan("Count")), end('{"count": 41}', 1))
    session_id = ann.start("Count", output_schema=schema)
    assert ann.finished(session_id).session["result"]["data"] == {"count": 41}
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    expect(page.get_by_label("The answer as data")).to_contain_text('"count": 41')
    screen.accessible()
    screen.picture("data")

"""The page of a session: texts that want to be more than text, and sessions of 20,000 events."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import pytest
from playwright.sync_api import Page, expect

from acta.engine.clock import SystemClock
from acta.engine.log.commit import Commit
from acta.engine.log.dynamodb import DynamoLog
from tests.e2e.support.behind import Behind
from tests.e2e.support.person import Person
from tests.e2e.support.screen import Screen
from tests.in_process.longlog import LongLog, write
from tests.stores import in_memory

pytestmark = pytest.mark.thorough

TURNS = 2_900
TOGETHER = 40
HOSTILE = (
    "<script>alert(1)</script> <img src=https://evil.example/i.png onerror=alert(1)> "
    "[click](javascript:alert(1)) ![i](https://evil.example/p.png) [Acta](https://evil.example/sign-in) "
    "\u202egnp.exe\u202c </blockquote></figure><h1>Approved by Acta</h1>"
)
LONG_TASKS = """() => {
  window.longest = 0;
  new PerformanceObserver((seen) => {
    for (const each of seen.getEntries()) window.longest = Math.max(window.longest, each.duration);
  }).observe({type: "longtask"});
}"""
WALK = """async () => {
  const list = document.querySelector(".long-list");
  let most = 0;
  for (let part = 0; part <= 60; part += 1) {
    list.scrollTop = (list.scrollHeight * part) / 60;
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    most = Math.max(most, document.querySelectorAll("*").length);
  }
  return [most, window.longest];
}"""
MOST_NODES = 1_500
LONGEST_TASK_MS = 1_000
"""A page that freezes does so for seconds; the machine of a test may be busy."""


def seeded(behind: Behind, person: Person, turns: int, result: str) -> LongLog:
    """Written as its steps would write it, with several of their commits in one: what happened is the same."""
    commits: list[Commit] = []
    clock = SystemClock()
    made = write(commits.append, in_memory.blobs(), clock, person.tenant, turns, result=lambda _: result)
    log = DynamoLog(behind.settings["ACTA_TABLE"], clock, behind.client("dynamodb"))
    parts = [commits[begin : begin + TOGETHER] for begin in range(0, len(commits), TOGETHER)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(log.append, (together(number, part) for number, part in enumerate(parts, 1))))
    return made


def together(number: int, commits: Sequence[Commit]) -> Commit:
    changes = {
        name: tuple(chain.from_iterable(getattr(each, name) for each in commits))
        for name in ("events", "entries", "delivered")
    }
    return commits[-1].model_copy(update={"number": number, "key": f"part-{number}", **changes})


def test_nothing_that_is_said_becomes_more_than_text(screen: Screen, ann: Person, behind: Behind) -> None:
    made = seeded(behind, ann, 2, HOSTILE)
    page = screen.sign_in(ann, place=f"sessions/{made.session_id}")
    page.get_by_role("treeitem").filter(has_text="read_file").first.click()
    expect(page.get_by_role("region", name="Chosen row")).to_contain_text("<script>alert(1)</script>")
    expect(page.get_by_role("region", name="Chosen row")).to_contain_text("⟨U+202E⟩gnp.exe")
    only_text(page)
    screen.accessible()
    screen.picture("session-hostile")


def test_links_of_markdown_show_their_host_and_nothing_else_is_made_of_it(
    screen: Screen, ann: Person
) -> None:
    session_id = ann.start(f"List all files {HOSTILE}")
    ann.finished(session_id)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    page.get_by_role("treeitem").filter(has_text="Message").first.click()
    detail = page.get_by_role("region", name="Chosen row")
    # The bare address within the markup of an image is one, too.
    expect(detail.get_by_role("link")).to_have_count(3)
    expect(detail).to_contain_text("(evil.example)")
    expect(detail).to_contain_text("[click](javascript:alert(1))")
    for link in detail.get_by_role("link").all():
        assert link.get_attribute("rel") == "noopener noreferrer nofollow"
    only_text(page)
    screen.accessible()


def only_text(page: Page) -> None:
    assert page.locator("main img, main script, main iframe").count() == 0
    assert page.locator('a[href^="javascript:"]').count() == 0
    expect(page.get_by_role("heading", level=1)).to_have_count(1)


def test_a_line_of_a_megabyte_does_not_stop_the_page(screen: Screen, ann: Person) -> None:
    ann.put_file("notes.md", "x" * 1_000_000)
    session_id = ann.start("List all files and write a summary to summary.md")
    ann.finished(session_id)
    page = screen.sign_in(ann, place=f"sessions/{session_id}")
    page.get_by_role("treeitem").filter(has_text="read_file").first.click()
    detail = page.get_by_role("region", name="Chosen row")
    expect(detail).to_contain_text("x" * 1_000)
    screen.accessible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_twenty_thousand_events_scroll_with_few_elements_and_without_a_freeze(
    screen: Screen, ann: Person, behind: Behind
) -> None:
    made = seeded(behind, ann, TURNS, "Result.")
    assert made.events >= 20_000
    screen.context.add_init_script(f"({LONG_TASKS})()")
    page = screen.sign_in(ann, place=f"sessions/{made.session_id}")
    tree = page.get_by_role("tree")
    tree.focus()
    expect(page.get_by_text("Reading: ")).to_be_visible()
    expect(page.get_by_text("Reading: ")).to_have_count(0, timeout=120_000)
    page.keyboard.press("End")
    expect(page.get_by_role("treeitem").filter(has_text=f"Turn {TURNS}.")).to_be_visible()
    nodes, longest = page.evaluate(WALK)
    print(f"{made.events} events: {nodes} elements, the longest task took {longest:.0f} ms")
    assert nodes < MOST_NODES
    assert longest < LONGEST_TASK_MS

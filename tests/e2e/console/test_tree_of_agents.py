"""The tree of a session that has called agents, on the page: live, with links up and down."""

from playwright.sync_api import expect

from tests.e2e.sessions.conftest import gate
from tests.e2e.sessions.test_sub_agents import SIDE_BY_SIDE, boss, gated, stage
from tests.e2e.support.person import Person
from tests.e2e.support.screen import Screen
from tests.e2e.support.script import Call, Say, do
from tests.e2e.support.stage import Stage

__all__ = ["boss", "gate", "gated", "stage"]


def test_the_page_of_a_session_shows_the_agents_below_it_and_theirs_the_way_up(
    screen: Screen, stage: Stage, boss: Person
) -> None:
    boss.put_file("old.txt", "old")
    asks = do(Call("delete_file", {"path": "old.txt"}))
    stage.prepare(do(SIDE_BY_SIDE), asks, asks)
    session_id = boss.start("Look at both halves", agent_id="lead")
    page = screen.sign_in(boss, "admin", "member", place=f"sessions/{session_id}")

    agents = page.get_by_role("table", name="Agents")
    rows = agents.get_by_role("row")
    expect(rows).to_have_count(4, timeout=60_000)
    expect(rows.nth(1)).to_contain_text("Waits for agents", timeout=60_000)
    for row in (rows.nth(2), rows.nth(3)):
        expect(row).to_contain_text("Waits for a person", timeout=60_000)
        expect(row).to_contain_text("approval required of delete_file")
    expect(page.get_by_text("3 sessions, 3 of them open")).to_be_visible()
    screen.accessible()
    screen.picture("tree")

    rows.nth(2).get_by_role("link").first.click()
    above = page.get_by_role("navigation", name="Called by")
    expect(above).to_contain_text("Called by Lead")
    expect(page.get_by_text("Look at one half").first).to_be_visible()
    screen.accessible()
    screen.picture("child")
    above.get_by_role("link", name="Lead").click()
    expect(agents).to_be_visible()

    page.goto(f"{screen.url}/console/sessions")
    expect(page.get_by_role("table", name="Sessions").get_by_role("row")).to_have_count(2)
    screen.picture("sessions")

    stage.prepare(Say("Unused."))
    assert boss.post(f"/v1/sessions/{session_id}/cancel").status_code == 202
    page.goto(f"{screen.url}/console/sessions/{session_id}")
    for row in (rows.nth(1), rows.nth(2), rows.nth(3)):
        expect(row).to_contain_text("Cancelled", timeout=60_000)
    expect(page.get_by_text("3 sessions, 0 of them open")).to_be_visible()

"""`acta tree`, and the tree that a followed session shows."""

import io
import json
import sys
from typing import Any

import pytest
from rich.console import Console

from acta.cli.sessions.tree import LiveTree, tree_lines
from acta.cli.terminal.live import Display
from acta.cli.terminal.session_lines import MARKS, marks_for
from acta.client.following import Update
from tests.acta.conftest import Acta
from tests.acta.fake_deployment import SESSION_ID, FakeDeployment, session, success

TREE = f"/v1/sessions/{SESSION_ID}/tree"


def node(number: int, depth: int, **changed: Any) -> dict[str, Any]:
    return {
        "session_id": SESSION_ID if number == 0 else f"ses_{number:02d}",
        "parent_id": SESSION_ID if depth else None,
        "depth": depth,
        "call_id": "call_1" if depth else None,
        "item": number if depth else None,
        "about": "",
        "agent_id": "worker",
        "agent_name": "Worker" if depth else "Lead",
        "state": "executing",
        "state_reason": None,
        "retry_at": None,
        "goal": f"Part {number}",
        "goal_met": None,
        "created_at": "2026-11-27T09:00:00.000Z",
        "updated_at": "2026-11-27T09:00:00.000Z",
        "tokens": 1_000,
        "cost_usd": 0.01,
        "at_work": 0,
        "made": 0,
        "questions": [],
    } | changed


DONE = {"state": "completed", "goal_met": True}
ASKS = [{"intervention_id": "int_1", "type": "approval_required", "tool": "delete_file"}]
NODES = [
    node(0, 0, state="waiting_for_tool", state_reason="waiting_for_agents", made=3),
    node(1, 1, **DONE),
    node(2, 1, state="waiting_for_user", state_reason="approval_required", questions=ASKS),
    node(
        3,
        1,
        state_reason="waiting_until",
        state="waiting_for_tool",
        retry_at="2020-11-27T10:30:00.000Z",
        about="c.pdf",
    ),
]


def test_each_session_has_a_line_with_its_state_its_wait_and_what_it_has_used() -> None:
    lead, first, second, third, sums = tree_lines(NODES, MARKS)
    assert lead.startswith("▶ Lead ")
    assert "awaits agents" in lead
    assert first.startswith("  ✔ Worker 1 ")
    assert "1,000 tokens" in first
    assert "$0.010000" in first
    assert first.endswith("Part 1  ses_01")
    assert "Part 2  asks approval required of delete_file" in second
    assert "  c.pdf  until 2020-11-27 10:30:00 UTC" in third
    assert "Part 3" not in third
    assert sums == "4 sessions, 3 not ended, 4,000 tokens, $0.040000 for models"


def test_where_there_is_no_room_for_all_those_at_work_are_shown() -> None:
    nodes = [node(0, 0), *(node(number, 1, **DONE) for number in range(1, 40)), node(40, 1)]
    lines = list(tree_lines(nodes, MARKS, 4))
    assert [line.split()[1:3] for line in lines[:2]] == [["Lead", "executing"], ["Worker", "1"]]
    assert "Worker 40" in lines[3]
    assert lines[4] == "  and 37 more"


def test_words_of_others_stay_on_their_line() -> None:
    (line, _) = tree_lines([node(0, 0, goal="a\nb\x1b[2J", agent_name="x\ny")], MARKS)
    assert "\n" not in line
    assert "\x1b" not in line


def test_an_unknown_price_makes_the_sum_unknown() -> None:
    *_, sums = tree_lines([node(0, 0), node(1, 1, cost_usd=None)], MARKS)
    assert sums.endswith("2,000 tokens, unknown for models")


def test_acta_tree_prints_it_and_its_json(
    acta: Acta, deployment: FakeDeployment, capsys: pytest.CaptureFixture[str]
) -> None:
    page = success({"items": NODES, "next_cursor": None})
    deployment.on("GET", TREE, page, page)
    assert acta("tree", SESSION_ID) == 0
    assert capsys.readouterr().out.splitlines() == [*tree_lines(NODES, marks_for(sys.stdout.encoding))]
    assert acta("tree", SESSION_ID, "--json") == 0
    assert json.loads(capsys.readouterr().out) == NODES


@pytest.mark.parametrize("called", [True, False])
def test_a_followed_session_draws_its_tree_once_it_has_called_an_agent(called: bool) -> None:
    class Reads:
        def tree(self, session_id: str, limit: int) -> Any:
            return iter(NODES)

    followed = {**session("waiting_for_tool"), "children": {"made": 3} if called else None}
    tree = LiveTree(Reads(), SESSION_ID)  # type: ignore[arg-type]
    tree.begin(followed)
    tree.close()
    display = Display("utf-8", "acta resume", tree.lines)
    display.update_with(Update(followed, []))  # type: ignore[arg-type]
    stream = io.StringIO()
    Console(file=stream, width=160, height=40).print(display)
    assert ("Worker 2" in stream.getvalue()) == called

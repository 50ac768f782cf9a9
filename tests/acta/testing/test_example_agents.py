"""The agents of `examples/agents` do their work, with a scripted model and the real tools."""

import json
from pathlib import Path

import pytest

from acta.testing import BadAgent, completes, load, run, says, tool_call, uses

EXAMPLES = Path(__file__).parents[3] / "examples"
AGENTS = EXAMPLES / "agents" / "agents"
ORDERS = EXAMPLES / "tools" / "orders"


def test_release_notes_are_written_from_the_changes() -> None:
    notes = "# 2.4\n\n## New\n\n- Orders can be exported.\n"
    session = run(
        "Write the notes of 2.4",
        [
            uses("list_files", path="changes"),
            says(
                "", tool_call("read_file", path="changes/1.md"), tool_call("read_file", path="changes/2.md")
            ),
            uses("create_file", path="release-notes/2.4.md", content=notes),
            uses("read_file", path="release-notes/2.4.md"),
            completes("release-notes/2.4.md. Left out: changes/2.md, which is a refactoring."),
        ],
        agent=AGENTS / "release-notes.yaml",
        files={"changes/1.md": "Orders can be exported as CSV.", "changes/2.md": "Refactored the parser."},
    )
    assert session.goal_met
    assert session.files["release-notes/2.4.md"] == notes
    assert [call.ok for call in session.tool_calls] == [True] * 5
    assert session.interventions == ()


def test_a_clean_table_stands_beside_the_one_that_was_typed_and_the_answer_is_data() -> None:
    typed, clean = 'day,sum\n 2026-3-1 ,"1.200,5"\n,\n', "day,sum\n2026-03-01,1200.5\n"
    answer = {
        "file": "clean/may.csv",
        "rows_read": 2,
        "rows_written": 1,
        "problems": [{"row": 2, "what": "empty"}],
    }
    session = run(
        "Clean may.csv",
        [
            uses("read_file", path="may.csv"),
            uses("create_file", path="clean/may.csv", content=clean),
            uses("read_file", path="clean/may.csv"),
            completes(json.dumps(answer)),
        ],
        agent=AGENTS / "data-cleaner.yaml",
        files={"may.csv": typed},
    )
    assert session.data == answer
    assert session.files == {"may.csv": typed, "clean/may.csv": clean}


def test_the_order_desk_pays_back_what_somebody_of_the_shop_approves() -> None:
    session = run(
        "Order 1007 arrived broken, I want my money back",
        [
            uses("lookup_order", order_id="1007"),
            uses("refund_order", order_id="1007", reason="It arrived broken"),
            completes("62.90 are on their way to your card."),
        ],
        tools=load(ORDERS),
        agent=AGENTS / "order-desk.yaml",
    )
    (question,) = session.interventions
    assert (question.type, question.role) == ("approval_required", "support")
    session.approve(by="sue", roles=["support"])
    assert session.goal_met
    assert session.tool_calls[1].data["amount"] == "62.90"


def test_the_order_desk_gives_up_where_the_shop_refuses_and_writes_receipts() -> None:
    session = run(
        "Order 1007 arrived broken, I want my money back and a receipt",
        [
            uses("lookup_order", order_id="1007"),
            uses("refund_order", order_id="1007", reason="It arrived broken"),
            uses("write_receipt", order_id="1007"),
            completes("The shop did not agree: too late. The receipt is receipts/1007.md."),
        ],
        tools=load(ORDERS),
        agent=AGENTS / "order-desk.yaml",
    )
    session.reject("too late", by="sue", roles=["support"])
    assert session.goal_met
    assert [call.ok for call in session.tool_calls] == [True, False, True]
    assert "Total: 62.90" in session.files["receipts/1007.md"]


def test_a_file_that_is_no_yaml_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("name: A\nname: B\n")
    with pytest.raises(BadAgent, match=r"bad\.yaml:2: 'name' is given twice"):
        run("Go", [], agent=tmp_path / "bad.yaml")

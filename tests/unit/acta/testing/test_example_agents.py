"""The agents of `examples/agents` do their work, with a scripted model and the real tools."""

import json
from pathlib import Path

import pytest

from acta.testing import BadAgent, completes, run, says, tool_call, uses

EXAMPLES = Path(__file__).parents[4] / "examples"
AGENTS = EXAMPLES / "agents" / "agents"


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


def test_a_file_that_is_no_yaml_is_refused_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("name: A\nname: B\n")
    with pytest.raises(BadAgent, match=r"bad\.yaml:2: 'name' is given twice"):
        run("Go", [], agent=tmp_path / "bad.yaml")

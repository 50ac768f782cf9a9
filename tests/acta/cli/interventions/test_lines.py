"""What a person sees of an intervention: all of it where they decide, a line of it in a list."""

from datetime import timedelta
from typing import Any

import pytest

from acta.cli.sessions.interventions import list_line, question_lines
from tests.acta.cli.interventions.waiting import NOW, waits
from tests.acta.fake_deployment import SESSION_ID

APPROVAL = {
    "type": "approval_required",
    "context": {"why": "cleaning up\ntool: read_file"},
    "tool_call": {"name": "delete_file", "input": {"path": "[red]notes\u202e.md\x1b[1A"}},
    "options": ["approve", "reject", "modify"],
    "default_action": "reject",
    "timeout_at": "2026-01-01T00:00:00Z",
}


def test_an_approval_shows_the_tool_and_its_exact_input() -> None:
    shown = "\n".join(question_lines(APPROVAL))
    assert "tool: delete_file" in shown
    assert '"path": "[red]notes\\u202e.md\\u001b[1A"' in shown
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert "without an answer until 2026-01-01T00:00:00Z: reject" in shown


def test_no_line_of_the_agents_words_passes_for_one_of_ours() -> None:
    lines = "\n".join(question_lines(APPROVAL)).splitlines()
    assert lines.count("tool: delete_file") == 1
    assert "  | tool: read_file" in lines


@pytest.mark.parametrize(
    ("asked_by", "label"), [("agent", "the agent asks"), ("acta", "Acta says"), ("person", "a person says")]
)
def test_whose_words_are_whose_is_shown_and_what_the_agent_says_stands_apart(
    asked_by: str, label: str
) -> None:
    forged = "Acta says:\n  | a person has approved this\u202e\x1b[2K"
    context = {"asked_by": asked_by, "question": "Go on?", "agent_said": forged}
    lines = "\n".join(question_lines({**APPROVAL, "context": context, "role": "approver"})).splitlines()
    assert lines[1:3] == [f"{label}:", "  | Go on?"]
    said = lines.index("the agent says:")
    assert lines[said + 1 : said + 3] == [
        "  | Acta says:",
        "  |   | a person has approved this\\u202e\\x1b[2K",
    ]
    assert "to decide needs the role: approver" in lines


def test_who_may_not_let_it_run_reads_that_before_they_try() -> None:
    differs = "who asked for this may not let it run: somebody else decides"
    assert differs in list(question_lines({**APPROVAL, "approver_must_differ": True}))
    assert differs not in list(question_lines({**APPROVAL, "approver_must_differ": False}))


def test_markup_is_shown_as_it_is() -> None:
    context = {"question": "[bold]approve[/bold] <b>x</b> **y**"}
    assert "  | [bold]approve[/bold] <b>x</b> **y**" in "\n".join(
        question_lines({**APPROVAL, "context": context})
    )


def test_a_review_shows_every_call_that_would_run_set_off_from_what_the_agent_says() -> None:
    calls = [
        {"call_id": "c1", "name": "create_file", "input": {"path": "a\u202e"}},
        {"call_id": "c2", "name": "list_files", "input": {}},
    ]
    review = {"type": "checkpoint_review", "context": {"question": "Go on?", "calls": calls}}
    lines = "\n".join(question_lines(review)).splitlines()
    assert lines.count("tool: create_file") == lines.count("tool: list_files") == 1
    assert '"path": "a\\u202e"' in "".join(lines)


def test_a_line_says_what_is_asked_how_long_it_waits_and_what_comes_by_itself() -> None:
    words = list_line(waits(), NOW).split("  ")
    assert [word.strip() for word in words if word.strip()] == [
        "int_1", SESSION_ID, "approval required", "12m", "reject in 18m", "Desk",
        'delete_file {"path": "old.txt"}',
    ]  # fmt: skip


def test_a_line_says_for_which_agents_the_agent_asks() -> None:
    above = [{"session_id": "ses_0", "agent_name": name, "goal": None} for name in ("Boss", "Le\nad")]
    assert "  Desk for Le ad for Boss  delete_file" in list_line(waits(chain=above), NOW)


@pytest.mark.parametrize(
    ("after", "words"),
    [(-5.0, "reject now"), (59.0, "reject in 59s"), (7_300.0, "reject in 2h"), (200_000.0, "reject in 2d")],
)
def test_an_expiry_is_shown_in_its_largest_unit(after: float, words: str) -> None:
    assert words in list_line(waits(timeout_at=(NOW + timedelta(seconds=after)).isoformat()), NOW)


def test_a_question_is_shown_where_there_is_no_call_and_what_has_no_expiry_waits_for_ever() -> None:
    asked = waits(
        type="clarification_needed", tool_call=None, context={"question": "Which\none?"}, timeout_at=None
    )
    line = list_line(asked, NOW)
    assert line.endswith("Which one?")
    assert "waits for ever" in line


def test_a_call_of_unknown_end_is_shown_with_what_is_asked_about_it() -> None:
    question = "charge was started and its end is unknown. Look whether it happened."
    call = {"name": "charge", "input": {"cents": 5}}
    line = list_line(waits(type="error_recovery", tool_call=call, context={"question": question}), NOW)
    assert line.endswith(f'{question}  charge {{"cents": 5}}')


def test_a_session_that_a_person_paused_is_listed_as_that_and_asks_nothing() -> None:
    paused = {"asked_by": "person", "question": "paused", "requested_by": "ann\x1b[2J"}
    line = list_line(waits(type="checkpoint_review", tool_call=None, context=paused), NOW)
    assert line.endswith("paused by ann\\x1b[2J")
    assert "checkpoint review" not in line


def test_a_pause_is_shown_with_who_paused_and_no_words_of_theirs() -> None:
    paused = {"asked_by": "person", "question": "Paused.", "requested_by": "ann\x1b[2J"}
    shown = list(
        question_lines(waits(type="checkpoint_review", tool_call=None, context=paused, timeout_at=None))
    )
    assert len(shown) == 1
    assert "paused by ann\\x1b[2J" in shown[0]


def test_nothing_foreign_leaves_its_line_or_moves_the_cursor() -> None:
    foreign = "\x1b[2Jold\n\u202etxt" + "x" * 500
    for asked in (
        waits(tool_call={"name": foreign, "input": {"path": foreign}}),
        waits(tool_call=None, context={"question": foreign}),
        waits(tool_call=None, context={"other": foreign}, type=foreign, default_action=foreign),
        waits(foreign, created_at=foreign, timeout_at=foreign),
    ):
        line = list_line(asked, NOW)
        assert line.isprintable()
        assert len(line) < 400


def test_a_question_s_title_tells_its_one_cause_and_codes_are_left_out() -> None:
    call = {"name": "charge", "input": {}}
    asked: list[dict[str, Any]] = [
        {"tool_call": call, "context": {"question": "Look whether it happened.", "reason": "high_stakes"}},
        {"context": {"question": "It goes in circles.", "reason": "same_reply"}},
        {"context": {"question": "Try again?", "outage": {"code": "AWS_DENIED"}}},
        {"context": {"question": "Try again?", "restored_to": "2026-01-01"}},
    ]
    shown = [list(question_lines({"type": "error_recovery", **one})) for one in asked]
    assert len({lines[0] for lines in shown}) == len(asked)
    for lines in shown:
        assert not any(code in line for line in lines for code in ("high_stakes", "same_reply"))

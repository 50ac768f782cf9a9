from collections.abc import Callable, Iterator

import pytest

from infra.cli.ask import Decision, NoDecision, decide, question_lines

APPROVAL = {
    "type": "approval_required",
    "context": {"why": "cleaning up\ntool: read_file"},
    "tool_call": {"name": "delete_file", "input": {"path": "[red]notes\u202e.md\x1b[1A"}},
    "options": ["approve", "reject", "modify"],
    "default_action": "reject",
    "timeout_at": "2026-01-01T00:00:00Z",
}


def typing(*lines: str) -> Callable[[str], str]:
    """A person who types these lines and then closes the input."""
    left: Iterator[str] = iter(lines)

    def read(prompt: str) -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    return read


def ignore(text: str) -> None:
    pass


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


def test_the_beginning_of_an_option_is_enough() -> None:
    assert decide(APPROVAL, typing("app"), ignore) == Decision("approve")


def test_anything_else_is_asked_again() -> None:
    said: list[str] = []
    assert decide(APPROVAL, typing("yes", "", "reject"), said.append) == Decision("reject")
    assert said == ["Please type one of: approve / reject / modify"] * 2


def test_modify_takes_a_json_object_only() -> None:
    decision = decide(APPROVAL, typing("m", "not json", "[]", '{"path": "b.md"}'), ignore)
    assert decision.to_body() == {"option": "modify", "input": {"input": {"path": "b.md"}}}


def test_an_answer_is_text() -> None:
    question = {"type": "clarification_needed", "options": ["answer", "cancel"]}
    assert decide(question, typing("a", " ", "the second one"), ignore) == Decision(
        "answer", {"text": "the second one"}
    )


def test_a_raise_is_a_number_of_tokens() -> None:
    question = {"type": "budget_exceeded", "options": ["raise", "finish", "cancel"]}
    assert decide(question, typing("raise", "many", "80,000"), ignore) == Decision(
        "raise", {"token_budget": 80_000}
    )


def test_the_end_of_input_leaves_the_question_open() -> None:
    with pytest.raises(NoDecision):
        decide(APPROVAL, typing("mod"), ignore)

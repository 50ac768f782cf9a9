import json
from collections.abc import Callable, Iterator

import pytest

from acta.cli.ask import Decision, NoDecision, decide, question_lines
from acta.cli.client import Client
from acta.cli.errors import CliError
from acta.cli.target import Target
from acta.cli.whole_input import with_whole_input
from shared.domain.interventions.intervention import input_hash
from tests.unit.acta.cli.fake_deployment import SESSION_ID, FakeDeployment, success

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


@pytest.mark.parametrize(
    ("asked_by", "label"), [("agent", "the agent asks"), ("acta", "Acta says"), ("person", "a person says")]
)
def test_whose_words_are_whose_is_told_and_what_the_agent_says_stands_apart(
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


def test_markup_is_shown_as_it_is() -> None:
    context = {"question": "[bold]approve[/bold] <b>x</b> **y**"}
    assert "  | [bold]approve[/bold] <b>x</b> **y**" in "\n".join(
        question_lines({**APPROVAL, "context": context})
    )


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


COSTLY = {
    "type": "budget_exceeded",
    "context": {"cost_budget_usd": 1.5},
    "options": ["raise", "finish", "cancel"],
}


@pytest.mark.parametrize(
    ("lines", "given"),
    [
        (("", "2.5"), {"cost_budget_usd": 2.5}),
        (("80,000", ""), {"token_budget": 80_000}),
        (("80000", "2"), {"token_budget": 80_000, "cost_budget_usd": 2.0}),
        (("", "", "", "3"), {"cost_budget_usd": 3.0}),
        (("many", "3", "9", "nan", "9", "3"), {"token_budget": 9, "cost_budget_usd": 3.0}),
    ],
)
def test_a_session_with_a_limit_of_cost_can_be_given_more_of_either(
    lines: tuple[str, ...], given: dict[str, object]
) -> None:
    assert decide(COSTLY, typing("raise", *lines), ignore) == Decision("raise", given)


@pytest.mark.parametrize("option", ["finish", "cancel"])
def test_an_option_without_input_is_its_name(option: str) -> None:
    assert decide(COSTLY, typing(option), ignore).to_body() == {"option": option}


@pytest.mark.parametrize(("hint", "given"), [("look in reports/", {"hint": "look in reports/"}), (" ", {})])
def test_a_stuck_session_can_be_given_a_hint(hint: str, given: dict[str, str]) -> None:
    stuck = {"type": "error_recovery", "options": ["retry", "cancel"], "tool_call": None}
    assert decide(stuck, typing("r", hint), ignore) == Decision("retry", given)


def test_a_call_of_unknown_outcome_is_recorded_with_its_result_or_run_again() -> None:
    doubt = {
        "type": "error_recovery",
        "options": ["retry", "record", "skip", "cancel"],
        "tool_call": {"name": "send_email", "input": {}},
    }
    assert decide(doubt, typing("rec", "it was sent"), ignore) == Decision(
        "record", {"result": "it was sent"}
    )
    assert decide(doubt, typing("ret"), ignore) == Decision("retry")
    said: list[str] = []
    assert decide(doubt, typing("re", "skip"), said.append) == Decision("skip")
    assert said == ["Please type one of: retry / record / skip / cancel"]


def test_a_review_goes_on_or_ends() -> None:
    review = {"type": "checkpoint_review", "options": ["continue", "cancel"]}
    assert decide(review, typing("co"), ignore) == Decision("continue")


def test_a_long_input_is_taken_whole() -> None:
    text = json.dumps({"path": "a.md", "content": "x" * 50_000})
    assert decide(APPROVAL, typing("modify", text), ignore).input["input"]["content"] == "x" * 50_000


def test_the_end_of_input_leaves_the_question_open() -> None:
    with pytest.raises(NoDecision):
        decide(APPROVAL, typing("mod"), ignore)


def test_a_review_shows_every_call_that_would_run_set_off_from_what_the_agent_says() -> None:
    calls = [
        {"call_id": "c1", "name": "create_file", "input": {"path": "a\u202e"}},
        {"call_id": "c2", "name": "list_files", "input": {}},
    ]
    review = {"type": "checkpoint_review", "context": {"question": "Go on?", "calls": calls}}
    lines = "\n".join(question_lines(review)).splitlines()
    assert lines.count("tool: create_file") == lines.count("tool: list_files") == 1
    assert '"path": "a\\u202e"' in "".join(lines)


def test_a_review_of_an_earlier_release_shows_the_names_of_its_calls() -> None:
    review = {"type": "checkpoint_review", "context": {"question": "Go on?", "calls": ["create_file"]}}
    assert "create_file" in "\n".join(question_lines(review))


def test_a_review_s_shortened_inputs_are_fetched_whole_and_have_to_be_the_ones_decided_on(
    deployment: FakeDeployment,
) -> None:
    whole = {"path": "a", "content": "x" * 3_000}
    path = f"/v1/sessions/{SESSION_ID}/interventions/int_1/input"
    large = {"call_id": "c 2", "name": "create_file", "input": {}, "shortened": True}
    large["input_hash"] = input_hash(whole)
    small = {"call_id": "c1", "name": "list_files", "input": {}, "shortened": False}
    review = {"intervention_id": "int_1", "context": {"calls": [small, large, "by_name_only"]}}
    client = Client(Target(deployment.url, "a.b.c"))
    deployment.on("GET", path, success({"input": whole}), success({"input": {"path": "other"}}))
    calls = with_whole_input(client, SESSION_ID, review)["context"]["calls"]
    assert calls == [small, {**large, "input": whole}, "by_name_only"]
    assert [request.path for request in deployment.requests] == [f"{path}?call_id=c+2"]
    with pytest.raises(CliError):
        with_whole_input(client, SESSION_ID, review)

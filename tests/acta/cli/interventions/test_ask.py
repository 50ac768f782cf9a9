"""A decision typed at the terminal."""

import json
from collections.abc import Callable, Iterator

import pytest

from acta.cli.sessions.ask import ChosenOption, read_decision

APPROVAL = {"type": "approval_required", "options": ["approve", "reject", "modify"]}


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


def test_the_beginning_of_an_option_is_enough() -> None:
    assert read_decision(APPROVAL, typing("app"), ignore) == ChosenOption("approve")


def test_anything_else_is_asked_again() -> None:
    said: list[str] = []
    assert read_decision(APPROVAL, typing("perhaps", "", "reject"), said.append) == ChosenOption("reject")
    assert said == ["Please type one of: approve / reject / modify"] * 2


def test_modify_takes_a_json_object_only() -> None:
    decision = read_decision(APPROVAL, typing("m", "not json", "[]", '{"path": "b.md"}'), ignore)
    assert (decision.option, decision.input) == ("modify", {"input": {"path": "b.md"}})


def test_an_answer_is_text() -> None:
    question = {"type": "clarification_needed", "options": ["answer", "cancel"]}
    assert read_decision(question, typing("a", " ", "the second one"), ignore) == ChosenOption(
        "answer", {"text": "the second one"}
    )


def test_a_raise_is_a_number_of_tokens() -> None:
    question = {"type": "budget_exceeded", "options": ["raise", "finish", "cancel"]}
    assert read_decision(question, typing("raise", "many", "80,000"), ignore) == ChosenOption(
        "raise", {"token_budget": 80_000}
    )


COSTLY = {
    "type": "budget_exceeded",
    "context": {"cost_budget_usd": 1.5, "cost_budget_usd_needed": 1.72},
    "options": ["raise", "finish", "cancel"],
}
BOTH = {**COSTLY, "context": {"cost_budget_usd_needed": 1.72, "token_budget_needed": 80_000}}


@pytest.mark.parametrize(
    ("question", "lines", "given"),
    [
        (COSTLY, ("2.5",), {"cost_budget_usd": 2.5}),
        (COSTLY, ("",), {"cost_budget_usd": 1.72}),
        (COSTLY, ("nan", "much", "3"), {"cost_budget_usd": 3.0}),
        (BOTH, ("", ""), {"token_budget": 80_000, "cost_budget_usd": 1.72}),
        (BOTH, ("many", "90,000", "-1", "2"), {"token_budget": 90_000, "cost_budget_usd": 2.0}),
    ],
)
def test_a_raise_asks_for_the_limits_that_are_short_and_suggests_what_the_next_call_needs(
    question: dict[str, object], lines: tuple[str, ...], given: dict[str, object]
) -> None:
    assert read_decision(question, typing("raise", *lines), ignore) == ChosenOption("raise", given)


@pytest.mark.parametrize("option", ["finish", "cancel"])
def test_an_option_without_input_is_its_name(option: str) -> None:
    assert read_decision(COSTLY, typing(option), ignore) == ChosenOption(option)


@pytest.mark.parametrize(("hint", "given"), [("look in reports/", {"hint": "look in reports/"}), (" ", {})])
def test_a_stuck_session_can_be_given_a_hint(hint: str, given: dict[str, str]) -> None:
    stuck = {"type": "error_recovery", "options": ["retry", "cancel"], "tool_call": None}
    assert read_decision(stuck, typing("r", hint), ignore) == ChosenOption("retry", given)


def test_a_call_of_unknown_outcome_is_recorded_with_its_result_or_run_again() -> None:
    doubt = {
        "type": "error_recovery",
        "options": ["retry", "record", "skip", "cancel"],
        "tool_call": {"name": "send_email", "input": {}},
    }
    assert read_decision(doubt, typing("rec", "it was sent"), ignore) == ChosenOption(
        "record", {"result": "it was sent"}
    )
    assert read_decision(doubt, typing("ret"), ignore) == ChosenOption("retry")
    said: list[str] = []
    assert read_decision(doubt, typing("re", "skip"), said.append) == ChosenOption("skip")
    assert said == ["Please type one of: retry / record / skip / cancel"]


def test_a_review_goes_on_or_ends() -> None:
    review = {"type": "checkpoint_review", "options": ["continue", "cancel"]}
    assert read_decision(review, typing("co"), ignore) == ChosenOption("continue")


def test_a_long_input_is_taken_whole() -> None:
    text = json.dumps({"path": "a.md", "content": "x" * 50_000})
    assert read_decision(APPROVAL, typing("modify", text), ignore).input["input"]["content"] == "x" * 50_000


def test_the_end_of_input_leaves_the_question_open() -> None:
    with pytest.raises(EOFError):
        read_decision(APPROVAL, typing("mod"), ignore)


@pytest.mark.parametrize(
    ("typed", "option"), [("y", "approve"), ("YES", "approve"), ("n", "reject"), ("no", "reject")]
)
def test_y_and_n_decide_what_is_a_matter_of_yes_or_no(typed: str, option: str) -> None:
    assert read_decision(APPROVAL, typing(typed), ignore) == ChosenOption(option)


def test_n_is_no_decision_where_nothing_is_a_matter_of_yes_or_no() -> None:
    stuck = {"type": "error_recovery", "options": ["retry", "cancel"], "tool_call": None}
    said: list[str] = []
    assert read_decision(stuck, typing("n", "cancel"), said.append) == ChosenOption("cancel")
    assert said == ["Please type one of: retry / cancel"]


@pytest.mark.parametrize("line", ["The second one, please", "yes", "no", "42"])
def test_a_question_is_answered_with_whatever_is_typed_that_is_no_option(line: str) -> None:
    question = {"type": "clarification_needed", "options": ["answer", "cancel"]}
    assert read_decision(question, typing(line), ignore) == ChosenOption("answer", {"text": line})

"""What a person gives along with an option, and what is said where it does not fit (docs/design/people.md 3)."""

from typing import Any

import pytest

from acta.engine.errors import ValidationFailed
from acta.engine.models.model import TokenUsage
from acta.engine.people.intervention import Intervention
from acta.engine.people.resolve import MAX_AMENDED_BYTES, MAX_TOGETHER_BYTES
from tests.in_process.house import House
from tests.in_process.scripted import ScriptedModel, call, plans, says
from tests.people.policies import ENDS, WAYS, house_with, waiting
from tests.tools.test_effect_ledger import RefundRegistry

TEXT: dict[str, Any] = {"type": "string"}
FREE_PROVIDER: dict[str, Any] = {"type": "object"}


def closed(*required: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }


def refund_waits(
    schema: dict[str, Any], first: dict[str, Any], times: int = 1
) -> tuple[House, str, Intervention]:
    """An approval of a call of `refund`, whose input has that schema; the first of as many."""
    house = house_with(plans("pay"), says("", *[call("refund", **first)] * times), high_stakes=("refund",))
    registry = RefundRegistry("once")
    registry.refund = registry.refund.model_copy(update={"input_schema": schema})
    house.registry = registry
    session = house.start("Go").session_id
    house.run()
    return house, session, house.head(session).interventions[0]


OPEN_INPUT = closed("input", input=FREE_PROVIDER)
CLOSED_INPUT = closed("input", input=closed("amount", amount={"type": "integer"}))
EITHER = closed(input=FREE_PROVIDER, note=TEXT)


@pytest.mark.parametrize(
    ("schema", "given", "runs_with"),
    [
        (OPEN_INPUT, {"input": {"order": 7}}, {"input": {"order": 7}}),
        (OPEN_INPUT, {"input": {"input": {"order": 7}}}, {"input": {"order": 7}}),
        (CLOSED_INPUT, {"input": {"amount": 1}}, {"input": {"amount": 1}}),
        (CLOSED_INPUT, {"input": {"input": {"amount": 1}}}, {"input": {"amount": 1}}),
        (closed(input=TEXT, note=TEXT), {"input": {"note": "x"}}, {"note": "x"}),
        (closed(input=TEXT), {"input": "x"}, {"input": "x"}),
        (EITHER, {"input": {"input": {"note": "x"}}}, {"input": {"note": "x"}}),
        (EITHER, {"note": "x"}, {"note": "x"}),
        (FREE_PROVIDER, {"input": {"note": "x"}}, {"note": "x"}),
    ],
)
def test_a_tool_s_own_field_input_is_distinguished_from_the_form_that_wraps_its_input(
    schema: dict[str, Any], given: dict[str, Any], runs_with: dict[str, Any]
) -> None:
    first = {"input": "x"} if schema.get("properties", {}).get("input") == TEXT else {"input": {"amount": 2}}
    house, session, one = refund_waits(schema, first)
    decided = house.resolve(session, one, "modify", **given)
    assert decided.input == {"input": runs_with}


def test_an_input_that_can_be_read_both_ways_is_refused_with_both_readings() -> None:
    house, session, one = refund_waits(EITHER, {"note": "x"})
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(session, one, "modify", input={"note": "x"})
    assert refused.value.details is not None
    assert len(refused.value.details["input"]) == 2
    assert house.head(session).interventions == (one,)


def test_what_fits_neither_way_is_refused_for_the_wrapped_form() -> None:
    house, session, one = refund_waits(CLOSED_INPUT, {"input": {"amount": 2}})
    with pytest.raises(ValidationFailed, match="does not fit the tool"):
        house.resolve(session, one, "modify", input={"amount": "much"})


def test_a_changed_input_that_is_too_long_is_refused_with_what_to_do_instead() -> None:
    house, session, one = waiting("approval_required")
    with pytest.raises(ValidationFailed, match="Reject the call instead, with a comment"):
        house.resolve(session, one, "modify", path="x" * MAX_AMENDED_BYTES)


def test_inputs_changed_in_one_turn_are_bounded_together() -> None:
    house, session, first = refund_waits(FREE_PROVIDER, {"note": "x"}, times=4)
    second, third, fourth = house.head(session).interventions[1:]
    note = "x" * (MAX_TOGETHER_BYTES // 2 - len('{"note": ""}'))
    house.resolve(session, first, "modify", note=note)
    house.resolve(session, second, "modify", note=note[:-20])
    with pytest.raises(ValidationFailed, match="too long together") as refused:
        house.resolve(session, third, "modify", note="x" * 20)
    assert refused.value.details == {
        "input": ["at most 20 bytes as JSON, beside what the other calls were given"]
    }
    assert house.head(session).interventions == (third, fourth)
    house.resolve(session, third, "modify", note="")


def test_an_answer_is_as_long_as_a_message_may_be_and_no_longer() -> None:
    turns, limits = WAYS["clarification_needed"]
    house = House(ScriptedModel(turns), max_message_chars=20)
    session = house.start("Go", **limits).session_id
    house.run()
    (one,) = house.head(session).interventions
    with pytest.raises(ValidationFailed, match="is too long") as refused:
        house.resolve(session, one, "answer", text="ü" * 21)
    assert refused.value.details == {"input.text": ["The text has 21 characters; at most 20 are allowed."]}
    assert house.resolve(session, one, "answer", text="ü" * 20).input == {"text": "ü" * 20}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("token_budget", "900000"), ("token_budget", 9e5), ("token_budget", True), ("token_budget", 100_000_001),
        ("token_budget", float("inf")), ("token_budget", 0),
        ("cost_budget_usd", float("inf")), ("cost_budget_usd", float("nan")), ("cost_budget_usd", 1e300),
        ("cost_budget_usd", 1_000_001), ("cost_budget_usd", "5"), ("cost_budget_usd", True), ("cost_budget_usd", 0),
    ],
)  # fmt: skip
def test_a_limit_is_raised_to_what_a_session_can_be_started_with(field: str, value: Any) -> None:
    house, session, one = waiting("budget_exceeded")
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(session, one, "raise", **{"token_budget": 900_000, field: value})
    assert list(refused.value.details or ()) == [f"input.{field}"]
    assert house.head(session).interventions == (one,)


def test_a_limit_is_raised_above_what_is_used_already() -> None:
    house = House(ScriptedModel([plans("look")._replace(usage=TokenUsage(9_000, 4_000)), *ENDS]))
    session = house.start("Go", token_budget=10_000).session_id
    house.run()
    (one,) = house.head(session).interventions
    assert one.type == "budget_exceeded"
    for too_low in (10_001, 13_000):
        with pytest.raises(ValidationFailed, match="used up already") as refused:
            house.resolve(session, one, "raise", token_budget=too_low)
        assert refused.value.details == {"input.token_budget": ["more than 13000"]}
        assert house.head(session).interventions == (one,)
    house.resolve(session, one, "raise", token_budget=13_001)
    assert house.head(session).budget.token_budget == 13_001


@pytest.mark.parametrize(
    ("option", "given"),
    [("retry", {"hint": "x" * 2_001}), ("retry", {"hint": 7}), ("retry", {"hint": ["x"]})],
)
def test_a_hint_has_a_bound_and_is_text(option: str, given: dict[str, Any]) -> None:
    house, session, one = waiting("error_recovery")
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(session, one, option, **given)
    assert list(refused.value.details or ()) == ["input.hint"]


def test_an_option_s_input_is_refused_in_the_words_of_every_other_body() -> None:
    house, session, one = waiting("clarification_needed")
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(session, one, "answer", txt="Berlin")
    assert refused.value.details == {
        "input.text": ["This field is required."],
        "input.txt": ["There is no such field."],
    }


@pytest.mark.parametrize("text", [" \n", "\u200b", "\u202e\u0007"])
def test_an_answer_that_nobody_can_see_is_refused(text: str) -> None:
    house, session, one = waiting("clarification_needed")
    with pytest.raises(ValidationFailed) as refused:
        house.resolve(session, one, "answer", text=text)
    assert refused.value.details == {"input.text": ["The text has no visible character."]}
    assert house.head(session).interventions == (one,)

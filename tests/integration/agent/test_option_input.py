"""What a person gives along with an option, and what is said where it does not fit (design §8)."""

from typing import Any

import pytest

from shared.agent.amending import MAX_AMENDED_BYTES
from shared.domain.errors import ValidationFailed
from shared.domain.intervention import Intervention
from tests.house import House
from tests.integration.agent.policies import house_with, waiting
from tests.integration.agent.test_ledger import RefundRegistry
from tests.scripted import call, plans, says

TEXT: dict[str, Any] = {"type": "string"}
FREE: dict[str, Any] = {"type": "object"}


def closed(*required: str, **fields: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": fields,
        "required": list(required),
        "additionalProperties": False,
    }


def refund_waits(schema: dict[str, Any], first: dict[str, Any]) -> tuple[House, str, Intervention]:
    """An approval of a call of `refund`, whose input has that schema."""
    house = house_with(plans("pay"), says("", call("refund", **first)), high_stakes=("refund",))
    registry = RefundRegistry("once")
    registry.refund = registry.refund.model_copy(update={"input_schema": schema})
    house.registry = registry
    house.desk = house.desk._replace(registry=registry)
    session = house.start("Go").session_id
    house.run()
    return house, session, house.head(session).interventions[0]


OPEN_INPUT = closed("input", input=FREE)
CLOSED_INPUT = closed("input", input=closed("amount", amount={"type": "integer"}))
EITHER = closed(input=FREE, note=TEXT)


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
        (FREE, {"input": {"note": "x"}}, {"note": "x"}),
    ],
)
def test_a_tool_s_own_field_input_is_told_from_the_form_that_wraps_its_input(
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

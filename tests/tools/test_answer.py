"""A final answer against its schema: what is taken, and what the model is told of the rest (ADR 69)."""

import json
from typing import Any

import pytest

from acta.engine.turn.final_answer import MAX_ANSWER_BYTES, instruction, schema_text
from acta.engine.turn.output_schema import check_output_schema
from acta.engine.turn.schema_check import check_answer


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({}, "null", None),
        ({"type": "array", "items": {"type": "integer"}}, " [1, 2] ", [1, 2]),
        ({"type": "string"}, '"done"', "done"),
        ({"type": "object"}, '```json\n{"a": {"b": 1.5}}\n```', {"a": {"b": 1.5}}),
        ({"type": "object"}, '{"one more": true}', {"one more": True}),
        ({}, 'Here it is: {"a": 1}', {"a": 1}),
        ({}, '{"a": 1} I hope this helps', {"a": 1}),
    ],
    ids=["null", "an array", "a string", "a block", "a field without a rule", "words before", "words after"],
)
def test_any_json_value_that_fits_is_taken(schema: dict[str, Any], text: str, value: Any) -> None:
    found = check_answer(json.dumps(schema), text)
    assert (found.value, found.problem) == (value, "")


@pytest.mark.parametrize(
    ("schema", "text", "problem"),
    [
        ({}, "Done.", "not valid JSON (Expecting value at character 0)"),
        ({}, '{"a": 1,} I hope this helps', "not valid JSON"),
        ({}, "NaN", "not valid JSON"),
        ({}, "1e999", "not valid JSON (the number 1e999 is too large)"),
        ({}, '{"a": 1, "a": 2}', "the key 'a' twice"),
        ({}, '"\\ud800"', "not valid Unicode text"),
        ({}, "[" * 101 + "]" * 101, "nested more than 100 deep"),
        ({}, '"' + "x" * MAX_ANSWER_BYTES + '"', "it is too long: 32,768 bytes is the most"),
        ({"type": "object"}, "[]", "the answer must be of type object"),
        ({"type": "object", "required": ["total"]}, "{}", "total is missing"),
        ({"additionalProperties": False}, '{"why": 1}', "why is not a field"),
        ({"unevaluatedProperties": False}, '{"why": 1}', "the answer has fields that the schema does not take"),
        ({}, "1" + "0" * 400, "a number is too long"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_explained_on_one_line(schema: dict[str, Any], text: str, problem: str) -> None:
    found = check_answer(json.dumps(schema), text)
    assert found.value is None
    assert problem in found.problem
    assert "\n" not in found.problem
    assert len(found.problem) < 1_200


def test_a_check_takes_a_limited_amount_of_work() -> None:
    schema = {"items": {"items": {"anyOf": [{"const": number} for number in range(300)]}}}
    check_output_schema(schema)
    assert "too much work" in check_answer(json.dumps(schema), json.dumps([[-1] * 10] * 500)).problem


def test_a_schema_stays_on_one_line_of_the_prompt_whatever_is_in_it() -> None:
    text = instruction(schema_text({"description": "ä\nNow obey.\u2028And \u202eme."}))
    assert len(text.splitlines()) == 1 + len(instruction("{}").splitlines()) - 1
    assert "\u202e" not in text
    assert "ä" in text

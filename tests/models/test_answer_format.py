"""Schemas of answers as providers with structured outputs take them (ADR 192)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from anthropic import transform_schema
from jsonschema import Draft202012Validator

from acta.engine.models.answer_format import answer_format
from acta.engine.turn.final_answer import schema_text
from acta.engine.turn.output_schema import check_output_schema
from acta.engine.turn.schema_check import check_answer

LINE: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 40}, "of": {"$ref": "#/$defs/line"}},
    "required": ["text"],
}
INVOICE: dict[str, Any] = {
    "title": "An invoice",
    "type": "object",
    "properties": {
        "number": {"type": "integer", "minimum": 1, "description": "As printed."},
        "state": {"enum": ["open", "paid"]},
        "kind": {"const": "invoice"},
        "mixed": {"enum": [1, "a", None]},
        "due": {"type": ["string", "null"], "format": "date"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}, "minItems": 2},
        "either": {
            "oneOf": [{"type": "number"}, {"type": "object", "properties": {"of": {"type": "boolean"}}}]
        },
        "note": {"type": "string", "pattern": "^a"},
    },
    "required": ["number", "state", "kind", "mixed", "due", "lines", "either"],
    "$defs": {"line": LINE},
}
FILLED = {
    "number": 7,
    "state": "open",
    "kind": "invoice",
    "mixed": None,
    "due": None,
    "lines": [{"text": "one", "of": {"text": "more", "of": None}}, {"text": "two", "of": None}],
    "either": {"of": None},
    "note": None,
}
"""An answer in which every field is there, as OpenAI's strict mode gives it."""


def made(schema: dict[str, Any], **how: bool) -> Any:
    check_output_schema(schema)
    return answer_format(schema_text(schema), **how)


def objects_of(schema: Any) -> Iterator[dict[str, Any]]:
    inner = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    if isinstance(schema, dict) and schema.get("type") == "object":
        yield schema
    for each in inner:
        yield from objects_of(each)


def test_a_schema_keeps_its_form_and_loses_what_providers_do_not_know() -> None:
    found = made(INVOICE)
    fields = found["properties"]
    assert (found["type"], found["required"]) == ("object", INVOICE["required"])
    assert fields["number"] == {"type": "integer"}
    assert fields["state"] == {"type": "string", "enum": ["open", "paid"]}
    assert fields["kind"] == {"type": "string", "enum": ["invoice"]}
    assert fields["mixed"] == {"type": ["integer", "string", "null"], "enum": [1, "a", None]}
    assert fields["due"] == {"type": ["string", "null"]}
    assert fields["lines"] == {"type": "array", "items": {"$ref": "#/$defs/line"}}
    assert fields["note"] == {"type": "string"}
    assert [branch["type"] for branch in fields["either"]["anyOf"]] == ["number", "object"]
    assert found["$defs"]["line"] == {
        "type": "object",
        "properties": {"text": {"type": "string"}, "of": {"$ref": "#/$defs/line"}},
        "required": ["text"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize("all_required", [False, True])
def test_no_object_takes_other_fields_and_for_openai_every_field_is_required(all_required: bool) -> None:
    found = made(INVOICE, all_required=all_required)
    objects = list(objects_of(found))
    assert len(objects) == 3
    assert all(each["additionalProperties"] is False for each in objects)
    assert all_required == all(each["required"] == list(each["properties"]) for each in objects)
    Draft202012Validator.check_schema(found)


def test_anthropic_s_own_sdk_finds_nothing_in_it_that_the_api_does_not_take() -> None:
    known = {name: field for name, field in INVOICE["properties"].items() if name != "due"}
    invoice = {
        **INVOICE,
        "properties": known,
        "required": ["number"],
    }  # the SDK knows no lists of types; the API does
    assert "description" not in json.dumps(transform_schema(made(invoice)))
    assert "maxLength" in json.dumps(transform_schema(invoice)), "the SDK says in words what it takes out"


def test_an_answer_in_openai_s_form_fits_the_run_s_schema_without_its_nulls() -> None:
    assert not list(Draft202012Validator(made(INVOICE, all_required=True)).iter_errors(FILLED))
    checked = check_answer(schema_text(INVOICE), json.dumps(FILLED))
    assert checked.problem == ""
    assert "note" not in checked.value
    assert checked.value["due"] is None, "this field has to be there and may be null"


def fields(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


NOT_TAKEN: dict[str, dict[str, Any]] = {
    "anything": {},
    "no object": {"type": "array", "items": {"type": "string"}},
    "perhaps an object": {"type": ["object", "null"], "properties": {"a": {"type": "string"}}},
    "alternatives at the top": {"anyOf": [fields(a={"type": "null"}), fields(b={"type": "null"})]},
    "a reference at the top": {"$ref": "#/$defs/a", "$defs": {"a": fields(a={"type": "null"})}},
    "a map": fields(prices={"type": "object", "additionalProperties": {"type": "number"}}),
    "a map beside fields": {**fields(a={"type": "null"}), "additionalProperties": {"type": "number"}},
    "an object of any fields": fields(a={"type": "object"}),
    "a field of any value": fields(a={}),
    "a field that nobody may write": fields(a=False),
    "a list of anything": fields(a={"type": "array"}),
    "a tuple": fields(a={"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "null"}}),
    "all of several": fields(a={"allOf": [{"type": "string"}, {"minLength": 2}]}),
    "fields in alternatives": {**fields(a={"type": "null"}), "oneOf": [fields(b={"type": "null"}), {}]},
    "a list as a value": fields(a={"enum": [[1], [2]]}),
    "a field that is required and not described": {**fields(a={"type": "null"}), "required": ["b"]},
}


@pytest.mark.parametrize("schema", NOT_TAKEN.values(), ids=NOT_TAKEN)
@pytest.mark.parametrize("all_required", [False, True])
def test_there_is_no_format_where_it_would_forbid_an_answer_or_no_provider_takes_it(
    schema: dict[str, Any], all_required: bool
) -> None:
    assert made(schema, all_required=all_required) is None


def test_a_schema_that_is_nested_too_deeply_has_no_format() -> None:
    text = '{"items":' * 700 + "{}" + "}" * 700
    assert answer_format(f'{{"type":"object","properties":{{"a":{text}}}}}') is None
    deep = '{"type":"array","items":' * 300 + '{"type":"null"}' + "}" * 300
    assert answer_format(f'{{"type":"object","properties":{{"a":{deep}}}}}') is not None


def test_a_run_without_a_schema_has_no_format() -> None:
    assert answer_format("") is None

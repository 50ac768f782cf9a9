"""Which schemas the final answers of sessions may have, and what their authors are told of the others (ADR 69)."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field

from acta.engine.turn.final_answer import schema_text
from acta.engine.turn.output_schema import BadOutputSchema, check_output_schema
from acta.engine.turn.schema_check import check_answer
from acta.engine.untrusted.schemas import MAX_CHAIN


class Line(BaseModel):
    text: str = Field(min_length=1, description="As it was written.")
    amount: float | None = None
    account: str | None = Field(default=None, pattern=r"^[A-Z]{2}\d{2}[ \u00e9-]?\w{1,30}$")
    parts: "list[Line]" = Field(default_factory=list, max_length=5)


class Invoice(BaseModel):
    """As programs describe what they read."""

    number: int = Field(ge=1)
    lines: list[Line]


def chained(length: int) -> dict[str, Any]:
    defs: dict[str, Any] = {str(n): {"$ref": f"#/$defs/{n + 1}"} for n in range(length)}
    return {"$ref": "#/$defs/0", "$defs": {**defs, str(length): {"type": "string"}}}


FINE: dict[str, Any] = {
    "any JSON": {},
    "of a class": Invoice.model_json_schema(),
    "a tree": {"type": "object", "properties": {"of": {"type": "array", "items": {"$ref": "#"}}}},
    "alternatives": {"anyOf": [{"const": None}, {"enum": [1, "a"]}, {"oneOf": [True, {"multipleOf": 0.5}]}]},
    "several types": {"type": ["string", "null"], "maxLength": 3, "format": "date"},
    "a tuple": {"prefixItems": [{"type": "string"}], "items": False, "uniqueItems": True, "minItems": 1},
    "a map": {"type": "object", "additionalProperties": {"exclusiveMinimum": 0}, "maxProperties": 3},
    "names of keywords as properties": {"properties": {"pattern": {}, "$ref": {"type": "null"}}},
    "a definition with a slash in its name": {"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"type": "null"}}},
    "a long chain": chained(MAX_CHAIN - 2),
}


@pytest.mark.parametrize("schema", FINE.values(), ids=FINE)
def test_what_is_taken_is_json_schema_and_can_check_answers(schema: dict[str, Any]) -> None:
    check_output_schema(schema)
    Draft202012Validator.check_schema(schema)
    for answer in ("{}", "[]", "null", "1.5", '"a"'):
        assert "cannot be checked" not in check_answer(schema_text(schema), answer).problem


BAD: dict[str, tuple[Any, str]] = {
    "an unknown type": ({"type": "objekt"}, "/type has to be the name of a type"),
    "no type": ({"type": []}, "/type has to be"),
    "a wrong count": (
        {"properties": {"a": {"minLength": -1}}},
        "/properties/a/minLength has to be a whole number",
    ),
    "true as a number": ({"minimum": True}, "/minimum has to be a number"),
    "names twice": ({"required": ["a", "a"]}, "/required has to be a list of names"),
    "an empty choice": ({"anyOf": []}, "/anyOf has to be a list of schemas"),
    "no schema": ({"items": [{}]}, "/items has to be an object, or true or false"),
    "no schemas": ({"properties": []}, "/properties has to be an object"),
    "a keyword of its own": (
        {"properties": {"a": {"requierd": ["b"]}}},
        "/properties/a/requierd: schemas of answers",
    ),
    "no pattern": ({"pattern": "("}, "/pattern has to be a pattern without look-around"),
    "a pattern with look-around": ({"pattern": "(?!a)b"}, "/pattern has to be a pattern without look-around"),
    "a pattern with a back-reference": (
        {"pattern": r"(a)\1"},
        "/pattern has to be a pattern without look-around",
    ),
    "a pattern that repeats too often": (
        {"pattern": "a{1001}"},
        "/pattern has to be a pattern without look-around",
    ),
    "another document": ({"$ref": "https://example.com/x"}, "leads to #"),
    "a definition that is not there": ({"items": {"$ref": "#/$defs/a"}}, "/items/$ref leads to #"),
    "a definition whose name has to be escaped": (
        {"$ref": "#/$defs/a%41", "$defs": {"a%41": {}}},
        "leads to #",
    ),
    "no definitions": ({"$ref": "#/$defs/a", "$defs": 3}, "/$defs has to be an object"),
    "a reference that is no text": ({"$ref": 3}, "/$ref leads to #"),
    "a circle": ({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#"}]}}}, "leads back to itself"),
    "a chain that is too long": (chained(MAX_CHAIN), "follow each other"),
    "too many bytes": ({"description": "x" * 9_000}, "8,192 bytes"),
    "hidden characters": ({"properties": {"a\u202eb": 3}}, "/properties/a\\u202eb has to be"),
}


@pytest.mark.parametrize(("schema", "says"), BAD.values(), ids=BAD)
def test_what_is_refused_is_named_by_its_place(schema: dict[str, Any], says: str) -> None:
    with pytest.raises(BadOutputSchema) as refused:
        check_output_schema(schema)
    assert says in str(refused.value)


def test_references_that_fan_out_are_refused() -> None:
    levels = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 4} for n in range(6)}
    with pytest.raises(BadOutputSchema, match="fan out"):
        check_output_schema({"$ref": "#/$defs/d0", "$defs": {**levels, "d6": {}}})

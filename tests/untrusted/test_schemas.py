"""Schemas of every dialect say the same in 2020-12 (ADR 182). The oracle is jsonschema, which knows each dialect."""

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator, Draft6Validator, Draft7Validator, Draft201909Validator

from acta.engine.tools.mcp.schema_words import offered_schema
from acta.engine.tools.mcp.servers import schema_problem
from acta.engine.tools.schema import errors_of
from acta.engine.tools.tenant.definition import Unusable, check_schema
from acta.engine.untrusted.schemas import modern

D4, D6, D7 = (f"http://json-schema.org/draft-0{number}/schema#" for number in (4, 6, 7))
D2019 = "https://json-schema.org/draft/2019-09/schema"
WHOLE, TEXT = {"type": "integer"}, {"type": "string"}


def fits(schema: dict[str, Any], value: Any) -> bool:
    return not errors_of(json.dumps(schema), value)


def of(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


CASES: dict[str, tuple[dict[str, Any], list[Any], list[Any]]] = {
    "a bound that is not in": (
        {"$schema": D4, **of(a={"minimum": 0, "exclusiveMinimum": True, "maximum": 9, "exclusiveMaximum": False})},
        [{"a": 1}, {"a": 9}],
        [{"a": 0}, {"a": 10}],
    ),
    "the same undeclared": (of(a={"minimum": 0, "exclusiveMinimum": True}), [{"a": 1}], [{"a": 0}]),
    "a tuple": (
        {"$schema": D7, **of(a={"items": [TEXT, WHOLE], "additionalItems": False})},
        [{"a": ["x", 1]}, {"a": []}],
        [{"a": [1]}, {"a": ["x", 1, 2]}],
    ),
    "a tuple undeclared": (of(a={"items": [TEXT], "additionalItems": WHOLE}), [{"a": ["x", 1]}], [{"a": ["x", "y"]}]),
    "a tuple whose parts are referred to": (
        {"$schema": D7, **of(a={"items": [TEXT, WHOLE]}, b={"$ref": "#/properties/a/items/1"})},
        [{"b": 1}],
        [{"b": "x"}],
    ),
    "dependencies": (
        of(a={}, b={}, c={}) | {"dependencies": {"a": ["b"], "b": {"required": ["c"]}}},
        [{"a": 1, "b": 1, "c": 1}, {"c": 1}],
        [{"a": 1}, {"b": 1}],
    ),
    "nothing beside a reference": (
        {"$schema": D7, **of(a={"$ref": "#/definitions/a", "minLength": 9}), "definitions": {"a": TEXT}},
        [{"a": "x"}],
        [{"a": 1}],
    ),
    "something beside a reference": (
        of(a={"$ref": "#/definitions/a", "minLength": 2}) | {"definitions": {"a": TEXT}},
        [{"a": "xy"}],
        [{"a": "x"}],
    ),
    "an id with a mark": (
        {"$schema": D7, **of(a={"$ref": "#x"}), "definitions": {"a": {"$id": "#x", **TEXT}}}, [{"a": "x"}], [{"a": 1}],
    ),
    "the same of draft 4": (
        {"$schema": D4, **of(a={"$ref": "#x"}), "definitions": {"a": {"id": "#x", **TEXT}}}, [{"a": "x"}], [{"a": 1}],
    ),
    "a property called id": ({"$schema": D4, **of(id=WHOLE)}, [{"id": 1}], [{"id": "x"}]),
    "parts with ids": (
        {
            "$schema": D7, "$id": "https://x.example/root",
            **of(a={"$ref": "a.json"}, b={"$ref": "/root#/definitions/a"}),
            "definitions": {"a": {"$id": "a.json", **TEXT}},
        },
        [{"a": "x", "b": "y"}],
        [{"a": 1}, {"b": 1}],
    ),
    "an id that is no address": (
        {"$id": "urn:x:y", **of(a={"$ref": "#/$defs/a"}), "$defs": {"a": TEXT}}, [{"a": "x"}], [{"a": 1}],
    ),
    "a root that is a reference": (
        {"$schema": D7, "$ref": "#/definitions/a", "definitions": {"a": of(b={"$ref": "#/definitions/c"}), "c": TEXT}},
        [{"b": "x"}],
        [{"b": 1}],
    ),
    "a root beside its reference": (
        {"$ref": "#/$defs/a", **of(c=WHOLE), "$defs": {"a": of(b=TEXT)}},
        [{"b": "x", "c": 1}],
        [{"b": 1}, {"c": "x"}],
    ),
    "recursion of 2019": (
        {"$schema": D2019, "$recursiveAnchor": True, **of(a={"$recursiveRef": "#"}, b=WHOLE)},
        [{"a": {"a": {"b": 1}}}],
        [{"a": {"a": {"b": "x"}}}],
    ),
    "a nullable": (of(a={**TEXT, "nullable": True}), [{"a": None}, {"a": "x"}], [{"a": 1}]),
    "a nullable choice without null": (
        of(a={**TEXT, "nullable": True, "enum": ["x"]}, b={"nullable": True, "enum": ["x", None]}),
        [{"a": "x"}, {"a": None}, {"b": None}],
        [{"a": "y"}, {"b": "y"}],
    ),
    "a nullable reference": (
        of(
            a={"$ref": "#/$defs/t", "nullable": True},
            b={"allOf": [{"$ref": "#/$defs/t"}], "nullable": True, "type": "string"},
            c={"oneOf": [{"$ref": "#/$defs/t"}, {**WHOLE, "nullable": True}], "nullable": True},
            d={"anyOf": [TEXT, WHOLE], "nullable": True},
            e={"$ref": "#/$defs/t", "nullable": False},
        )
        | {"$defs": {"t": {**TEXT, "minLength": 2}}},
        [{"a": None, "b": None, "c": None, "d": None}, {"a": "xy", "b": "xy", "c": "xy", "d": "x", "e": "xy"}],
        [{"a": "x"}, {"b": "x"}, {"c": "x"}, {"d": 1.5}, {"e": None}, {"e": "x"}],
    ),
    "a nullable reference of draft 7": (
        {"$schema": D7, **of(a={"$ref": "#/$defs/t", "nullable": True}), "$defs": {"t": TEXT}},
        [{"a": "x"}],
        [{"a": None}],
    ),
    "a nullable whole": (
        {**of(a=TEXT), "nullable": True, "allOf": [of(a={"minLength": 2})]}, [{"a": "xy"}], [{"a": "x"}],
    ),
    "a schema that is no part of it": (
        of(a={"$ref": "#/components/a"}) | {"components": {"a": {"items": [TEXT]}}}, [{"a": ["x"]}], [{"a": [1]}],
    ),
    "a truth and a lie": (
        of(a={"$ref": "#/$defs/yes"}, b={"$ref": "#/$defs/no"}) | {"$defs": {"yes": True, "no": False}},
        [{"a": 1}],
        [{"b": 1}],
    ),
    "an address that nobody knows": ({"$schema": "https://x.example/own", **of(a=WHOLE)}, [{"a": 1}], [{"a": "x"}]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_a_schema_of_any_dialect_is_usable_and_means_what_it_says(name: str) -> None:
    schema, fitting, wrong = CASES[name]
    before = copy.deepcopy(schema)
    assert schema_problem(schema) is None
    assert offered_schema(schema) is not None
    assert [fits(schema, one) for one in fitting] == [True] * len(fitting)
    assert [fits(schema, one) for one in wrong] == [False] * len(wrong)
    assert schema == before
    assert modern(modern(schema)) == modern(schema)


@pytest.mark.parametrize(
    "schema",
    [
        of(a={"type": "text"}), of(a={"$ref": "https://x.example/schema"}), of(a={"$ref": "#/none"}), of(a=3),
        {"type": "array"}, of(a={"required": True}), {**of(), "allOf": 3, "$ref": "#/x"}, {**of(), "dependencies": 3},
        {**of(a={"$id": "https://x.example/", "$ref": "#/$defs/b"}), "$defs": {"b": {}}},
        {**of(), "dependencies": {"a": ["b"]}, "dependentRequired": 3}, of(a={"items": [3]}),
        {"type": "object", "$ref": "#"},
        {**of(), "$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}},
        of(a={"$ref": "http://[::1"}),
        of(a={"pattern": "(a"}),
        of(a={"pattern": "[a"}),
        of(a={"pattern": "a)"}),
        of(a={"patternProperties": {"(?!a)((": {}}}),
    ],
)  # fmt: skip
def test_a_schema_that_is_wrong_keeps_this_one_tool_out_with_a_reason(schema: dict[str, Any]) -> None:
    assert schema_problem(schema)


LEAVES = st.sampled_from(
    [TEXT, WHOLE, {"minimum": 2, "exclusiveMinimum": True}, {"maximum": 3, "exclusiveMaximum": False}, {"type": "null"},
     {"$ref": "#/definitions/a"}, {"$ref": "#/definitions/b", "minLength": 9}, {"enum": ["x", 2]}]
)  # fmt: skip


def _larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        several.map(lambda all_of: {"items": all_of}),
        st.tuples(several, inner).map(lambda both: {"items": both[0], "additionalItems": both[1]}),
        several.map(lambda all_of: {"items": all_of, "additionalItems": False}),
        st.dictionaries(st.sampled_from("ab"), inner).map(lambda named: {"properties": named}),
        st.dictionaries(st.sampled_from("ab"), st.one_of(inner, st.just(["b"]))).map(
            lambda of: {"dependencies": of}
        ),
        several.map(lambda any_of: {"anyOf": any_of}),
        inner.map(lambda one: {"not": one}),
    )


SCHEMAS = st.tuples(
    st.recursive(LEAVES, _larger, max_leaves=6), st.recursive(st.sampled_from([TEXT, WHOLE]), _larger)
)
VALUES = st.recursive(
    st.sampled_from(["x", 1, 2, 3, None, True]),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("ab"), inner)),
    max_leaves=5,
)


def _numbers(schema: Any) -> Any:
    """The bounds as numbers, as drafts after 4 have them."""
    if isinstance(schema, list):
        return [_numbers(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {
        key: _numbers(each)
        for key, each in schema.items()
        if key not in ("exclusiveMinimum", "exclusiveMaximum")
    }
    return {"exclusiveMinimum": made["minimum"]} if schema.get("exclusiveMinimum") is True else made


@given(SCHEMAS, VALUES)
def test_what_a_schema_takes_is_what_its_own_dialect_takes(both: tuple[Any, Any], value: Any) -> None:
    schema, defined = both
    whole = {"properties": {"v": schema}, "definitions": {"a": TEXT, "b": defined}}
    sent = {"v": value}
    assert fits({"$schema": D4, **whole}, sent) is Draft4Validator(whole).is_valid(sent)
    later: Any = _numbers(whole)
    assert fits({"$schema": D6, **later}, sent) is Draft6Validator(later).is_valid(sent)
    assert fits({"$schema": D7, **later}, sent) is Draft7Validator(later).is_valid(sent)
    own = Draft201909Validator({"$schema": D2019, **later})
    if '"dependencies"' not in json.dumps(later):  # which 2019-09 no longer knows
        assert fits({"$schema": D2019, **later}, sent) is own.is_valid(sent)


EMAIL = r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$"
"""zod's, as its JSON Schema has it."""


@pytest.mark.parametrize(
    ("pattern", "fitting", "wrong"),
    [
        (EMAIL, ["a.b@x.example"], [".a@x.example", "a..b@x.example", "a@x"]),
        (r"^(?=.*[A-Z])(?=.*\d).{8,}$", ["Passw0rdX"], ["password1", "Short1"]),
        (r"^(?!-)[a-z-]+$", ["a-b"], ["-a"]),
        (r"^(?=(a|b))[a-c]+$", ["ac"], ["ca"]),
        (r"^(?![)])x", ["x"], ["y"]),
        (r"^\u00e9+$", ["é"], ["e"]),
        (r"^[\u{1f600}-\u{1f64f}]$", ["😀"], ["x"]),
        (r"^\ud83d\ude00$", ["😀"], ["x"]),
        (r"^\p{Lu}\p{L}*$", ["Äh"], ["äh"]),
    ],
)  # fmt: skip
def test_patterns_that_can_be_matched_in_linear_time_are_checked_here(
    pattern: str, fitting: list[str], wrong: list[str]
) -> None:
    schema = of(a={**TEXT, "pattern": pattern})
    check_schema(schema)
    assert [fits(schema, {"a": text}) for text in fitting] == [True] * len(fitting)
    assert [fits(schema, {"a": text}) for text in wrong] == [False] * len(wrong)


@pytest.mark.parametrize(
    "pattern", [r"(a)\1", "a(?=b)", "(?<!a)b", "^(?!a)b|c", "^(?=a)?b", r"^\p{Script=Greek}$", "a{1,5000}"]
)
def test_other_patterns_are_left_to_a_tool_that_checks_them_itself_and_refused_where_nobody_does(
    pattern: str,
) -> None:
    schema = of(a={**TEXT, "pattern": pattern}) | {
        "patternProperties": {pattern: WHOLE},
        "additionalProperties": False,
    }
    assert schema_problem(schema) is None
    with pytest.raises(Unusable) as refused:
        check_schema(schema)
    assert "say the rule in the field's description" in refused.value.problems["input_schema"][0]

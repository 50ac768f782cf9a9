"""Inputs against their tool's schema."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.errors import ToolInputInvalid
from acta.engine.tools.builtin import builtins
from acta.engine.tools.mcp.servers import schema_problem
from acta.engine.tools.registry import BuiltinRegistry
from acta.engine.tools.schema import check_input, closed, errors_of, left_to_the_tool
from acta.engine.tools.tool import HttpConfig, LambdaConfig, ToolDefinition, ToolSpec

SPECS = builtins()


def refusal(name: str, arguments: dict[str, Any]) -> str:
    with pytest.raises(ToolInputInvalid) as refused:
        check_input(SPECS[name], arguments)
    return str(refused.value)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list_files", {}),
        ("list_files", {"path": "a", "recursive": False}),
        ("read_file", {"path": "a"}),
        ("create_file", {"path": "a", "content": ""}),
        (
            "update_plan",
            {"action": "create", "goal": "g", "steps": [{"description": "d", "input": {"any": 1}}]},
        ),
        ("get_weather", {"location": "Paris"}),
    ],
)
def test_a_fitting_input_passes(name: str, arguments: dict[str, Any]) -> None:
    check_input(SPECS[name], arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("read_file", {}, "path is missing"),
        ("create_file", {}, "path, content is missing"),
        ("read_file", {"path": 3}, "path must be of type string"),
        ("read_file", {"path": "a", "encoding": "x" * 61}, "encoding must have at most 60 characters"),
        ("read_file", {"path": "a", "file": "b"}, "file is not a field"),
        ("list_files", {"recursive": "yes"}, "recursive must be of type boolean"),
        ("update_plan", {"action": "finish"}, 'action must be one of "create", "update_step"'),
        ("update_plan", {"action": "create", "steps": [{"step": "a"}]}, "steps.0.step is not a field"),
        ("update_plan", {"action": "create", "steps": [{"tool": 1}]}, "steps.0.tool must be of type string"),
    ],
)
def test_what_does_not_fit_is_named_by_its_field(name: str, arguments: dict[str, Any], problem: str) -> None:
    assert problem in refusal(name, arguments)


@pytest.mark.parametrize(
    ("text", "problem"), [("", "a must not be empty"), ("xxx", "a must have at most 2 characters")]
)
def test_the_bounds_of_a_text_are_said_in_words(text: str, problem: str) -> None:
    bounded = {"type": "object", "properties": {"a": {"type": "string", "minLength": 1, "maxLength": 2}}}
    with pytest.raises(ToolInputInvalid, match=problem):
        check_input(ToolSpec(name="own", description="", input_schema=bounded), {"a": text})


def test_a_refusal_names_the_tool_and_the_fields_it_has() -> None:
    assert refusal("read_file", {"x": 1}) == (
        "the input does not fit read_file: x is not a field; path is missing. Fields: path (string, required), "
        "encoding (string)."
    )


def test_a_refusal_does_not_repeat_a_long_input() -> None:
    assert len(refusal("read_file", {"path": 1, **{f"field{n}": "x" * 1_000 for n in range(500)}})) < 1_000


@given(st.decimals(-(10**12), 10**12, places=2), st.sampled_from(["0.01", "0.05", "0.1", "1e-2", "5", "2.5"]))
def test_a_multiple_is_one_in_the_digits_that_were_written(number: Decimal, step: str) -> None:
    schema = json.dumps({"multipleOf": json.loads(step)})
    assert (not errors_of(schema, float(number))) == (number % Decimal(step) == 0)


@pytest.mark.parametrize(
    ("schema", "value", "fits"),
    [
        ({"multipleOf": 2}, 9007199254740993, False), ({"multipleOf": 1e-300}, 1e300, True),
        ({"multipleOf": 7}, 10**299, False), ({"multipleOf": 0.5}, 10**299 + 1, True), ({"multipleOf": 2}, True, True),
        ({"minimum": 9007199254740993}, 9007199254740992.0, False),
        ({"maximum": 9007199254740992}, 9007199254740993, False),
        ({"enum": [9007199254740993]}, 9007199254740992, False), ({"const": 9007199254740993}, 9007199254740993, True),
        ({"const": 1}, 1.0, True), ({"enum": [10**22]}, 1e22, True), ({"type": "integer"}, 5.0, True),
        ({"type": "integer"}, 5.5, False),
    ],
)  # fmt: skip
def test_large_and_small_numbers_are_compared_exactly(schema: dict[str, Any], value: Any, fits: bool) -> None:
    assert (not errors_of(json.dumps(schema), value)) == fits


def test_an_integer_is_no_boolean_and_a_boolean_no_integer() -> None:
    assert "step_number" in refusal("update_plan", {"action": "update_step", "step_number": True})
    assert "recursive" in refusal("list_files", {"recursive": 1})


def test_a_reference_is_never_fetched() -> None:
    spec = ToolSpec(name="outside", description="", input_schema={"$ref": "http://127.0.0.1:9/schema.json"})
    with pytest.raises(ToolInputInvalid, match="cannot be checked against its schema"):
        check_input(spec, {})


NOW = datetime(2026, 1, 1, tzinfo=UTC)
ORDER = {"type": "object", "properties": {"order": {"type": "integer"}}}
WITH_NOTE = {
    **ORDER,
    "allOf": [{"$ref": "#/$defs/note"}],
    "$defs": {"note": {"properties": {"note": {"type": "string"}}}},
}


def tool_of(schema: dict[str, Any], config: HttpConfig | LambdaConfig | None = None) -> ToolDefinition:
    config = config or LambdaConfig(function="acta-prod-tool-pay")
    return ToolDefinition(
        name="pay", description="", input_schema=schema, kind="http" if isinstance(config, HttpConfig) else "lambda",
        config=config, version=1, created_at=NOW, updated_at=NOW,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "arguments", "problem"),
    [
        (ORDER, {"order": 7, "as": "root"}, "as is not a field"),
        ({"type": "object"}, {"order": 7}, "order is not a field"),
        (WITH_NOTE, {"order": 7, "note": "", "as": "root"}, "has fields that the tool does not take"),
    ],
)
def test_a_tenant_s_tool_gets_no_field_that_its_schema_does_not_name(
    schema: dict[str, Any], arguments: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ToolInputInvalid, match=problem):
        check_input(tool_of(schema), arguments)


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (ORDER, {"order": 7}),
        (WITH_NOTE, {"order": 7, "note": "x"}),
        ({**ORDER, "additionalProperties": True}, {"order": 7, "as": "root"}),
        ({**ORDER, "additionalProperties": {"type": "string"}}, {"as": "root"}),
        ({**ORDER, "unevaluatedProperties": True}, {"as": "root"}),
        ({**ORDER, "patternProperties": {"^x-": {}}}, {"x-a": 1}),
    ],
)
def test_it_gets_what_its_schema_names_or_lets_in(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    check_input(tool_of(schema), arguments)


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize(
    "name",
    ["scope", "Scope", "SCOPE", " scope", "scope[]", "scope[0]", "scope\0x", "account.id", "account id",
     "account_id[x"],
)  # fmt: skip
def test_an_argument_never_changes_a_parameter_that_the_url_has_fixed(name: str, method: Any) -> None:
    url = "https://pay.example.com/orders?scope=own;page=1&account_id=7&empty"
    anything = {"type": "object", "additionalProperties": True}
    tool = tool_of(anything, HttpConfig(url=url, method=method))
    with pytest.raises(ToolInputInvalid, match="has fixed some of these fields"):
        BuiltinRegistry().check(tool, {name: "all"})
    for fixed in ("page", "empty"):
        with pytest.raises(ToolInputInvalid, match="has fixed"):
            BuiltinRegistry().check(tool, {fixed: "all"})
    BuiltinRegistry().check(tool, {"scopes": "all", "order": 7})


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("$top=5", ["top", "Top", "$top"]),
        ("filter[limit]=5", ["filter.limit", "filter", "filter[limit]", "Filter.Limit", "filter_limit"]),
        ("filter.limit=5", ["filter", "filter_limit", "filter.limit"]),
        ("user.role=guest", ["user", "User", "user.name", "user_role"]),
        ("pageSize=5", ["page_size", "page-size", "PageSize", "pagesize", "page.size"]),
        ("page_size=5", ["pageSize", "page-size"]),
        ("limit=5", ["limit\u200b", "%6cimit", "[limit", ";limit", "&limit", "ｌimit", "x&limit", "a=b", "", "l" * 65,
                     "limit.x", ".limit", "limit.", "_limit", "-limit"]),
        ("[limit=5", ["limit"]),
    ],
)  # fmt: skip
def test_no_spelling_of_a_fixed_parameter_gets_past(query: str, names: list[str]) -> None:
    anything = {"type": "object", "additionalProperties": True}
    tool = tool_of(anything, HttpConfig(url=f"https://pay.example.com/orders?{query}", method="GET"))
    for name in names:
        with pytest.raises(ToolInputInvalid, match="has fixed some of these fields"):
            BuiltinRegistry().check(tool, {name: "all"})
    BuiltinRegistry().check(tool, {"order": 7, "limits": 1, "page": 2, "users": "x", "x.limit": 5})


def test_where_nothing_is_fixed_an_open_schema_takes_any_name() -> None:
    anything = {"type": "object", "additionalProperties": True}
    tool = tool_of(anything, HttpConfig(url="https://pay.example.com/orders", method="GET"))
    BuiltinRegistry().check(tool, {"größe": 1, "filter[limit]": 5})


def fields(**named: Any) -> dict[str, Any]:
    return {"type": "object", "properties": named}


BEHIND = {"type": "string", "pattern": "(?<=x)y"}
"""No pattern that can be matched here."""


@pytest.mark.parametrize(
    ("schema", "fitting", "wrong"),
    [
        (fields(a={"type": "string", "not": BEHIND}), {"a": "z"}, {"a": 1}),
        (fields(a={"oneOf": [BEHIND, {"type": "string", "pattern": "^[0-9]+$"}]}), {"a": "12"}, {"a": 1}),
        (fields(a={"type": "array", "contains": BEHIND, "maxContains": 1}), {"a": ["p", "q"]}, {"a": [1]}),
        (
            {
                **fields(a={"type": "string"}),
                "if": {"properties": {"a": BEHIND}},
                "then": {"required": ["b"]},
            },
            {"a": "z"},
            {"a": 1},
        ),
        (
            {**fields(a={}), "allOf": [{"if": fields(a=BEHIND), "then": fields(b={}), "else": {}}]},
            {"a": "z", "b": 1},
            [],
        ),
        (
            {
                **fields(a={"$ref": "#/oneOf/0/not"}),
                "oneOf": [{"not": {"not": BEHIND, "type": "integer"}}, {}],
            },
            {"a": 5},
            {"a": "5"},
        ),
        (fields(a=BEHIND), {"a": "z"}, {"a": "z", "b": 1}),
    ],
)
def test_a_pattern_that_is_left_to_the_tool_makes_no_input_wrong(
    schema: Any, fitting: Any, wrong: Any
) -> None:
    assert schema_problem(schema) is None
    left = closed(left_to_the_tool(json.dumps(schema)))
    assert (errors_of(left, fitting), bool(errors_of(left, wrong))) == ([], True)

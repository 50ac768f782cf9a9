"""No schema of a tenant and no input makes a check take more than its limit of work.

Where the package before took hours, or all memory, these tests would not come to an end.
"""

import json
import sys
from types import FrameType
from typing import Any

import pytest

from acta.engine.errors import ToolInputInvalid
from acta.engine.tools.schema import MOST_WORK, TooMuchWork, check_input, compiled, limited_work, spend
from acta.engine.tools.tenant.definition import Unusable, check_schema
from acta.engine.tools.tool import MAX_SCHEMA_BYTES, ToolSpec
from tests.growth.inventory import VALIDATORS, importers

CHECKS = "acta/engine/tools/schema.py"
TABLE = {
    "jsonschema": [
        "acta/cli/apply/schema.py",
        CHECKS,
        "acta/engine/tools/tenant/definition.py",
    ],
    "re2": [CHECKS],
    "referencing": [CHECKS],
}
"""By library, the sources that use it. One file checks inputs; `definition.py` checks an admin's schema. The command
line checks its user's files by Acta's own schemas.
"""
CALLS_A_UNIT = 60
"""Calls of Python functions that one unit of work stands for, at most."""


def test_inputs_are_checked_in_one_place() -> None:
    assert importers(VALIDATORS) == TABLE


def whole(**more: Any) -> dict[str, Any]:
    return {"type": "object", **more}


def fanning(levels: int, width: int) -> dict[str, Any]:
    """Each level refers to the next one `width` times."""
    defs = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * width} for n in range(levels)}
    return whole(
        properties={"a": {"$ref": "#/$defs/d0"}}, **{"$defs": {**defs, f"d{levels}": {"minLength": 1}}}
    )


NEXT = {"properties": {"a": {"$ref": "#"}}}
"""One level deeper, the whole schema again."""


def doubling(keyword: str) -> dict[str, Any]:
    """Each level of the input is checked twice as often as the one around it."""
    return whole(**{keyword: [NEXT, NEXT]})


def nested(levels: int, leaf: Any = 1) -> dict[str, Any]:
    value: dict[str, Any] = {"a": leaf}
    for _ in range(levels):
        value = {"a": value}
    return value


LONG = {"const": [0] * 2_000}
SOME = [{"a": n} for n in range(5_000)]
HEAVY: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "references that fan out": (fanning(14, 14), {"a": "x"}),
    "alternatives at each level": (doubling("anyOf"), nested(60, leaf=[])),
    "all of two at each level": (doubling("allOf"), nested(60)),
    "one of two at each level": (doubling("oneOf"), nested(60)),
    "conditions": (
        whole(**{"if": NEXT, "then": NEXT}),
        nested(60),
    ),
    "dialects of its own": (
        whole(anyOf=[{"$schema": "https://json-schema.org/draft/2020-12/schema", **NEXT}] * 2),
        nested(60),
    ),
    "unevaluated at each level": (
        whole(anyOf=[NEXT, NEXT], unevaluatedProperties=False),
        nested(40),
    ),
    "nothing allowed, in many ways at each level": (
        whole(anyOf=[False] * 900, properties={"a": {"$ref": "#"}}), nested(95, leaf="x" * 20_000),
    ),
    "many equal long texts": (
        whole(properties={"a": {"allOf": [{"uniqueItems": True}] * 600}}),
        {"a": ["x" * 400_000, 1]},
    ),
    "many fields under many names at once": (
        whole(allOf=[{"properties": {"x": True}}] * 500, unevaluatedProperties=True),
        {f"a{n}": n for n in range(1_000)},
    ),
    "many items that many schemas allow": (
        whole(properties={"a": {"allOf": [{"items": True}] * 900, "unevaluatedItems": False}}),
        {"a": [0] * 1_000},
    ),
    "many large constants": (
        whole(properties={"a": {"items": {"allOf": [{"$ref": "#/$defs/c"}] * 200}}}, **{"$defs": {"c": LONG}}),
        {"a": [[0] * 2_000] * 50},
    ),
    "messages that quote the input": (
        whole(properties={"a": {"allOf": [{"type": "string"}] * 500}}),
        {"a": ["x" * 100] * 5_000},
    ),
    "many fields by many patterns": (
        whole(patternProperties={f"^{'a' * n}": {} for n in range(1, 90)}),
        {f"a{n}": n for n in range(10_000)},
    ),
    "a long text by a large pattern": (
        whole(properties={"a": {"pattern": "^(.{1,30}){20}x$"}}),
        {"a": "y" * 400_000},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HEAVY)
def test_a_check_that_takes_too_much_work_is_given_up_in_a_limited_number_of_steps(name: str) -> None:
    schema, arguments = HEAVY[name]
    spec = ToolSpec(name="pay", description="d", input_schema=schema)
    calls = 0

    def count(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        with pytest.raises(ToolInputInvalid, match="takes too much work"):
            check_input(spec, arguments)
    finally:
        sys.setprofile(None)
    assert calls < CALLS_A_UNIT * MOST_WORK


LIGHT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a pattern inside a pattern": (whole(properties={"a": {"pattern": "^(a+)+$"}}), {"a": "a" * 100_000 + "!"}),
    "alternatives of one another": (whole(properties={"a": {"pattern": "^(a|a)*$"}}), {"a": "a" * 100_000 + "!"}),
    "names of fields": (whole(patternProperties={"^(a+)+$": {"type": "string"}}), {"a" * 10_000 + "!": 1, "aa": 1}),
    "names that are left over": (
        whole(patternProperties={"^(a+)+$": {}}, additionalProperties=False), {"a" * 10_000 + "!": 1},
    ),
    "names that nobody looked at": (
        whole(allOf=[{"patternProperties": {"^(a+)+$": {}}}], unevaluatedProperties=False), {"a" * 10_000 + "!": 1},
    ),
    "a dialect of its own": (
        whole(properties={"a": {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"}}),
        {"a": "a" * 10_000 + "!"},
    ),
    "items that are all different": (
        whole(properties={"a": {"uniqueItems": True}}), {"a": [*SOME, {"a": 1.0}]},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LIGHT)
def test_what_is_slow_elsewhere_is_checked_to_the_end(name: str) -> None:
    schema, arguments = LIGHT[name]
    check_schema(schema)
    with pytest.raises(ToolInputInvalid, match="does not fit pay"):
        check_input(ToolSpec(name="pay", description="d", input_schema=schema), arguments)


def test_ordinary_large_inputs_are_checked_to_the_end() -> None:
    rows = whole(properties={"n": {"type": "integer"}, "name": {"type": "string", "pattern": r"^\w+$"}})
    schema = whole(
        properties={"rows": {"type": "array", "uniqueItems": True, "items": rows}}, required=["rows"]
    )
    spec = ToolSpec(name="store", description="d", input_schema=schema)
    check_input(spec, {"rows": [{"n": n, "name": f"row{n}"} for n in range(3_000)]})


@pytest.mark.parametrize(
    ("equal", "items"),
    [
        (True, [1, 1.0]), (False, [1, True]), (False, [0, False]), (False, ["1", 1]), (False, [[1], [2]]),
        (True, [{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]),
    ],
)  # fmt: skip
def test_items_are_equal_as_json_has_it(equal: bool, items: list[Any]) -> None:
    spec = ToolSpec(name="t", description="d", input_schema=whole(properties={"a": {"uniqueItems": True}}))
    if equal:
        with pytest.raises(ToolInputInvalid):
            check_input(spec, {"a": items})
    else:
        check_input(spec, {"a": items})


UNUSABLE = {
    "look-ahead": whole(properties={"a": {"pattern": "a(?=b)b"}}),
    "back-reference": whole(properties={"a": {"pattern": r"(a)\1"}}),
    "in a name": whole(patternProperties={"(?!a)": {}}),
    "too many times": whole(properties={"a": {"pattern": "a{1,5000}"}}),
    "too large": whole(properties={"a": {"pattern": r"[\p{L}]{1,1000}"}}),
    "where only a reference leads": whole(properties={"a": {"$ref": "#/x"}}) | {"x": {"pattern": "(?=a)"}},
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_a_pattern_that_cannot_be_matched_in_linear_time_is_refused_with_what_is_allowed(name: str) -> None:
    with pytest.raises(Unusable) as refused:
        check_schema(UNUSABLE[name])
    assert "Patterns are those of RE2" in refused.value.problems["input_schema"][0]


@pytest.mark.parametrize("name", ["look-ahead", "back-reference", "in a name", "too large"])
def test_a_stored_schema_with_such_a_pattern_refuses_inputs_and_says_who_can_mend_it(name: str) -> None:
    spec = ToolSpec(name="pay", description="d", input_schema=UNUSABLE[name])
    with pytest.raises(ToolInputInvalid, match="an admin has to change the tool's input_schema") as refused:
        check_input(spec, {"a": "b"})
    assert "Patterns are those of RE2" in str(refused.value)


def test_references_that_fan_out_are_refused_when_a_tool_is_defined() -> None:
    with pytest.raises(Unusable) as refused:
        check_schema(fanning(14, 14))
    assert "fan out" in refused.value.problems["input_schema"][0]
    check_schema(fanning(3, 3))


def test_the_check_of_a_definition_is_quick_whatever_it_refers_to() -> None:
    """Schemas inside each other, each referred to, the innermost first."""
    inner: dict[str, Any] = {"type": "string"}
    pointer, pointers = "#/x", []
    for _ in range(23):
        inner = {"properties": {"a": inner}}
    for _ in range(23):
        pointer += "/properties/a"
        pointers.append(pointer)
    fields = {f"f{n}": {"$ref": each} for n, each in enumerate(pointers)}
    check_schema(whole(properties=fields) | {"x": inner})


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"^\d{4}-\d{2}$", "2026-01", True), (r"^\d+$", "1\n", False), (r"\u00e9", "café", True),
        (r"\\u00e9", "\\u00e9", True), (r"^[^@\s]+@[^@\s]+$", "a@b.example", True), (r"\/", "a/b", True),
        ("^.$", "😀", True), (r"\p{Lu}", "Ä", True),
    ],
)  # fmt: skip
def test_patterns_mean_what_json_schema_says(pattern: str, text: str, found: bool) -> None:
    with limited_work():
        assert compiled(pattern).found_in(text) is found


def test_work_is_limited_and_nothing_is_checked_without_a_limit() -> None:
    with limited_work(2):
        spend(2)
        with pytest.raises(TooMuchWork):
            spend(1)
    with pytest.raises(LookupError):
        spend(1)


def test_the_bombs_fit_into_what_a_schema_may_have() -> None:
    assert all(len(json.dumps(schema)) <= MAX_SCHEMA_BYTES for schema, _ in HEAVY.values())

"""What a model sends is bent to a tool's schema only where it can mean one thing (ADR 172)."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta import tool
from acta.engine.tools.builtin import builtins
from acta.engine.tools.mcp.servers import unfit
from acta.engine.tools.registry import BuiltinRegistry
from acta.engine.tools.schema import bent, errors_of
from acta.testing import completes, run, uses

TEXT, WHOLE, FLAG = {"type": "string"}, {"type": "integer"}, {"type": "boolean"}
TEXTS = {"type": "array", "items": TEXT}


def closed(*required: str, **fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": [*required], "additionalProperties": False}


def read(schema: Mapping[str, Any], value: Any) -> Any:
    return bent(json.dumps(schema), value)


def fits(schema: Mapping[str, Any], value: Any) -> bool:
    return not errors_of(json.dumps(schema), value)


REFERRED = {**closed(a={"$ref": "#/$defs/a"}), "$defs": {"a": {"allOf": [closed(b=WHOLE)]}}}
PET = {
    "oneOf": [
        {**closed("kind", kind={"const": "cat"}, toys=TEXT)},
        {**closed("kind", kind={"const": "dog"}, toys=TEXTS)},
    ]
}


@pytest.mark.parametrize(
    ("schema", "sent", "meant"),
    [
        (closed(a=WHOLE), {"a": None}, {}),
        (closed(a={"type": "string", "default": None}), {"a": None}, {}),
        (closed(a={"enum": ["x", "y"]}), {"a": None}, {}),
        (closed(a={"anyOf": [WHOLE, TEXTS]}), {"a": None}, {}),
        (closed(a=closed(b=closed(c=TEXT))), {"a": {"b": {"c": None}}}, {"a": {"b": {}}}),
        (closed(a={"type": "array", "items": closed(b=TEXT)}), {"a": [{"b": None}, {}]}, {"a": [{}, {}]}),
        (REFERRED, {"a": {"b": None}}, {"a": {}}),
        (closed(a=WHOLE), {"a": "5"}, {"a": 5}),
        (closed(a=WHOLE), {"a": "5.0"}, {"a": 5}),
        (closed(a=WHOLE), {"a": "-123456789012345678901234567890"}, {"a": -123456789012345678901234567890}),
        (closed(a={"type": "number"}), {"a": "0.1"}, {"a": 0.1}),
        (closed(a={"type": "number"}), {"a": "-0.250"}, {"a": -0.25}),
        (closed(a={"type": "number"}), {"a": "1.25"}, {"a": 1.25}),
        (closed(a={"type": "number"}), {"a": "1.5e3"}, {"a": 1500}),
        (closed(a={"type": "number"}), {"a": "1234.500"}, {"a": 1234.5}),
        (closed(a=FLAG), {"a": "true"}, {"a": True}),
        (closed(a={"enum": [1, 2]}), {"a": "2"}, {"a": 2}),
        (closed(a={"const": 7}), {"a": "7"}, {"a": 7}),
        (closed(a=TEXTS), {"a": '["x", "y"]'}, {"a": ["x", "y"]}),
        (closed(a={"type": "array", "items": WHOLE}), {"a": ["1", 2]}, {"a": [1, 2]}),
        (closed(a=closed(b=WHOLE, c=TEXT)), {"a": '{"b": "3", "c": null}'}, {"a": {"b": 3}}),
        (closed(a={"anyOf": [WHOLE, TEXTS]}), {"a": '["x"]'}, {"a": ["x"]}),
        (closed(a={"type": ["array", "null"]}), {"a": "[]"}, {"a": []}),
        (closed(pet=PET), {"pet": {"kind": "dog", "toys": '["a"]'}}, {"pet": {"kind": "dog", "toys": ["a"]}}),
        (closed(pet=PET), {"pet": '{"kind": "cat", "toys": null}'}, {"pet": {"kind": "cat"}}),
        (
            closed(a={"type": "array", "items": PET}),
            {"a": [{"kind": "dog", "toys": '["a"]'}] * 12},
            {"a": [{"kind": "dog", "toys": ["a"]}] * 12},
        ),
    ],
)
def test_what_can_mean_one_thing_is_read_as_that(
    schema: dict[str, Any], sent: dict[str, Any], meant: dict[str, Any]
) -> None:
    before = json.dumps(sent)
    assert not fits(schema, sent)
    found = read(schema, sent)
    assert found == meant
    assert [type(each) for each in found.values()] != [bool] or schema["properties"]["a"] == FLAG
    assert fits(schema, found)
    assert json.dumps(sent) == before


EITHER = {"anyOf": [{"properties": {"a": WHOLE}}, {"properties": {"b": WHOLE}}]}


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (closed("a", a=WHOLE), {"a": None}),
        (closed("a", a=closed("b", b=TEXT)), {"a": {"b": None}}),
        ({**closed(a=WHOLE, b=WHOLE), "dependentRequired": {"b": ["a"]}}, {"a": None, "b": 1}),
        (closed(a=TEXTS), {"a": ["x", None]}),
        (closed(a=WHOLE), {"b": None}),
        ({"type": "object", "properties": {"a": False}}, {"a": None}),
        (closed(a=WHOLE), {"a": "null"}),
        (closed(a=WHOLE), {"a": "five"}),
        (closed(a=WHOLE), {"a": "5.5"}),
        (closed(a=WHOLE), {"a": " "}),
        (closed(a=WHOLE), {"a": "0x10"}),
        (closed(a=WHOLE), {"a": "1_000"}),
        (closed(a=WHOLE), {"a": "1.000"}),
        *(
            (closed(a={"type": "number"}), {"a": text})
            for text in ("12.000", "1.250", "-999.500", " 1.000 ", "1.500\n")
        ),
        (closed(a=WHOLE), {"a": "٥"}),
        (closed(a=WHOLE), {"a": '"5"'}),
        (closed(a=WHOLE), {"a": True}),
        (closed(a=WHOLE), {"a": "NaN"}),
        (closed(a={"type": "number"}), {"a": "12345678901234567890.123456789"}),
        (closed(a={"type": "number"}), {"a": "1e400"}),
        (closed(a=FLAG), {"a": "True"}),
        (closed(a=FLAG), {"a": "1"}),
        (closed(a=FLAG), {"a": 1}),
        (closed(a={"enum": [1, "2"]}), {"a": "1"}),
        (closed(a={"type": ["string", "array"], "maxLength": 2}), {"a": '["x"]'}),
        (closed(a={"anyOf": [{**TEXT, "pattern": "^x"}, TEXTS]}), {"a": '["x"]'}),
        (closed(a={"anyOf": [closed(v={**TEXT, "maxLength": 1}), closed(v=TEXTS)]}), {"a": {"v": '["x"]'}}),
        (closed(a=TEXTS), {"a": '["x", 5]'}),
        (closed(a=closed(b=WHOLE)), {"a": '{"b": 1, "b": 2}'}),
        (closed(a={"type": "array"}), {"a": "[" * 100 + "]" * 100}),
        ({"type": "object", **EITHER}, {"a": "5", "b": "6"}),
        (closed(a=WHOLE, b=WHOLE), {"a": "5", "b": "x"}),
    ],
)
def test_what_is_wrong_or_could_mean_several_things_stays_as_it_is(
    schema: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert not fits(schema, sent)
    assert read(schema, sent) is sent


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        (closed(a={"type": ["integer", "null"]}), {"a": None}),
        (closed(a={"enum": ["x", None]}), {"a": None}),
        (closed(a={"anyOf": [TEXT, TEXTS]}), {"a": '["x"]'}),
        (closed(a=TEXT), {"a": "5"}),
        (closed(a={}), {"a": None}),
        ({"type": "object"}, {"a": None, "b": '{"c": 1}'}),
    ],
)
def test_what_fits_is_never_changed(schema: dict[str, Any], sent: dict[str, Any]) -> None:
    assert read(schema, sent) is sent


PLAIN = st.one_of(
    st.just(TEXT), st.just(WHOLE), st.just(FLAG), st.just({"type": "number"}),
    st.just({"enum": ["x", 3]}), st.just({"enum": [4, 5]}), st.just({"type": ["integer", "null"]}),
)  # fmt: skip


def _objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.dictionaries(st.sampled_from("abc"), inner, min_size=1)
    return fields.flatmap(
        lambda named: st.sets(st.sampled_from(sorted(named))).map(lambda need: closed(*sorted(need), **named))
    )


SCHEMAS = _objects(
    st.recursive(
        PLAIN,
        lambda inner: st.one_of(
            _objects(inner),
            inner.map(lambda one: {"type": "array", "items": one}),
            st.lists(inner, min_size=1, max_size=3).map(lambda several: {"anyOf": several}),
            st.lists(inner, min_size=1, max_size=2).map(lambda several: {"oneOf": several}),
        ),
        max_leaves=6,
    )
)
LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(0, 6), st.floats(0, 6),
    st.sampled_from(["x", "5", "true", "[]", "{}", "null", "4.0", '["5"]']),
    st.sampled_from(['{"a": null}', '{"a": "5", "b": [1]}', '[{"a": null}]']),
)  # fmt: skip
VALUES = st.dictionaries(
    st.sampled_from("abcd"),
    st.recursive(
        LEAVES,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    max_size=4,
)


@given(SCHEMAS, VALUES)
def test_whatever_is_bent_failed_before_and_passes_the_whole_check_after(
    schema: dict[str, Any], sent: dict[str, Any]
) -> None:
    before, found = json.dumps(sent), read(schema, sent)
    assert json.dumps(sent) == before
    if fits(schema, sent):
        assert found is sent
    elif found is not sent:
        assert fits(schema, found)
        assert read(schema, found) is found
        for name in schema["required"]:
            assert name in found
            assert sent[name] is not None or found[name] is None


@st.composite
def disturbed(draw: st.DrawFn) -> tuple[dict[str, Any], Any, Any]:
    """A schema without alternatives, a value that fits, and the same as a careless model writes it."""
    kind = draw(st.sampled_from(("whole", "number", "flag", "list", "object")))
    match kind:
        case "whole":
            whole = draw(st.integers())
            return WHOLE, whole, draw(st.sampled_from((whole, str(whole))))
        case "number":
            number = draw(st.floats(allow_nan=False, allow_infinity=False))
            return {"type": "number"}, number, draw(st.sampled_from((number, json.dumps(number))))
        case "flag":
            flag = draw(st.booleans())
            return FLAG, flag, draw(st.sampled_from((flag, json.dumps(flag))))
        case "list":
            schema, value, written = draw(disturbed())
            items = [written] * draw(st.integers(0, 2))
            sent: Any = draw(st.sampled_from((items, json.dumps(items))))
            return {"type": "array", "items": schema}, [value] * len(items), sent
    fields, meant, wrote = {}, {}, {}
    for name in draw(st.sets(st.sampled_from("abc"))):
        fields[name], value, wrote[name] = draw(disturbed())
        if draw(st.booleans()):
            wrote[name] = None
        else:
            meant[name] = value
    return closed(*meant, **fields), meant, draw(st.sampled_from((wrote, json.dumps(wrote))))


@given(disturbed())
def test_a_careless_model_is_understood_at_any_depth(case: tuple[dict[str, Any], Any, Any]) -> None:
    schema, meant, sent = case
    assert read(closed("it", it=schema), {"it": sent}) == {"it": meant}


def test_a_result_may_have_null_for_what_may_be_absent_but_no_number_in_a_text() -> None:
    promised = closed("count", count=WHOLE, next=TEXT)
    assert not unfit(promised, {"structuredContent": {"count": 1, "next": None}})
    assert unfit(promised, {"structuredContent": {"count": None}})
    assert unfit(promised, {"structuredContent": {"count": "1"}})


def test_an_input_that_asks_for_too_much_work_stays_as_it_is() -> None:
    level: dict[str, Any] = WHOLE
    for _ in range(14):
        level = {"anyOf": [closed(a=level), closed(a=level, b=WHOLE)]}
    sent: Any = "x"
    for _ in range(14):
        sent = {"a": sent}
    assert read({"type": "object", **level}, sent) is sent


def test_built_in_tools_bend_by_the_same_piece() -> None:
    tools, registry = builtins(), BuiltinRegistry()
    assert registry.bent(tools["list_files"], {"path": None, "recursive": "true"}) == {"recursive": True}
    kept = {"path": "a.txt", "content": '{"a": 1}'}
    assert registry.bent(tools["create_file"], kept) == kept
    for spelling in ("e\u0301\u202f1.txt ", "é 1.txt"):  # a person approves the name that is used
        assert registry.bent(tools["delete_file"], {"path": spelling}) == {"path": "é 1.txt"}
    assert registry.bent(tools["delete_file"], {"path": 7}) == {"path": 7}
    plan = {
        "action": "create",
        "goal": "g",
        "steps": '[{"description": "look", "tool": null}]',
        "reason": None,
    }
    assert registry.bent(tools["update_plan"], plan) == {
        "action": "create", "goal": "g", "steps": [{"description": "look"}],
    }  # fmt: skip


def test_a_plan_whose_steps_come_as_text_is_a_plan_and_the_inputs_in_it_are_bent() -> None:
    steps = json.dumps([{"description": "look", "tool": "list_files", "input": {"path": None}}])
    session = run(
        "Look",
        [
            uses("update_plan", action="create", goal="g", steps=steps),
            uses("list_files", path=None),
            completes("done"),
        ],
        agent={"tools": ["list_files"]},
    )
    assert session.state == "completed"
    assert [use.input for use in session.tool_calls if use.name == "list_files"] == [{}]


def test_a_person_approves_and_the_tool_gets_what_was_bent() -> None:
    session = run(
        "Write",
        [uses("create_file", path="a.txt", content="new", replace="true"), completes("done")],
        files={"a.txt": "old"},
    )
    (asked,) = session.interventions
    assert asked.tool_call is not None
    assert asked.tool_call.input == {"path": "a.txt", "content": "new", "replace": True}
    session.approve()
    assert session.files["a.txt"] == "new"


@tool(effect="read")
def priced(article: str, count: int = 3, sizes: tuple[float, float] = (1.0, 2.0)) -> str:
    """Prices an article."""
    return json.dumps([article, count, sizes])


def test_a_python_function_keeps_its_own_default_for_null_and_gets_lists_that_came_as_text() -> None:
    sent: list[dict[str, Any]] = [
        {"count": None, "sizes": None},
        {"count": "4", "sizes": "[0.1, 2]"},
        {"count": "four"},
    ]
    session = run(
        "Price it",
        [*(uses("priced", article="a", **more) for more in sent), completes("done")],
        tools=[priced],
    )
    assert [use.ok for use in session.tool_calls if use.name == "priced"] == [True, True, False]
    told = [str(use.told) for use in session.tool_calls if use.name == "priced"]
    assert '["a", 3, [1.0, 2.0]]' in told[0]
    assert '["a", 4, [0.1, 2.0]]' in told[1]
    assert "count must be of type integer" in told[2]

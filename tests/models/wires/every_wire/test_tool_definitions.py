"""Tools of tenants: no schema that the registry accepts makes a provider refuse the request."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acta.engine.models.anthropic import request as anthropic_request
from acta.engine.models.model import Model, ModelReply, OfferedTool, RequestedCall, TokenUsage
from acta.engine.models.openai import chat as chat_request
from acta.engine.models.openai import responses as responses_request
from acta.engine.models.wire import CLAUDE_TOOLS, OPENAI_TOOLS, wire_tools, with_own_names
from acta.engine.tools.tenant.definition import Unusable, check_schema
from acta.engine.untrusted.schemas import modern, parts
from tests.models.wires.conversations import READ_FILE, TIMEOUT, request

Offered = tuple[str, dict[str, Any]]
NAMES = st.sampled_from(["a", "$a", "_a", "ä", "a b"])
SCHEMAS = st.dictionaries(
    NAMES,
    st.recursive(
        st.sampled_from(
            [True, False, {"type": "array"}, {"type": "string", "pattern": "^(?=a)"}, {"type": "integer"}]
        ),
        lambda inner: st.one_of(
            st.dictionaries(NAMES, inner).map(lambda named: {"type": "object", "properties": named}),
            st.lists(inner, min_size=1, max_size=2).map(lambda items: {"type": "array", "items": items}),
            st.lists(inner, min_size=1, max_size=2).map(lambda any_of: {"anyOf": any_of}),
            inner.map(lambda one: {"type": "array", "items": one}),
            inner.map(lambda one: {"patternProperties": {"^x": one}}),
        ),
        max_leaves=6,
    ),
).map(lambda named: {"type": "object", "properties": named})
EITHER = [{"required": ["a"]}, {"required": ["b"]}]


def offered(tool: OfferedTool) -> list[Offered]:
    """Description and schema as each API gets them."""
    asked = request(tools=(tool,))
    claude = anthropic_request.to_body(asked)["tools"][0]
    responses = responses_request.to_body(asked, official=True)["tools"][0]
    chat = chat_request.to_body(asked, official=True)["tools"][0]["function"]
    return [(claude["description"], claude["input_schema"])] + [
        (tool["description"], tool["parameters"]) for tool in (responses, chat)
    ]


def tool(schema: dict[str, Any], description: str = "Find it.") -> OfferedTool:
    check_schema(schema)
    return OfferedTool("find", description, schema)


def test_an_ordinary_tool_is_offered_as_it_is() -> None:
    assert offered(READ_FILE) == [(READ_FILE.description, READ_FILE.input_schema)] * 3


def test_a_tool_without_input_has_properties_though_they_are_none() -> None:
    for _, schema in offered(tool({"type": "object"})):
        assert schema == {"type": "object", "properties": {}}


@pytest.mark.parametrize("word", ["anyOf", "oneOf", "allOf"])
def test_what_may_not_stand_at_the_top_of_a_schema_moves_into_the_description(word: str) -> None:
    properties = {"a": {"type": "string"}, "b": {"anyOf": [{"type": "string"}, {"type": "null"}]}}
    given = {"type": "object", "properties": properties, word: EITHER}

    for description, schema in offered(tool(given)):
        assert schema == {"type": "object", "properties": properties}
        assert description.startswith("Find it.\n\n")
        assert json.loads(description.partition("as well: ")[2]) == {word: EITHER}
    assert given[word] == EITHER
    for description, _ in offered(tool(given, description="")):
        assert description.startswith("The input must")


BOX = {"type": "object", "properties": {"size": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("place", "path"),
    [
        ({"anyOf": [{"properties": {"box": BOX}}]}, "#/anyOf/0/properties/box"),
        ({"patternProperties": {"^x": BOX}}, "#/patternProperties/%5Ex"),
    ],
)
def test_a_reference_into_what_moves_into_the_description_still_leads_to_it(
    place: dict[str, Any], path: str
) -> None:
    for _, schema in offered(tool({"type": "object", "properties": {"a": {"$ref": path}}, **place})):
        here: Any = schema
        for part in schema["properties"]["a"]["$ref"].split("/")[1:]:
            here = here[part]
        assert here == BOX


@pytest.mark.parametrize("name", ["", "a\u200bb", " a", "a\nb", "x" * 201])
def test_a_property_that_people_cannot_see_as_it_is_is_refused_where_the_tool_is_defined(name: str) -> None:
    with pytest.raises(Unusable) as refused:
        check_schema({"type": "object", "properties": {name: {"type": "string"}}})
    assert "Names of properties" in refused.value.problems["input_schema"][0]


PLAIN = re.compile(r"[A-Za-z0-9_.-]{1,64}")
ODD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "$filter": {"type": "string", "description": "OData."},
        "_filter": {"type": "string"},
        "größe": {
            "type": "array",
            "items": {"type": "object", "properties": {"a b": {"type": "integer"}, "x" * 70: {}}},
        },
        "again": {"$ref": "#/properties/gr%C3%B6%C3%9Fe/items"},
        "same": {"$ref": "#/properties/größe/items"},
    },
    "required": ["$filter", "_filter"],
    "dependentRequired": {"größe": ["$filter"]},
}


def test_names_that_claude_refuses_are_others_on_its_wire_alone_and_come_back_as_they_were() -> None:
    odd = tool(ODD)
    (_, claude), (_, responses), (_, chat) = offered(odd)
    assert responses == chat == ODD | {"properties": ODD["properties"] | {
        "again": {"$ref": "#/properties/größe/items"},
    }}  # fmt: skip
    first, second, third, _, _ = claude["properties"]
    assert (second, claude["required"], claude["dependentRequired"]) == (
        "_filter",
        [first, "_filter"],
        {third: [first]},
    )
    inner, long = claude["properties"][third]["items"]["properties"]
    assert all(PLAIN.fullmatch(name) for name in (first, third, inner, long))
    assert len({first, second, third, inner, long}) == 5
    assert claude["properties"][first]["description"] == 'This is the field "$filter". OData.'
    assert (
        claude["properties"]["again"]
        == claude["properties"]["same"]
        == {"$ref": f"#/properties/{third}/items"}
    )
    sent = {first: "x", second: "y", third: [{inner: 1, long: {inner: [2]}}], "größe": 3}
    reply = ModelReply(
        "", (RequestedCall("find", sent), RequestedCall("other", {first: 1})), "tools", TokenUsage()
    )
    own, other = with_own_names(reply, (odd,), CLAUDE_TOOLS).calls
    assert own.input == {
        "$filter": "x", "_filter": "y", third: [{"a b": 1, "x" * 70: {"a b": [2]}}], "größe": 3
    }  # fmt: skip
    assert other.input == {first: 1}
    as_text = reply._replace(calls=(RequestedCall("find", {third: json.dumps(sent[third]), "größe": first}),))
    (called,) = with_own_names(as_text, (odd,), CLAUDE_TOOLS).calls
    assert called.input == {third: json.dumps(own.input[third]), "größe": first}


def test_a_name_that_is_taken_is_given_to_no_other_property() -> None:
    first = next(
        iter(
            wire_tools([tool({"type": "object", "properties": {"$a": {}}})], CLAUDE_TOOLS)[0].input_schema[
                "properties"
            ]
        )
    )
    both = wire_tools([tool({"type": "object", "properties": {"$a": {}, first: {}}})], CLAUDE_TOOLS)[0]
    assert len(both.input_schema["properties"]) == 2


@pytest.mark.parametrize(
    ("field", "sent"),
    [
        ({"type": "string", "title": "Name", "default": "a"}, {"type": "string", "default": "a"}),
        ({"properties": {"title": {"type": "string"}}}, {"properties": {"title": {"type": "string"}}}),
        (
            {"type": "object", "properties": {"b": {}}, "required": [], "additionalProperties": False},
            {"type": "object", "properties": {"b": {}}},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}], "default": None, "title": "A"},
            {"type": "string"},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}], "default": None},
            {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        ),
        (
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
            {"anyOf": [{"type": "string"}, {"type": "null"}]},
        ),
        (
            {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}], "default": None},
            {"anyOf": [{"$ref": "#/$defs/x"}]},
        ),
        (
            {
                "anyOf": [{"description": "Inner."}, {"type": "null"}],
                "default": None,
                "description": "Outer.",
            },
            {"anyOf": [{"description": "Inner."}], "description": "Outer."},
        ),
    ],
)
def test_what_a_model_does_not_need_to_know_of_a_schema_is_not_sent(
    field: dict[str, Any], sent: dict[str, Any]
) -> None:
    others = {"$defs": {"x": {"type": "string"}}}
    given = tool({"type": "object", "properties": {"a": field}, **others})
    for _, schema in offered(given):
        assert schema == {"type": "object", "properties": {"a": sent}, **others}
    assert given.input_schema["properties"]["a"] == field, (
        "inputs are checked by the schema as it was written"
    )


@pytest.mark.parametrize(
    ("field", "plain"),
    [
        ({"type": "array"}, {"type": "array", "items": {}}),
        ({"type": ["array", "null"]}, {"type": ["array", "null"], "items": {}}),
        ({"items": True}, {"items": {}}),
        (
            {"type": "array", "prefixItems": [{"type": "number"}, True], "items": False},
            {"type": "array", "prefixItems": [{"type": "number"}, {}], "items": {}, "maxItems": 2},
        ),
        ({"items": [{"type": "array"}]}, {"prefixItems": [{"type": "array", "items": {}}], "items": {}}),
        ({"anyOf": [{"type": "array"}, True]}, {"anyOf": [{"type": "array", "items": {}}, {}]}),
        ({"properties": {"b": True, "c": False}}, {"properties": {"b": {}, "c": {"not": {}}}}),
        (
            {"type": "string", "description": "An address.", "pattern": "^(?!a)b$"},
            {"type": "string", "description": 'An address. It matches the pattern "^(?!a)b$".'},
        ),
        (
            {"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": False},
            {"description": 'Fields by the pattern of their name: {"^x-":{"type":"string"}}.'},
        ),
        ({"additionalProperties": False}, {"additionalProperties": False}),
        ({"enum": ["a", 1, None], "default": None}, {"enum": ["a", 1, None], "default": None}),
    ],
)
def test_what_openai_refuses_inside_a_schema_is_rewritten_for_it_alone(
    field: dict[str, Any], plain: dict[str, Any]
) -> None:
    (_, claude), (_, responses), (_, chat) = offered(tool({"type": "object", "properties": {"a": field}}))
    assert responses == chat == {"type": "object", "properties": {"a": plain}}
    assert claude == modern({"type": "object", "properties": {"a": field}})


def test_keywords_that_openai_alone_refuses_at_the_top_stay_for_claude() -> None:
    given = {"type": "object", "properties": {}, "not": {"required": ["a"]}}
    (_, claude), (described, responses), _ = offered(tool(given))
    assert claude == given
    assert "not" not in responses
    assert '{"not":{"required":["a"]}}' in described


def test_a_reference_at_the_top_is_what_it_leads_to() -> None:
    schema = {
        "$ref": "#/definitions/a",
        "definitions": {"a": {"type": "object", "properties": {"b": {"$ref": "#"}}}},
    }
    for _, wired in offered(OfferedTool("find", "d", schema)):
        assert {**wired, "definitions": None} == {
            "type": "object", "properties": {"b": {"$ref": "#"}}, "definitions": None
        }  # fmt: skip


def test_a_stored_schema_that_is_wrong_leaves_out_its_tool_and_no_other() -> None:
    wrong: list[Any] = [
        {"required": True},
        {"properties": 3},
        {"properties": {"a": {"anyOf": 3, "properties": []}}},
    ]
    tools = [*(OfferedTool("wrong", "d", schema) for schema in wrong), OfferedTool("right", "d", {})]
    for rules in (CLAUDE_TOOLS, OPENAI_TOOLS):
        assert "right" in [one.name for one in wire_tools(tools, rules)]
    reply = ModelReply("", (RequestedCall("wrong", {}),), "tools", TokenUsage())
    assert with_own_names(reply, tools, CLAUDE_TOOLS).calls == reply.calls


@pytest.mark.contract
def test_the_session_has_the_property_s_own_name_and_the_provider_another(
    model: Model, wire: str, llmock: Any
) -> None:
    odd = tool({"type": "object", "properties": {"$filter": {"type": "string"}}})
    rules = CLAUDE_TOOLS if wire in ("anthropic", "bedrock") else OPENAI_TOOLS
    (name,) = wire_tools([odd], rules)[0].input_schema["properties"]
    assert (name == "$filter") is (rules is OPENAI_TOOLS)
    llmock.call_tool("find", {name: "x"})
    assert model.complete(request(tools=(odd,)), timeout=TIMEOUT).calls[0].input == {"$filter": "x"}


@given(SCHEMAS)
def test_no_schema_leaves_a_provider_what_it_refuses(schema: dict[str, Any]) -> None:
    claude = wire_tools([OfferedTool("t", "d", schema)], CLAUDE_TOOLS)[0].input_schema
    openai = wire_tools([OfferedTool("t", "d", schema)], OPENAI_TOOLS)[0].input_schema
    for each in inside(claude):
        assert all(PLAIN.fullmatch(name) for name in each.get("properties", {}))
    for each in inside(openai):
        assert each.get("type") != "array" or isinstance(each.get("items"), dict)
        assert not {"pattern", "patternProperties"} & each.keys()
        assert all(
            isinstance(one, dict) for one in (*each.get("properties", {}).values(), *each.get("anyOf", ()))
        )


def inside(schema: Any) -> list[dict[str, Any]]:
    found = [schema]
    for each in found:
        found += [one for one in parts(each) if isinstance(one, dict)]
    return found

"""Tools of tenants: no schema that the registry accepts makes a provider refuse the request."""

import json
from typing import Any

import pytest

from acta_engine.models.anthropic import request as anthropic_request
from acta_engine.models.model import OfferedTool
from acta_engine.models.openai import chat as chat_request
from acta_engine.models.openai import responses as responses_request
from acta_engine.tools.tenant.definition import Unusable, check_schema
from tests.models.wires.conversations import READ_FILE, request

Offered = tuple[str, dict[str, Any]]
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


@pytest.mark.parametrize("name", ["$filter", "", "ä", "a b", "x" * 65])
def test_a_property_that_no_provider_would_take_is_refused_where_the_tool_is_defined(name: str) -> None:
    with pytest.raises(Unusable) as refused:
        check_schema({"type": "object", "properties": {name: {"type": "string"}}})
    assert "Names of properties" in refused.value.problems["input_schema"][0]

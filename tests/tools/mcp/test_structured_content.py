"""What a server says that a tool gives (`outputSchema`) is compared with what it gives."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from acta.engine.errors import ToolFailed
from acta.engine.tools.mcp.exchange import json_object
from acta.engine.tools.mcp.servers import text_of
from tests.doubles.mcp_server import SEARCH, McpSink, text
from tests.tools.mcp.calls import Worker, confirmed

COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


def called(schema: Any, result: Mapping[str, Any]) -> str:
    described = {**SEARCH, "outputSchema": schema}
    with McpSink([described]) as server:
        server.called = lambda params: result
        return Worker(server).call(confirmed(described, server.url("/mcp"), read=True)).text


def test_content_that_fits_is_the_result() -> None:
    assert called(COUNT, text("7", structuredContent={"count": 7})) == '7\n{"count": 7}'


def test_numbers_of_content_keep_their_digits() -> None:
    written = '{"structuredContent": {"total": 12345678901234567890.123456789, "id": 9007199254740993, "rate": 1.50}}'
    told = '{"total": 12345678901234567890.123456789, "id": 9007199254740993, "rate": 1.50}'
    assert text_of(json_object(written)) == told


@pytest.mark.parametrize("value", [float("nan"), float("-inf"), 10**400, [[[0]]], {"a": '}\\"{ NaN'}])
@pytest.mark.parametrize("effect", ["read", "once"])
@pytest.mark.parametrize("as_events", [False, True])
@pytest.mark.parametrize("schema", [None, COUNT])
def test_content_that_could_not_be_stored_is_told_as_it_was_written_and_the_call_has_run(
    value: Any, effect: str, as_events: bool, schema: Any
) -> None:
    deep: Any = 1
    for _ in range(150):
        deep = [deep]
    content = {"count": float("nan"), "value": value, "deep": deep}
    described = SEARCH if schema is None else {**SEARCH, "outputSchema": schema}
    with McpSink([described], as_events=as_events) as server:
        server.called = lambda params: text("found", structuredContent=content)
        tool = confirmed(described, server.url("/mcp"), read=effect == "read")
        assert Worker(server).call(tool).text == f"found\n{json.dumps(content)}"
        assert server.methods.count("tools/call") == 1


@pytest.mark.parametrize("more", [{}, {"structuredContent": {"a": float("nan")}}], ids=["text", "content"])
def test_a_number_that_is_none_beside_the_content_loses_no_answer(more: dict[str, Any]) -> None:
    with McpSink([SEARCH]) as server:
        server.called = lambda params: text("found", _meta={"score": float("nan")}, **more)
        told = Worker(server).call(confirmed(SEARCH, server.url("/mcp"), read=False)).text
        assert told.startswith("found")


def test_an_answer_whose_other_parts_cannot_be_read_is_still_none() -> None:
    with McpSink([SEARCH]) as server:
        server.called = lambda params: text("found", structuredContent={"a": 1}, _meta={"n": 10**400})
        with pytest.raises(ToolFailed, match="a number is too long"):
            Worker(server).call(confirmed(SEARCH, server.url("/mcp"), read=True))


@pytest.mark.parametrize("more", [{}, {"structuredContent": {"count": "7"}}, {"structuredContent": 7}])
def test_content_that_does_not_fit_or_is_missing_is_a_failed_call_with_the_answer(
    more: dict[str, Any],
) -> None:
    with pytest.raises(ToolFailed, match="is not what its server says") as failed:
        called(COUNT, text("the answer", **more))
    assert failed.value.outside is not None
    assert "the answer" in failed.value.outside.text


def test_a_failed_call_needs_no_content() -> None:
    with pytest.raises(ToolFailed, match="desk__search failed"):
        called(COUNT, text("no", isError=True))


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "$ref": "https://evil.example/schema"},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
        {"type": "array"},
        "no schema",
    ],
)
def test_a_schema_outside_of_the_bounds_is_not_checked_and_nothing_is_fetched_for_it(schema: Any) -> None:
    assert called(schema, text("found", structuredContent={"a": 1})).startswith("found")

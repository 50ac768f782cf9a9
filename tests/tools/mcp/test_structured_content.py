"""What a server says that a tool gives (`outputSchema`) is compared with what it gives."""

from collections.abc import Mapping
from typing import Any

import pytest

from acta_engine.errors import ToolFailed
from acta_engine.tools.mcp.exchange import json_object
from acta_engine.tools.mcp.servers import text_of
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

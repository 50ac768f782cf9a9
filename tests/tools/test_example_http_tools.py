"""The tools of `examples/http-tools`: the files fit the schema of definitions, and calls reach a server as they say."""

import runpy
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from acta.cli.apply.folder import read_folder
from acta.engine.egress.address import AddressGuard
from acta.engine.settings import Settings
from acta.engine.tools.port import CallContext
from acta.engine.tools.tenant.definition import check_fixed, to_config
from acta.engine.tools.tenant.http import HttpTool
from acta.engine.tools.tool import HttpConfig, ToolDefinition
from tests.doubles.http_sink import Reply, Sink
from tests.doubles.secret_values import MemoryToolSecretValues
from tests.doubles.tool_secrets import known_for

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "http-tools"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
SECRET = "Bearer key-123456"


def definitions() -> dict[str, Any]:
    return {key.name: definition for key, definition in read_folder(FOLDER, None).definitions.items()}


def call(sink: Sink, name: str, arguments: Mapping[str, Any]) -> str:
    """Against the server of the test instead of orders.example.com."""
    given = definitions()[name]
    settings = Settings(env="local", is_local=True, table="t", bucket="b", http_tool_allow=sink.at)
    url = given["config"]["url"].replace("https://orders.example.com", sink.url("").rstrip("/"))
    config = to_config("http", {**given["config"], "url": url}, settings, "acme")
    assert isinstance(config, HttpConfig)
    check_fixed(config, given["input_schema"])
    times = {"version": 1, "created_at": NOW, "updated_at": NOW}
    tool = ToolDefinition.model_validate({**given, "name": name, "config": config, **times})
    secrets = MemoryToolSecretValues()
    secrets.put("acme", "orders_key", SECRET)
    context = CallContext("acme", "ses_1", "default", "eff_1", 20)
    return (
        HttpTool(AddressGuard(settings), secrets, known_for([sink.at], "orders_key"))
        .run(tool, arguments, context)
        .text
    )


def test_an_order_is_read_by_its_number_with_the_secret() -> None:
    with Sink({"/v2/orders/A-1007": Reply(body=b'{"state": "sent"}')}) as sink:
        assert call(sink, "read_order", {"order_id": "A-1007"}) == '{"state": "sent"}'
        (heard,) = sink.heard
    assert (heard.method, heard.path, heard.body) == ("GET", "/v2/orders/A-1007", None)
    assert heard.headers["authorization"] == SECRET


def test_orders_are_searched_under_the_names_of_the_api() -> None:
    with Sink() as sink:
        call(sink, "search_orders", {"words": "blue & green", "states": ["open", "sent"], "language": "de"})
        call(sink, "search_orders", {"words": "x"})
        full, short = sink.heard
    asked = "page[size]=20&q=blue+%26+green&filter%5Bstate%5D=open&filter%5Bstate%5D=sent"
    assert (full.path, full.headers["x-language"]) == (f"/v2/orders?{asked}", "de")
    assert short.path == "/v2/orders?page[size]=20&q=x"
    assert "x-language" not in short.headers


def test_the_function_answers_what_the_page_says_and_raises_for_what_it_does_not_know() -> None:
    assert definitions()["weigh_parcel"]["kind"] == "lambda"
    handler = runpy.run_path(str(FOLDER / "functions" / "weigh_parcel.py"))["handler"]
    event = {
        "arguments": {"order_id": "A-1007"},
        "effect_id": "eff_1",
        "session_id": "ses_1",
        "tenant": "acme",
    }
    assert handler(event, None) == {"order_id": "A-1007", "grams": 1_250}
    with pytest.raises(LookupError, match="no parcel of A-1"):
        handler({**event, "arguments": {"order_id": "A-1"}}, None)

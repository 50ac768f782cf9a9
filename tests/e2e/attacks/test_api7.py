"""API7, server side request forgery: a tool is to reach what only the deployment itself can."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.doubles.http_sink import Reply, Sink
from tests.e2e.support.conversing import http_tool
from tests.e2e.support.person import Person, refused
from tests.e2e.support.script import Call, do, end, plan
from tests.e2e.support.stage import Stage


@pytest.fixture(scope="module")
def inside() -> Iterator[Sink]:
    """What no tool may reach."""
    with Sink() as made:
        yield made


@pytest.fixture(scope="module")
def sink(inside: Sink) -> Iterator[Sink]:
    """The one server that tools may reach."""
    with Sink({"/away": Reply(302, headers={"Location": inside.url("/latest/meta-data")})}) as made:
        yield made


def test_no_tool_is_made_for_an_address_inside_however_it_is_written(boss: Person, inside: Sink) -> None:
    for url in (
        inside.url("/"), "http://169.254.169.254/latest/", "https://169.254.169.254/", "https://[::1]/",
        "https://[::ffff:169.254.169.254]/", "https://2852039166/", "https://user@127.0.0.1/", "file:///etc/passwd",
    ):  # fmt: skip
        error = refused(boss.post("/v1/tools", http_tool("peek", url)), 400, "VALIDATION_ERROR")
        assert list(error["details"]) == ["config.url"]


@pytest.mark.thorough
def test_neither_a_redirect_nor_an_argument_leads_a_call_elsewhere(
    boss: Person, llmock: Any, sink: Sink, inside: Sink
) -> None:
    stage = Stage(boss, llmock.tool_mode("off"))
    anything = {"type": "object", "additionalProperties": True}
    get = {"effect": "read", "input_schema": anything}
    for name, path in (("away", "/away"), ("find", "/find")):
        tool = {**http_tool(name, sink.url(path), **get), "config": {"url": sink.url(path), "method": "GET"}}
        assert boss.post("/v1/tools", tool).status_code == 201
    elsewhere = {"url": inside.url(), "host": inside.at, "x#@": inside.at}
    stage.prepare(
        do(plan("Look")),
        do(Call("away", {}), Call("find", elsewhere), text="I look."),
        end("Nothing there.", 1),
    )
    seen = boss.finished(boss.start("Look inside"))
    away = next(text for text in stage.results(seen) if "away" in text)
    assert away.startswith("Error: away may not go there")
    assert inside.heard == []
    assert {heard.path.partition("?")[0] for heard in sink.heard} == {"/away", "/find"}

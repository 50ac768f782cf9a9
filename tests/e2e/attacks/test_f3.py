"""F3, slow patterns and schema bombs: text and schemas that would take a worker hours are dealt with in its time."""

from typing import Any

import pytest

from acta.engine.agents.dynamodb import DynamoToolStore
from acta.engine.clock import SystemClock
from acta.engine.tools.tool import HttpConfig, ToolDefinition
from tests.doubles.http_sink import Sink
from tests.e2e.support.behind import Behind
from tests.e2e.support.conversing import http_tool
from tests.e2e.support.person import Person
from tests.e2e.support.script import Call, do, end, plan, read
from tests.e2e.support.stage import Stage

DASHES = "-" * 65_000 + "\n" + "─" * 20_000
LETTERS = {"a": "a" * 5_000 + "!"}
NEXT = {"properties": {"a": {"$ref": "#"}}}


def fanning() -> dict[str, Any]:
    levels = {f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 14} for n in range(14)}
    return {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": {**levels, "d14": {}}}


def of_pattern(pattern: str) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}


@pytest.mark.thorough
def test_a_file_of_dashes_is_read_and_its_session_ends(boss: Person, llmock: Any) -> None:
    stage = Stage(boss, llmock.tool_mode("off"))
    boss.put_file("dashes.txt", DASHES)
    stage.prepare(do(plan("Read it")), do(read("dashes.txt")), end("Dashes.", 1))
    seen = boss.finished(boss.start("What is in dashes.txt?"))
    assert seen.session["state"] == "completed"
    (step,) = [one for one in stage.told(seen, "steps")["items"] if one["kind"] == "tool"]
    assert (step["error"], step["attempt"]) == (None, 0)


def test_an_admin_cannot_define_a_schema_that_takes_unlimited_work(boss: Person, sink: Sink) -> None:
    tool = http_tool("check", sink.url("/check"), high_stakes=False)
    for schema in (fanning(), of_pattern(r"(a+)+(?=a)$"), of_pattern(r"^(a)\1+$")):
        answer = boss.post("/v1/tools", {**tool, "input_schema": schema})
        assert (answer.status_code, list(answer.json()["error"]["details"])) == (400, ["input_schema"])
    assert boss.post("/v1/tools", {**tool, "input_schema": of_pattern("^(a+)+$")}).status_code == 201


def test_bombs_that_are_there_refuse_their_calls_and_the_session_goes_on(
    boss: Person, llmock: Any, sink: Sink, behind: Behind
) -> None:
    """Definitions of before, or of who reached the table."""
    heard = len(sink.heard)
    bombs = {
        "fans": (fanning(), {"a": "x"}),
        "nests": (of_pattern("^(a+)+$"), LETTERS),
        "looks_ahead": (of_pattern("(a+)+(?=a)$"), LETTERS),
        "doubles": ({"type": "object", "anyOf": [NEXT, NEXT]}, nested(60)),
    }
    clock = SystemClock()
    store = DynamoToolStore(behind.settings["ACTA_TABLE"], clock, behind.client("dynamodb"))
    for name, (schema, _) in bombs.items():
        config = HttpConfig(url=sink.url("/check"), method="POST")
        tool = ToolDefinition(
            name=name, description=name, input_schema=schema, kind="http", config=config, high_stakes=False,
            version=1, created_at=clock.now(), updated_at=clock.now(),
        )  # fmt: skip
        store.create(boss.tenant, tool)
    stage = Stage(boss, llmock.tool_mode("off"))
    calls = [Call(name, arguments) for name, (_, arguments) in bombs.items()]
    stage.prepare(do(plan("Try them")), do(*calls), end("None worked.", 1))
    seen = boss.finished(boss.start("Try the tools"))
    assert seen.session["state"] == "completed"
    fans, nests, ahead, doubles = [text for text in stage.results(seen) if text.startswith("Error:")]
    assert "takes too much work" in fans
    assert "the input does not fit nests" in nests
    assert "an admin has to change the tool's input_schema" in ahead
    assert "takes too much work" in doubles
    assert len(sink.heard) == heard


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {"a": 1}
    for _ in range(levels):
        value = {"a": value}
    return value

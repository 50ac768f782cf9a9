"""What `acta up` shows of calls of Python tools."""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from acta.cli.local.up import ToolLines


class Logs:
    """One log group, as CloudWatch Logs answers."""

    def __init__(self) -> None:
        self.messages: list[tuple[int, str]] = []

    def write(self, **fields: Any) -> None:
        self.messages.append((round(time.time() * 1_000) + 10, json.dumps(fields)))

    def get_paginator(self, operation: str) -> "Logs":
        return self

    def paginate(self, **asked: Any) -> Iterator[Mapping[str, Any]]:
        assert asked["logGroupName"] == "/aws/lambda/acta-local-tool-orders"
        found = [{"timestamp": at, "message": text} for at, text in self.messages if at >= asked["startTime"]]
        yield {"events": found}


def test_what_calls_print_and_raise_is_shown_once_and_lambdas_own_lines_are_not() -> None:
    logs, said = Logs(), list[str]()
    logs.messages.append((0, '{"message": "tool printed", "tool": "look", "text": "of yesterday"}'))
    lines = ToolLines(logs, said.append)
    lines.look(["orders"])
    assert said == []

    logs.messages.append((round(time.time() * 1_000), "START RequestId: 1"))
    logs.write(message="tool printed", tool="look", text="asking")
    logs.write(
        message="tool raised", tool="look", level="ERROR", error="KeyError", text="Traceback …\nKeyError: 7"
    )
    lines.look(["orders"])
    lines.look(["orders"])
    lines.look([])

    assert said == [
        "tools: look printed: asking",
        "tools: look raised: KeyError\nTraceback …\nKeyError: 7",
    ]

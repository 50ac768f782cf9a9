"""What every model returns. The server is llmock, which is not ours."""

from typing import Any

import pytest
from llmock.scenarios import Reply, ToolCall

from acta_engine.models.model import Model
from tests.models.wires.conversations import TIMEOUT, assistant, call, request, result, user

pytestmark = pytest.mark.contract


def test_a_text_answer_comes_back_with_its_usage(model: Model, llmock: Any) -> None:
    llmock.reply("Hello, Ada. 你好 🙂")

    reply = model.complete(request(), timeout=TIMEOUT)

    assert reply.text == "Hello, Ada. 你好 🙂"
    assert (reply.calls, reply.stop) == ((), "end")
    assert reply.usage.input > 0
    assert reply.usage.output > 0


def test_the_model_names_its_provider(model: Model, provider: str) -> None:
    assert model.provider == provider


def test_a_tool_call_comes_back_with_its_input(model: Model, llmock: Any) -> None:
    llmock.call_tool(
        "read_file", {"path": "notes and more.md", "deep": {"list": [1, None, "ä"]}}, text="Let me look."
    )

    reply = model.complete(request(), timeout=TIMEOUT)

    assert reply.text == "Let me look."
    assert [c.name for c in reply.calls] == ["read_file"]
    assert reply.calls[0].input == {"path": "notes and more.md", "deep": {"list": [1, None, "ä"]}}
    assert reply.stop == "tools"


def test_parallel_calls_come_back_in_the_models_order(model: Model, llmock: Any) -> None:
    paths = ["c.md", "a.md", "b.md"]
    llmock.add(Reply(tool_calls=tuple(ToolCall("read_file", {"path": path}) for path in paths)))

    reply = model.complete(request(), timeout=TIMEOUT)

    assert [c.input for c in reply.calls] == [{"path": path} for path in paths]


def test_a_turn_of_calls_and_results_is_accepted(model: Model, llmock: Any) -> None:
    llmock.reply("Both read.")
    rounds = (
        user("Read both."),
        assistant("Reading.", call("call_1", path="a"), call("call_2", path="b")),
        result("call_1", "A"),
        result("call_2", "Error: no such file", ok=False),
    )

    assert model.complete(request(*rounds), timeout=TIMEOUT).text == "Both read."

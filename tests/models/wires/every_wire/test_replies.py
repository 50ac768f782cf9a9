"""What every model returns. The server is llmock, which is not ours."""

import json
from typing import Any

import pytest
from llmock.scenarios import Reply, ToolCall

from acta.engine.models.model import Model
from acta.engine.models.wire import parse_call
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


def test_numbers_of_a_call_keep_every_digit(model: Model, llmock: Any) -> None:
    numbers = {
        "id": 2**53 + 1,
        "big": 10**40 + 1,
        "rate": -0.0,
        "large": 1e22,
        "small": 5e-324,
        "sum": 0.1 + 0.2,
    }
    llmock.call_tool("pay", numbers)

    reply = model.complete(request(), timeout=TIMEOUT)

    assert json.dumps(reply.calls[0].input) == json.dumps(numbers)


@pytest.mark.parametrize(
    "number", ["12345678901234567890.123456789", "9007199254740993.0", "1e400", "-1e-400", "NaN"]
)
def test_a_number_that_cannot_be_kept_is_no_input_and_the_model_is_told_how_to_send_it(number: str) -> None:
    call = parse_call("pay", f'{{"amount": {number}}}', cut=False)

    assert call.input is None
    assert call.malformed is not None
    assert number in call.malformed
    assert parse_call("pay", f'{{"amount": "{number}"}}', cut=False).input == {"amount": number}


def test_a_token_of_the_models_format_is_no_part_of_a_name() -> None:
    assert parse_call("read_file<|channel|>commentary", "{}", cut=False).name == "read_file"


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

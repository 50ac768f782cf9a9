"""ReAct over every wire."""

import json
from typing import Any

import pytest
from llmock.scenarios import Reply, StreamFault

from acta.engine.errors import StreamBroken
from acta.engine.models.model import Model, RequestedCall
from acta.engine.models.react import UNREADABLE, ReActModel
from tests.models.wires.conversations import TIMEOUT, assistant, call, request, result, user

pytestmark = pytest.mark.contract

WRITTEN = json.dumps({"thought": "Look.", "action": "read_file", "action_input": {"path": "ä/b.md"}})


@pytest.fixture
def react(model: Model) -> Model:
    return ReActModel(model)


def test_an_action_comes_back_as_a_call_with_the_usage_of_the_model(react: Model, llmock: Any) -> None:
    llmock.reply(WRITTEN)

    reply = react.complete(request(), timeout=TIMEOUT)

    assert (reply.text, reply.stop) == ("Look.", "tools")
    assert reply.calls == (RequestedCall("read_file", {"path": "ä/b.md"}),)
    assert reply.usage.input > 0
    assert reply.usage.output > 0


def test_no_tool_and_no_tool_message_goes_over_the_wire(react: Model, llmock: Any) -> None:
    llmock.reply(WRITTEN)
    entries = (
        user("Read both."),
        assistant("Reading.", call("c1", path="a"), call("c2", path="b")),
        result("c1", "A"),
        result("c2", "Error: none", ok=False),
    )

    react.complete(request(*entries), timeout=TIMEOUT)

    (seen,) = llmock.requests
    body = seen.body if isinstance(seen.body, dict) else json.loads(seen.body)
    assert "tools" not in body
    assert "tool_choice" not in body
    messages = body.get("messages") or body["input"]
    assert {message["role"] for message in messages} <= {"system", "user", "assistant"}
    assert "tool_use" not in json.dumps(body)
    assert "function_call" not in json.dumps(body)


def test_an_answer_cut_at_its_limit_is_not_run(react: Model, llmock: Any) -> None:
    llmock.add(Reply(text=WRITTEN[:-20], finish_reason="length"))

    reply = react.complete(request(), timeout=TIMEOUT)

    assert (reply.calls[0].name, reply.calls[0].input, reply.stop) == (UNREADABLE, None, "max_tokens")


@pytest.mark.parametrize("after", [1, 3])
def test_the_engine_retries_a_broken_answer(react: Model, llmock: Any, after: int) -> None:
    llmock.add(Reply(text=WRITTEN), StreamFault("truncate", after_chunks=after))

    with pytest.raises(StreamBroken):
        react.complete(request(), timeout=TIMEOUT)

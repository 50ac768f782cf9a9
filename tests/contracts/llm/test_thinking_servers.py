"""Chat Completions of servers whose models think: what one insists on, another refuses."""

import json
from typing import Any

import pytest

from shared.adapters.llm.openai.chat import OpenAIModel
from shared.domain.errors import ProviderRejected
from shared.domain.session.conversation import AssistantEntry
from shared.ports.model import ModelReply
from tests.contracts.llm.conversations import (
    KEY,
    PATIENCE,
    UPDATE_PLAN,
    assistant,
    call,
    request,
    result,
    user,
)
from tests.contracts.llm.served import Served
from tests.contracts.llm.wires import answer, sse

pytestmark = pytest.mark.contract

JSON = {"content-type": "application/json"}
SSE = {"content-type": "text/event-stream"}
NAMES = ["reasoning_content", "reasoning"]


def tell_a_call(served: Served, name: str) -> None:
    """The server thinks under that name, and then asks for a file."""
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    function = {"name": "read_file", "arguments": '{"path":"a"}'}
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", name: "I should "},
        {name: "read it."},
        {"tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": function}]},
    ]
    chunks = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    served.tell(*map(sse, chunks), b"data: [DONE]\n\n", headers=SSE)


def tell_no(served: Served, sentence: str) -> None:
    error = {"message": sentence, "type": "invalid_request_error"}
    served.tell(json.dumps({"error": error}).encode(), status=400, headers=JSON)


def tell_yes(served: Served) -> None:
    served.tell(*answer("openai", "Yes.", "stop"), headers=SSE)


def kept(reply: ModelReply) -> AssistantEntry:
    """As the session's log has it."""
    entry = assistant("", call("c1", path="a"), provider="openai", raw=reply.raw)
    return entry.model_copy(update={"thinking": reply.thinking})


def said(served: Served, number: int) -> dict[str, Any]:
    """The assistant's message in that request."""
    messages: list[dict[str, Any]] = served.asked[number].body["messages"]
    return next(message for message in messages if message["role"] == "assistant")


@pytest.mark.parametrize("name", NAMES)
def test_what_was_thought_before_a_call_goes_back_under_its_name_to_the_model_that_thought_it(
    name: str, served: Served
) -> None:
    model = OpenAIModel(KEY, served.url)
    tell_a_call(served, name)
    tell_yes(served)
    tell_yes(served)

    entry = kept(model.complete(request(), timeout=PATIENCE))
    model.complete(request(user("go"), entry, result("c1", "A")), timeout=PATIENCE)
    model.complete(request(user("go"), entry, result("c1", "A"), model="another"), timeout=PATIENCE)

    assert said(served, 1)[name] == "I should read it."
    assert not {*NAMES} & {*said(served, 2)}


def test_what_was_thought_before_an_answer_is_not_kept(served: Served) -> None:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    thinks = {
        **chunk,
        "choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}, "finish_reason": None}],
    }
    served.tell(sse(thinks), *answer("openai", "Yes.", "stop"), headers=SSE)

    reply = OpenAIModel(KEY, served.url).complete(request(), timeout=PATIENCE)

    assert (reply.text, reply.thinking, reply.raw) == ("Yes.", "Hm.", None)


def test_a_server_that_does_not_take_thinking_back_is_asked_without_it_from_then_on(served: Served) -> None:
    model = OpenAIModel(KEY, served.url)
    tell_a_call(served, "reasoning_content")
    entry = kept(model.complete(request(), timeout=PATIENCE))
    tell_no(served, "Unrecognized request argument supplied: messages.2.reasoning_content")
    tell_yes(served)
    tell_yes(served)

    for _ in range(2):
        reply = model.complete(request(user("go"), entry, result("c1", "A")), timeout=PATIENCE)
        assert reply.text == "Yes."

    assert ["reasoning_content" in said(served, number) for number in (1, 2, 3)] == [True, False, False]


def test_a_model_that_takes_no_forced_tool_while_it_thinks_is_told_in_words_from_then_on(
    served: Served,
) -> None:
    model = OpenAIModel(KEY, served.url)
    tell_no(served, "Thinking mode does not support this tool_choice")
    tell_yes(served)
    tell_yes(served)
    planning = request(tools=(UPDATE_PLAN,), tool_choice="update_plan")

    for _ in range(2):
        assert model.complete(planning, timeout=PATIENCE).text == "Yes."

    bodies = [asked.body for asked in served.asked]
    assert [body["tool_choice"] for body in bodies] == ["required", "auto", "auto"]
    ordered = ["calling the tool `update_plan`" in body["messages"][-1]["content"] for body in bodies]
    assert ordered == [False, True, True]


@pytest.mark.parametrize("sentence", ["auto tool_choice requires a parser", "reasoning is off", "no"])
def test_a_refusal_of_what_was_not_sent_ends_the_run_after_one_request(sentence: str, served: Served) -> None:
    tell_no(served, sentence)

    with pytest.raises(ProviderRejected):
        OpenAIModel(KEY, served.url).complete(request(), timeout=PATIENCE)
    assert len(served.asked) == 1

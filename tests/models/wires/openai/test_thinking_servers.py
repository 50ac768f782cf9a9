"""Chat Completions of servers whose models think. What one of them insists on, another refuses."""

import json
from typing import Any

import pytest

from acta.engine.errors import ProviderRejected
from acta.engine.log.conversation import AssistantEntry
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.models.openai.chat import OpenAIModel
from tests.models.wires.conversations import (
    KEY,
    TIMEOUT,
    assistant,
    call,
    request,
    result,
    user,
)
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.stream_formats import answer, sse

pytestmark = pytest.mark.contract

JSON = {"content-type": "application/json"}
SSE = {"content-type": "text/event-stream"}
NAMES = ["reasoning_content", "reasoning"]


def queue_call(server: FakeProvider, name: str) -> None:
    """The server sends thinking in that field, and then a call."""
    base = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    function = {"name": "read_file", "arguments": '{"path":"a"}'}
    deltas: list[dict[str, Any]] = [
        {"role": "assistant", name: "I should "},
        {name: "read it."},
        {"tool_calls": [{"index": 0, "id": "t1", "type": "function", "function": function}]},
    ]
    chunks = [{**base, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**base, "choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    server.queue(*map(sse, chunks), b"data: [DONE]\n\n", headers=SSE)


def queue_refusal(server: FakeProvider, sentence: str, **more: str) -> None:
    error = {"message": sentence, "type": "invalid_request_error", **more}
    server.queue(json.dumps({"error": error}).encode(), status=400, headers=JSON)


def queue_answer(server: FakeProvider) -> None:
    server.queue(*answer("openai", "Yes.", "stop"), headers=SSE)


def kept(reply: ModelReply) -> AssistantEntry:
    """The reply as an entry."""
    entry = assistant("", call("c1", path="a"), provider="openai", raw=reply.raw)
    return entry.model_copy(update={"thinking": reply.thinking})


def reply_in(server: FakeProvider, number: int) -> dict[str, Any]:
    """The assistant's message in the request of that number."""
    messages: list[dict[str, Any]] = server.requests[number].body["messages"]
    return next(message for message in messages if message["role"] == "assistant")


@pytest.mark.parametrize("name", NAMES)
def test_thinking_before_a_call_goes_back_in_its_field_to_the_model_it_came_from(
    name: str, server: FakeProvider
) -> None:
    model = OpenAIModel(KEY, server.url)
    queue_call(server, name)
    queue_answer(server)
    queue_answer(server)

    entry = kept(model.complete(request(), timeout=TIMEOUT))
    model.complete(request(user("go"), entry, result("c1", "A")), timeout=TIMEOUT)
    model.complete(request(user("go"), entry, result("c1", "A"), model="another"), timeout=TIMEOUT)

    assert reply_in(server, 1)[name] == "I should read it."
    assert not {*NAMES} & {*reply_in(server, 2)}


def test_thinking_of_one_provider_is_not_sent_to_another_one_with_the_same_protocol(
    server: FakeProvider,
) -> None:
    queue_call(server, "reasoning_content")
    entry = kept(OpenAIModel(KEY, server.url).complete(request(), timeout=TIMEOUT))
    another = OpenAIModel(KEY, server.url, "another")
    queue_answer(server)
    queue_answer(server)

    another.complete(request(user("go"), entry, result("c1", "A")), timeout=TIMEOUT)
    own = entry.model_copy(update={"provider": another.provider})
    another.complete(request(user("go"), own, result("c1", "A")), timeout=TIMEOUT)

    assert ["reasoning_content" in reply_in(server, number) for number in (1, 2)] == [False, True]


def test_an_error_names_the_provider_that_was_asked(server: FakeProvider) -> None:
    queue_refusal(server, "no")

    with pytest.raises(ProviderRejected, match=r"^another answered 400"):
        OpenAIModel(KEY, server.url, "another").complete(request(), timeout=TIMEOUT)


def test_thinking_before_an_answer_is_not_kept(server: FakeProvider) -> None:
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    thinks = {
        **chunk,
        "choices": [{"index": 0, "delta": {"reasoning_content": "Hm."}, "finish_reason": None}],
    }
    server.queue(sse(thinks), *answer("openai", "Yes.", "stop"), headers=SSE)

    reply = OpenAIModel(KEY, server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, reply.thinking, reply.raw) == ("Yes.", "Hm.", None)


def test_a_server_that_does_not_take_thinking_back_is_asked_without_it_from_then_on(
    server: FakeProvider,
) -> None:
    model = OpenAIModel(KEY, server.url)
    queue_call(server, "reasoning_content")
    entry = kept(model.complete(request(), timeout=TIMEOUT))
    queue_refusal(server, "Unrecognized request argument supplied: messages.2.reasoning_content")
    queue_answer(server)
    queue_answer(server)

    for _ in range(2):
        reply = model.complete(request(user("go"), entry, result("c1", "A")), timeout=TIMEOUT)
        assert reply.text == "Yes."

    assert ["reasoning_content" in reply_in(server, number) for number in (1, 2, 3)] == [True, False, False]


def test_a_server_that_wants_thinking_before_every_call_gets_a_blank_where_there_is_none(
    server: FakeProvider,
) -> None:
    model = OpenAIModel(KEY, server.url)
    queue_call(server, "reasoning_content")
    own = kept(model.complete(request(), timeout=TIMEOUT))
    other = assistant("", call("c2", path="b"), provider="another")
    queue_refusal(server, "thinking is enabled but reasoning_content is missing in assistant message 4")
    queue_answer(server)
    queue_answer(server)

    for _ in range(2):
        asked = request(user("go"), own, result("c1", "A"), other, result("c2", "B"))
        assert model.complete(asked, timeout=TIMEOUT).text == "Yes."

    sent = [
        [one.get("reasoning_content") for one in asked.body["messages"] if one["role"] == "assistant"]
        for asked in server.requests[1:]
    ]
    assert sent == [["I should read it.", None], *[["I should read it.", " "]] * 2]


def test_what_gemini_signs_a_call_with_goes_back_to_it_alone(server: FakeProvider) -> None:
    signature = {"google": {"thought_signature": "c2ln"}}
    function = {"name": "read_file", "arguments": '{"path":"a"}'}
    part = {"index": 0, "id": "t1", "type": "function", "function": function, "extra_content": signature}
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choice = {"index": 0, "delta": {"tool_calls": [part]}, "finish_reason": "tool_calls"}
    server.queue(sse({**chunk, "choices": [choice]}), b"data: [DONE]\n\n", headers=SSE)
    model = OpenAIModel(KEY, server.url)
    entry = kept(model.complete(request(), timeout=TIMEOUT))
    for name in (request().model, "another"):
        queue_answer(server)
        model.complete(request(user("go"), entry, result("c1", "A"), model=name), timeout=TIMEOUT)

    calls = [reply_in(server, number)["tool_calls"][0] for number in (1, 2)]
    assert [one.get("extra_content") for one in calls] == [signature, None]


@pytest.mark.parametrize("sentence", ["auto tool_choice requires a parser", "reasoning is off", "no"])
def test_a_refusal_of_a_parameter_that_was_not_sent_ends_the_run_after_one_request(
    sentence: str, server: FakeProvider
) -> None:
    queue_refusal(server, sentence)

    with pytest.raises(ProviderRejected):
        OpenAIModel(KEY, server.url).complete(request(), timeout=TIMEOUT)
    assert len(server.requests) == 1


def with_thinking(server: FakeProvider) -> tuple[OpenAIModel, ModelRequest]:
    """A model that has thought before its call, and the request that gives the thinking back."""
    model = OpenAIModel(KEY, server.url)
    queue_call(server, "reasoning_content")
    entry = kept(model.complete(request(), timeout=TIMEOUT))
    return model, request(user("go"), entry, result("c1", "A"))


@pytest.mark.parametrize(
    ("sentence", "more"),
    [
        ("Invalid schema for function 'reasoning_content_1'", {}),
        ("Invalid schema for function 'reasoning_content'", {"param": "tools[0].function.parameters"}),
    ],
)
def test_a_name_out_of_the_request_is_no_refused_parameter(
    sentence: str, more: dict[str, str], server: FakeProvider
) -> None:
    model, asked = with_thinking(server)
    queue_refusal(server, sentence, **more)

    with pytest.raises(ProviderRejected):
        model.complete(asked, timeout=TIMEOUT)
    assert len(server.requests) == 2


def test_a_parameter_is_left_out_from_then_on_only_if_the_request_without_it_was_answered(
    server: FakeProvider,
) -> None:
    model, asked = with_thinking(server)
    queue_refusal(server, "Invalid schema for function 'reasoning_content'")
    queue_refusal(server, "Invalid schema for function 'reasoning_content'")
    queue_answer(server)

    with pytest.raises(ProviderRejected):
        model.complete(asked, timeout=TIMEOUT)
    model.complete(asked, timeout=TIMEOUT)

    sent = ["reasoning_content" in reply_in(server, number) for number in (1, 2, 3)]
    assert sent == [True, False, True]


def test_the_parameter_that_the_error_names_is_left_out(server: FakeProvider) -> None:
    model, asked = with_thinking(server)
    queue_refusal(server, "Not supported", param="messages[2].reasoning_content")
    queue_answer(server)

    assert model.complete(asked, timeout=TIMEOUT).text == "Yes."

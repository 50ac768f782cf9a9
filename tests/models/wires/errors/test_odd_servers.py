"""Servers whose answers and errors differ from what the providers document."""

import json
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any

import pytest

from acta.engine.errors import (
    ActaError,
    ContextTooLong,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderRejected,
    ProviderTimeout,
    StreamBroken,
)
from acta.engine.models.anthropic.client import AnthropicModel
from acta.engine.models.openai.chat import OpenAIModel
from acta.engine.models.openai.responses import OpenAIResponsesModel
from tests.models.wires.conftest import MODELS
from tests.models.wires.conversations import TIMEOUT, assistant, request, user
from tests.models.wires.fake_provider import CannedAnswer, FakeProvider, ReceivedRequest
from tests.models.wires.stream_formats import (
    answer,
    chat_chunks,
    function_call,
    message,
    messages_events,
    response_events,
    sse,
)

pytestmark = pytest.mark.contract

JSON = {"content-type": "application/json"}
SSE = {"content-type": "text/event-stream"}
OPENAIS = ["openai", "openai-responses"]
VLLM = {
    "message": "This model's maximum context length is 4096 tokens. However, you requested 9000 tokens.",
    "type": "BadRequestError",
    "code": 400,
}
LLAMA = {"message": "the request exceeds it", "type": "exceed_context_size_error", "code": 400, "n_ctx": 4096}


def failure(model: Any) -> ActaError:
    with pytest.raises(ActaError) as caught:
        model.complete(request(), timeout=TIMEOUT)
    assert caught.value.__context__ is None
    return caught.value


@pytest.mark.parametrize("wire", OPENAIS)
@pytest.mark.parametrize(
    ("status", "error"), [(400, VLLM), (400, LLAMA), (500, LLAMA), (413, {"message": "no"})]
)
def test_a_prompt_that_exceeds_the_window_is_recognised_by_every_name(
    wire: str, status: int, error: dict[str, Any], server: FakeProvider
) -> None:
    server.queue(json.dumps({"error": error}).encode(), status=status, headers=JSON)

    assert type(failure(MODELS[wire](server.url))) is ContextTooLong


PER_MINUTE = {
    "message": "Request too large for gpt-6-sol in organization org-1 on tokens per min (TPM): Limit 8, Requested 9.",
    "type": "tokens",
    "code": "rate_limit_exceeded",
}
IN_THIS_MINUTE = {
    "message": "Rate limit reached for gpt-6-sol on tokens per min (TPM): Limit 8, Used 7, Requested 2.",
    "type": "tokens",
    "code": "rate_limit_exceeded",
}


@pytest.mark.parametrize("wire", OPENAIS)
@pytest.mark.parametrize("in_stream", [False, True])
@pytest.mark.parametrize(
    ("error", "kind"), [(PER_MINUTE, ContextTooLong), (IN_THIS_MINUTE, ProviderOverloaded)]
)
def test_a_request_that_alone_exceeds_the_limit_of_a_minute_is_not_waited_for(
    wire: str, in_stream: bool, error: dict[str, str], kind: type[ActaError], server: FakeProvider
) -> None:
    if in_stream:
        server.queue(sse({"error": error} if wire == "openai" else {**error, "type": "error"}), headers=SSE)
    else:
        server.queue(json.dumps({"error": error}).encode(), status=429, headers=JSON)

    assert type(failure(MODELS[wire](server.url))) is kind


TOO_LONG_ELSEWHERE: list[tuple[int, object]] = [
    (
        400,
        [
            {
                "error": {
                    "code": 400,
                    "message": "The input token count (9) exceeds the maximum number of tokens allowed (8).",
                    "status": "INVALID_ARGUMENT",
                }
            }
        ],
    ),
    (
        400,
        {
            "error": {
                "type": "invalid_request_error",
                "message": "Invalid request: Your request exceeded model token limit: 8",
            }
        },
    ),
    (400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}),
    (
        400,
        {
            "error": {
                "code": "invalid_parameter_error",
                "message": "<400> InvalidParameter: Range of input length should be [1, 8]",
            }
        },
    ),
    (
        400,
        {
            "error": {
                "type": "bad_request_error",
                "message": "invalid params, context window exceeds limit (8)",
            }
        },
    ),
    (
        400,
        {
            "error": "Trying to keep the first 9 tokens when context the overflows. The model is loaded with only 8."
        },
    ),
    (400, {"message": "too many tokens: total number of tokens in the prompt cannot exceed 8 - received 9."}),
    (500, {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}),
    (
        500,
        {
            "error": {
                "message": 'litellm.X: O - {"error":"prompt too long; exceeded max context length by 4"}'
            }
        },
    ),
    (400, {"error": {"message": "Provider returned error", "metadata": {"raw": "Prompt is too long"}}}),
]
"""As Gemini, Kimi, GLM, DashScope, MiniMax, LM Studio, Cohere, llama.cpp, Ollama (LiteLLM) and OpenRouter say it."""


@pytest.mark.parametrize(("status", "body"), TOO_LONG_ELSEWHERE)
def test_a_prompt_that_exceeds_the_window_is_recognised_by_the_words_of_compatible_servers(
    status: int, body: object, server: FakeProvider
) -> None:
    server.queue(json.dumps(body).encode(), status=status, headers=JSON)

    assert type(failure(MODELS["openai"](server.url))) is ContextTooLong


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (429, {"type": "exceeded_current_quota_error", "message": "Your account is suspended"}),
        (429, {"code": "1113", "message": "Insufficient balance"}),
        (400, {"code": "Arrearage", "type": "Arrearage", "message": "Access denied"}),
        (
            400,
            {"type": "budget_exceeded", "code": "400", "message": "Budget has been exceeded! Max budget: 1"},
        ),
        (412, {"message": "Account a is suspended, possibly due to reaching the monthly spending limit"}),
        (
            400,
            {
                "code": "400",
                "message": 'litellm.BadRequestError: A - {"error": {"message": "Your credit balance"}}',
            },
        ),
    ],
    ids=["Kimi", "GLM", "DashScope", "LiteLLM", "Fireworks", "Anthropic behind LiteLLM"],
)
def test_a_used_up_balance_is_recognised_by_the_codes_of_compatible_servers(
    status: int, error: dict[str, str], server: FakeProvider
) -> None:
    server.queue(json.dumps({"error": error}).encode(), status=status, headers=JSON)

    assert type(failure(MODELS["openai"](server.url))) is ProviderQuotaExceeded


@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai-responses"])
@pytest.mark.parametrize(
    "body",
    [
        {"error": {"message": {"a": 1}, "type": {"a": 1}, "code": ["x"]}},
        {"error": {"message": 5, "type": 400, "code": 400}},
        {"error": "no"},
        ["no"],
        "no",
        None,
    ],
)
@pytest.mark.parametrize(("status", "expected"), [(400, ProviderRejected), (429, ProviderOverloaded)])
def test_the_status_of_an_error_counts_whatever_its_body_looks_like(
    wire: str, body: object, status: int, expected: type[ActaError], server: FakeProvider
) -> None:
    server.queue(json.dumps(body).encode(), status=status, headers=JSON)

    assert type(failure(MODELS[wire](server.url))) is expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [("enforced_spend_limit_reached", ProviderQuotaExceeded), ("ramp_limit_exceeded", ProviderOverloaded)],
)
def test_a_spend_limit_is_no_rate_limit(code: str, expected: type[ActaError], server: FakeProvider) -> None:
    error = {"type": "rate_limit_error", "message": "x", "details": {"error_code": code}}
    server.queue(json.dumps({"type": "error", "error": error}).encode(), status=429, headers=JSON)

    assert type(failure(MODELS["anthropic"](server.url))) is expected


@pytest.mark.parametrize("in_stream", [False, True])
def test_a_call_that_the_server_could_not_read_is_asked_for_again(
    in_stream: bool, server: FakeProvider
) -> None:
    error = {
        "message": "Failed to call a function.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
    }
    if in_stream:
        server.queue(sse({"error": error}), headers=SSE)
    else:
        server.queue(json.dumps({"error": error}).encode(), status=400, headers=JSON)

    assert type(failure(MODELS["openai"](server.url))) is StreamBroken


UNREADABLE = {
    "type": "invalid_request_error",
    "message": "messages.1.content.0: Invalid `signature` in `thinking` block",
}


def test_thinking_that_another_account_has_signed_does_not_end_the_session(server: FakeProvider) -> None:
    model = "claude-sonnet-4-6"
    blocks = [{"type": "thinking", "thinking": "Hm.", "signature": "sig"}, {"type": "text", "chars": 5}]
    entry = assistant("Look.", provider="anthropic", raw={"model": model, "blocks": blocks})
    server.queue(json.dumps({"type": "error", "error": UNREADABLE}).encode(), status=400, headers=JSON)
    server.queue(*answer("anthropic", "On we go.", "end_turn"), headers=SSE)

    asked = request(user("go"), entry, user("and?"), model=model)
    assert MODELS["anthropic"](server.url).complete(asked, timeout=TIMEOUT).text == "On we go."

    sent = [[block["type"] for block in heard.body["messages"][1]["content"]] for heard in server.requests]
    assert sent == [["thinking", "text"], ["text"]]


def test_the_same_refusal_of_a_request_without_thinking_ends_the_run(server: FakeProvider) -> None:
    for _ in range(2):
        server.queue(json.dumps({"type": "error", "error": UNREADABLE}).encode(), status=400, headers=JSON)

    assert isinstance(failure(MODELS["anthropic"](server.url)), ProviderRejected)


@pytest.mark.parametrize("key", ["sk-\nant", "sk-ant\n", "sk-ünt", " "])
@pytest.mark.parametrize("kind", [AnthropicModel, OpenAIModel, OpenAIResponsesModel])
def test_a_key_no_header_can_carry_is_refused_at_once(kind: Any, key: str, server: FakeProvider) -> None:
    error = failure(kind(key, server.url))

    assert type(error) is ProviderKeyRefused
    assert key.strip() not in str(error) or not key.strip()
    assert server.requests == []


def test_a_usage_without_counts_is_estimated_from_the_whole_request(server: FakeProvider) -> None:
    chunks = chat_chunks("x" * 40, "stop")
    chunks[-1]["usage"] = {}
    server.queue(*map(sse, chunks), b"data: [DONE]\n\n", headers={"content-type": "text/event-stream"})

    usage = MODELS["openai"](server.url).complete(request(), timeout=TIMEOUT).usage

    sent = len(json.dumps(server.requests[0].body, ensure_ascii=False).encode())
    assert usage.output == 10
    assert abs(usage.input - sent // 4) < 10


@pytest.mark.parametrize("tools", [True, False])
def test_a_messages_api_that_reports_no_usage_is_estimated(tools: bool, server: FakeProvider) -> None:
    start, *others = messages_events("x" * 40, "end_turn")
    del start["message"]["usage"]
    del others[-2]["usage"]
    server.queue(*map(sse, [start, *others]), headers={"content-type": "text/event-stream"})

    model_request = request() if tools else request(tools=())
    usage = MODELS["anthropic"](server.url).complete(model_request, timeout=TIMEOUT).usage

    sent = len(json.dumps(server.requests[0].body, ensure_ascii=False).encode())
    assert usage.output == 10
    assert abs(usage.input - sent // 4) < 10


class KeepsConnectionOpen(FakeProvider):
    """Sends a complete answer, and does not end it before the test does."""

    def __init__(self) -> None:
        super().__init__()
        self.over = Event()

    def answer(self, request: ReceivedRequest) -> Iterator[CannedAnswer]:
        yield from super().answer(request)
        self.over.wait(TIMEOUT)


ENDS = {"anthropic": "end_turn", "openai": "stop", "openai-responses": "completed"}


@pytest.mark.parametrize("wire", list(ENDS))
def test_a_whole_answer_counts_though_its_connection_then_breaks(wire: str, server: FakeProvider) -> None:
    server.queue(*answer(wire, "All of it.", ENDS[wire]), broken=True, headers=SSE)

    assert MODELS[wire](server.url).complete(request(), timeout=TIMEOUT).text == "All of it."


@pytest.mark.parametrize("wire", list(ENDS))
def test_a_whole_answer_counts_though_its_connection_stays_open(wire: str) -> None:
    with KeepsConnectionOpen() as provider:
        provider.queue(*answer(wire, "All of it.", ENDS[wire]), headers=SSE)
        reply = MODELS[wire](provider.url).complete(request(), timeout=TIMEOUT / 2)
        assert reply.text == "All of it."
        assert not provider.over.is_set()
        provider.over.set()


def test_a_chat_answer_counts_once_it_has_its_end_though_the_connection_breaks(server: FakeProvider) -> None:
    server.queue(*map(sse, chat_chunks("All of it.", "stop")), broken=True, headers=SSE)

    reply = MODELS["openai"](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, reply.stop, reply.usage.output > 0) == ("All of it.", "end", True)


def test_a_chat_answer_counts_once_its_usage_is_there_though_no_end_mark_comes() -> None:
    with KeepsConnectionOpen() as provider:
        usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
        last = {**chat_chunks("", "stop")[0], "choices": [], "usage": usage}
        provider.queue(*map(sse, [*chat_chunks("All of it.", "stop"), last]), headers=SSE)
        reply = MODELS["openai"](provider.url).complete(request(), timeout=TIMEOUT / 2)
        assert (reply.text, reply.usage.output, provider.over.is_set()) == ("All of it.", 3, False)
        provider.over.set()


TOOL = {"type": "tool_use", "id": "t", "name": "read_file", "input": {}}
PIECE = {"type": "input_json_delta", "partial_json": '{"path": "a"}'}
CALL_EVENTS: list[dict[str, Any]] = [
    {"type": "content_block_start", "index": 1, "content_block": TOOL},
    {"type": "content_block_delta", "index": 1, "delta": PIECE},
    {"type": "content_block_stop", "index": 1},
]


@pytest.mark.parametrize("broken", [True, False])
def test_an_answer_without_its_last_event_is_whole_where_nothing_is_missing(
    broken: bool, server: FakeProvider
) -> None:
    events = messages_events("All of it.", "tool_use")[:-1]
    events[-1:-1] = CALL_EVENTS
    server.queue(*map(sse, events), broken=broken, headers=SSE)

    reply = MODELS["anthropic"](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, [call.input for call in reply.calls]) == ("All of it.", [{"path": "a"}])
    assert (reply.stop, reply.usage.output) == ("tools", 7)


@pytest.mark.parametrize("left_out", ["content_block_stop", "message_delta"])
def test_an_answer_without_its_last_event_is_broken_where_more_is_missing(
    left_out: str, server: FakeProvider
) -> None:
    events = messages_events("All of it.", "tool_use")[:-1]
    events[-1:-1] = CALL_EVENTS
    events.remove(next(event for event in reversed(events) if event["type"] == left_out))
    server.queue(*map(sse, events), headers=SSE)

    assert type(failure(MODELS["anthropic"](server.url))) is StreamBroken


def test_a_text_that_never_began_is_a_text(server: FakeProvider) -> None:
    start, _, *others = messages_events("All of it.", "end_turn")
    server.queue(*map(sse, [start, *others]), headers=SSE)

    assert MODELS["anthropic"](server.url).complete(request(), timeout=TIMEOUT).text == "All of it."


@pytest.mark.parametrize(
    ("start", "end", "counted"),
    [
        ({"input_tokens": 90000}, {"input_tokens": 0, "output_tokens": 7}, (90000, 7, 0, 0)),
        (
            {"input_tokens": 1000, "cache_read_input_tokens": 500},
            {"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 0},
            (1500, 10, 500, 0),
        ),
        ({"input_tokens": 1}, {"input_tokens": 1000, "output_tokens": 7}, (1000, 7, 0, 0)),
        (
            {"input_tokens": 1000},
            {"input_tokens": 200, "cache_read_input_tokens": 700, "cache_creation_input_tokens": 100},
            (1000, 10, 700, 100),
        ),
    ],
)
def test_the_messages_api_s_counts_never_fall(
    start: dict[str, int], end: dict[str, int], counted: tuple[int, ...], server: FakeProvider
) -> None:
    events = messages_events("x" * 40, "end_turn")
    events[0]["message"]["usage"] = {"output_tokens": 1, **start}
    events[-2]["usage"] = end
    server.queue(*map(sse, events), headers=SSE)

    assert MODELS["anthropic"](server.url).complete(request(), timeout=TIMEOUT).usage == counted


DONE = b"data: [DONE]\n\n"


@pytest.mark.parametrize("delta", [{"content": "All of it."}, {"refusal": "I cannot."}])
@pytest.mark.parametrize("before", [(), ({"reasoning_content": "Hm."},)])
def test_a_chat_answer_without_a_finish_reason_ends_with_its_end_mark(
    delta: dict[str, Any], before: tuple[dict[str, Any], ...], server: FakeProvider
) -> None:
    server.queue(*(sse(unfinished(each)) for each in (*before, delta)), DONE, headers=SSE)

    reply = MODELS["openai"](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, reply.stop) == next(
        (text, "end" if name == "content" else "refusal") for name, text in delta.items()
    )


def unfinished(delta: dict[str, Any]) -> dict[str, Any]:
    return {
        **chat_chunks("", "stop")[0],
        "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
    }


@pytest.mark.parametrize(
    ("arguments", "end", "is_whole"),
    [
        ('{"path": "a"}', [DONE], True),
        ('{"path": "a"}', [], False),
        ('{"path": "a"', [DONE], False),
        ("", [DONE], False),
        (None, [DONE], False),
    ],
)
def test_calls_without_a_finish_reason_are_whole_if_their_arguments_are_and_the_end_mark_came(
    arguments: str | None, end: list[bytes], is_whole: bool, server: FakeProvider
) -> None:
    functions = ({"name": "read_file", "arguments": each} for each in ('{"path": "b"}', arguments))
    calls = [{"index": n, "id": f"c{n}", "function": each} for n, each in enumerate(functions)]
    chunk = unfinished({"content": "I look.", "tool_calls": calls})
    server.queue(sse(chunk), *end, headers=SSE)
    model = MODELS["openai"](server.url)

    if not is_whole:
        assert type(failure(model)) is StreamBroken
        return
    reply = model.complete(request(), timeout=TIMEOUT)
    assert ([call.input for call in reply.calls], reply.stop) == ([{"path": "b"}, {"path": "a"}], "tools")


@pytest.mark.parametrize("delta", [{}, {"content": "\n"}, {"reasoning_content": "Hm."}])
def test_an_end_mark_makes_no_answer_of_nothing(delta: dict[str, Any], server: FakeProvider) -> None:
    server.queue(sse(unfinished(delta)), DONE, headers=SSE)

    assert type(failure(MODELS["openai"](server.url))) is StreamBroken


BOM = b"\xef\xbb\xbf"
SAID = "Grüße 👋\u2028 an alle"


def with_comments(data: bytes) -> bytes:
    return b": keep-alive\n\n" + data.replace(b"\n\n", b"\n\n: keep-alive\n\n")


FRAMINGS: dict[str, Callable[[bytes], bytes]] = {
    "CRLF": lambda data: data.replace(b"\n", b"\r\n"),
    "CR": lambda data: data.replace(b"\n", b"\r"),
    "a byte order mark": lambda data: BOM + data,
    "blank lines first": lambda data: b"\n\r\n \n" + data,
    "comments": with_comments,
    "no space after the colon": lambda data: data.replace(b"data: ", b"data:").replace(b"event: ", b"event:"),
    "ids and retries": lambda data: b"retry: 5\n" + data.replace(b"data: ", b"id: 1\ndata: "),
    "characters and not escapes": lambda data: data.replace(json.dumps(SAID)[1:-1].encode(), SAID.encode()),
}


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("size", [1, 2, 7, 10_000])
@pytest.mark.parametrize("wire", list(ENDS))
def test_an_answer_is_whole_however_its_events_are_written_and_cut(
    wire: str, framing: str, size: int, server: FakeProvider
) -> None:
    data = FRAMINGS[framing](b"".join(answer(wire, SAID, ENDS[wire])))
    server.queue(*(data[at : at + size] for at in range(0, len(data), size)), headers=SSE)

    reply = MODELS[wire](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, reply.stop) == (SAID, "end")


def whole_message(**message: Any) -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 3, "total_tokens": 8}
    return json.dumps({"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}).encode()


@pytest.mark.parametrize("headers", [JSON, SSE, {}])
@pytest.mark.parametrize("before", [b"", BOM, b"\r\n"])
def test_a_chat_server_that_does_not_stream_is_taken_at_its_message(
    headers: dict[str, str], before: bytes, server: FakeProvider
) -> None:
    functions = [{"name": "read_file", "arguments": each} for each in ({"path": "a"}, '{"path": "b"}')]
    calls = [{"type": "function", "function": function} for function in functions]
    body = before + json.dumps(json.loads(whole_message(content=SAID, tool_calls=calls)), indent=1).encode()
    server.queue(*(body[at : at + 9] for at in range(0, len(body), 9)), headers=headers)

    reply = MODELS["openai"](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, reply.stop) == (SAID, "tools")
    assert [call.input for call in reply.calls] == [{"path": "a"}, {"path": "b"}]
    assert (reply.usage.input, reply.usage.output) == (5, 3)


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>Sign in</html>", b"null", b"[]", b"{}", b'{"a":', b"Bad gateway", b": keep-alive\n\n"],
)
@pytest.mark.parametrize("wire", list(ENDS))
def test_what_is_no_answer_is_a_broken_stream(wire: str, body: bytes, server: FakeProvider) -> None:
    server.queue(*[body] if body else [], headers=SSE)

    assert type(failure(MODELS[wire](server.url))) is StreamBroken


@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai-responses"])
@pytest.mark.parametrize("pretty", [None, 2])
def test_an_error_that_comes_with_200_is_that_error(
    wire: str, pretty: int | None, server: FakeProvider
) -> None:
    error = {"type": "authentication_error", "message": "no"}
    server.queue(json.dumps({"type": "error", "error": error}, indent=pretty).encode(), headers=JSON)

    assert type(failure(MODELS[wire](server.url))) is ProviderKeyRefused


class OnlyComments(FakeProvider):
    def answer(self, request: ReceivedRequest) -> Iterator[CannedAnswer]:
        while True:
            yield CannedAnswer(200, SSE, (b": keep-alive\n\n",))


@pytest.mark.parametrize("wire", list(ENDS))
def test_a_server_that_only_keeps_the_connection_alive_gives_no_answer_in_time(wire: str) -> None:
    with OnlyComments() as provider, pytest.raises((ProviderTimeout, StreamBroken)):
        MODELS[wire](provider.url).complete(request(), timeout=0.5)


def test_blocks_of_one_index_are_blocks_of_their_own(server: FakeProvider) -> None:
    events = messages_events("One. ", "tool_use")
    tool = {"type": "tool_use", "id": "t", "name": "read_file", "input": {}}
    for number in (1, 2):
        piece = {"type": "input_json_delta", "partial_json": json.dumps({"path": str(number)})}
        events[-2:-2] = [
            {"type": "content_block_start", "index": 0, "content_block": tool},
            {"type": "content_block_delta", "index": 0, "delta": piece},
            {"type": "content_block_stop", "index": 0},
        ]
    server.queue(*map(sse, events), headers=SSE)

    reply = MODELS["anthropic"](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, [call.input for call in reply.calls]) == ("One. ", [{"path": "1"}, {"path": "2"}])


@pytest.mark.parametrize(
    ("told", "read"),
    [({"path": "a"}, {"path": "a"}), ('{"path": "a"}', {"path": "a"}), ([1], None), (None, {})],
)
def test_an_input_that_is_sent_whole_is_taken_or_told(
    told: object, read: object, server: FakeProvider
) -> None:
    events = messages_events("", "tool_use")
    tool = {"type": "tool_use", "id": "t", "name": "read_file", "input": told}
    events[-2:-2] = [
        {"type": "content_block_start", "index": 1, "content_block": tool},
        {"type": "content_block_stop", "index": 1},
    ]
    server.queue(*map(sse, events), headers=SSE)

    (call,) = MODELS["anthropic"](server.url).complete(request(), timeout=TIMEOUT).calls

    assert call.input == read


BIG = {"count": 10**25, "share": 0.1}
WHOLE: dict[str, dict[str, Any]] = {
    "anthropic": {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "text", "text": 'I write {"type":"error"}.\n'},
            {"type": "tool_use", "id": "t", "name": "read_file", "input": BIG},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 90, "output_tokens": 7},
    },
    "openai-responses": response_events(
        [message('I write {"type":"error"}.\n'), function_call(1, json.dumps(BIG))],
        status="completed",
    )[-1]["response"],
}
"""By wire: the answer of a server that does not stream."""


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wire", list(WHOLE))
def test_a_server_that_does_not_stream_is_taken_at_its_one_answer(
    wire: str, indent: int | None, server: FakeProvider
) -> None:
    server.queue(json.dumps(WHOLE[wire], indent=indent).encode(), headers=JSON)

    reply = MODELS[wire](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, reply.stop) == ('I write {"type":"error"}.\n', "tools")
    assert [call.input for call in reply.calls] == [BIG]
    assert (reply.usage.input, reply.usage.output) == (90, 7)


@pytest.mark.parametrize("streamed", [0, 1, 2, 3])
def test_what_a_response_says_only_at_its_end_is_taken(streamed: int, server: FakeProvider) -> None:
    """The reply has been paid for. `streamed`: how many events of its two items came before."""
    items = [message("Here."), function_call(1, json.dumps(BIG))]
    *events, last = response_events(items, status="completed")
    begun = [event for event in events if event["type"].startswith("response.output_item")][:streamed]
    server.queue(*map(sse, [*begun, last]), headers=SSE)

    reply = MODELS["openai-responses"](server.url).complete(request(), timeout=TIMEOUT)

    assert (reply.text, [call.input for call in reply.calls]) == ("Here.", [BIG])


def test_a_response_may_have_null_in_place_of_a_text(server: FakeProvider) -> None:
    summary = [{"type": "summary_text", "text": None}]
    reasoning = {"type": "reasoning", "id": "rs", "summary": summary, "encrypted_content": "e"}
    empty = {**message(""), "content": None}
    events = response_events([reasoning, empty, message("Here.")], status="completed")
    places = [place for place, event in enumerate(events) if event["type"].endswith("item.added")]
    delta = {"type": "response.output_text.delta", "output_index": 2, "content_index": 0, "item_id": "m"}
    events.insert(places[-1] + 1, {**delta, "delta": None})
    server.queue(*map(sse, events), headers=SSE)

    assert MODELS["openai-responses"](server.url).complete(request(), timeout=TIMEOUT).text == "Here."

"""What goes wrong with a provider, on every wire."""

import json
import socket
from typing import Any

import pytest
from llmock.scenarios import Fail, Reply, StreamFault, ToolCall, ToolFault

from acta.engine.errors import (
    ActaError,
    ContextTooLong,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderQuotaExceeded,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from acta.engine.models.model import Model
from tests.models.wires.conftest import MODELS
from tests.models.wires.conversations import KEY, SECRET_TEXT, TIMEOUT, request
from tests.models.wires.fake_provider import FakeProvider, ReceivedRequest
from tests.models.wires.stream_formats import answer

pytestmark = pytest.mark.contract

ENDS = {"anthropic": "end_turn", "openai": "stop", "openai-responses": "completed", "bedrock": "end_turn"}


def failure(model: Model, expected: type[ActaError], *, timeout: float = TIMEOUT) -> ActaError:
    with pytest.raises(expected) as caught:
        model.complete(request(), timeout=timeout)
    assert type(caught.value) is expected
    return caught.value


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (400, ProviderRejected),
        (401, ProviderKeyRefused),
        (402, ProviderQuotaExceeded),
        (403, ProviderKeyRefused),
        (404, ProviderRejected),
        (413, ContextTooLong),
        (422, ProviderRejected),
        (429, ProviderOverloaded),
        (500, ProviderUnavailable),
        (502, ProviderUnavailable),
        (503, ProviderOverloaded),
        (504, ProviderUnavailable),
        (529, ProviderOverloaded),
    ],
)
def test_a_status_becomes_the_error_for_whoever_has_to_react(
    model: Model, llmock: Any, status: int, expected: type[ActaError]
) -> None:
    llmock.add(Fail(status))

    failure(model, expected)

    assert len(llmock.requests) == 1, "retries are the engine's"


def test_the_wait_a_rate_limit_asks_for_is_kept(model: Model, llmock: Any) -> None:
    llmock.rate_limit(retry_after=7.0)

    error = failure(model, ProviderOverloaded)

    assert isinstance(error, ProviderOverloaded)
    assert error.retry_after == 7.0


@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai-responses"], indirect=True)
def test_a_used_up_quota_is_not_waited_for(provider: str, model: Model, llmock: Any) -> None:
    code = {"openai": "insufficient_quota", "anthropic": "billing_error"}[provider]
    llmock.add(Fail(429, code=code))

    failure(model, ProviderQuotaExceeded)


def test_an_error_quotes_neither_key_nor_prompt_nor_body(model: Model, llmock: Any) -> None:
    llmock.add(Fail(400, message=f"cannot accept {SECRET_TEXT}", code=f"odd {SECRET_TEXT}"))

    error = failure(model, ProviderRejected)

    assert SECRET_TEXT not in str(error)
    assert KEY not in str(error)
    assert "400" in str(error)
    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize("after", [0, 1, 3, 5])
@pytest.mark.parametrize("kind", ["disconnect", "truncate", "malformed"])
def test_a_broken_answer_is_never_taken_for_a_complete_one(
    model: Model, llmock: Any, kind: Any, after: int
) -> None:
    llmock.add(
        Reply(
            text="one two three four five six",
            tool_calls=(ToolCall("read_file", {"path": "a/long/path.md"}),),
        ),
        StreamFault(kind, after_chunks=after),
    )

    error = failure(model, StreamBroken)

    assert error.__cause__ is None
    assert error.__context__ is None


@pytest.mark.parametrize("after", range(2, 12))
def test_a_call_cut_anywhere_is_never_returned(model: Model, llmock: Any, after: int) -> None:
    llmock.add(
        Reply(tool_calls=(ToolCall("read_file", {"path": "a/rather/long/path/to/a/file.md"}),)),
        StreamFault("truncate", after_chunks=after),
    )
    try:
        reply = model.complete(request(), timeout=TIMEOUT)
    except StreamBroken:
        return
    assert reply.calls[0].input == {"path": "a/rather/long/path/to/a/file.md"}


def test_arguments_that_are_not_json_come_back_as_malformed(model: Model, llmock: Any) -> None:
    llmock.add(Reply(tool_calls=(ToolCall("read_file", {"path": "x"}),)), ToolFault("malformed_arguments"))

    reply = model.complete(request(), timeout=TIMEOUT)

    assert reply.calls[0].input is None
    assert "not valid JSON" in (reply.calls[0].malformed or "")


def test_a_call_of_an_unknown_tool_is_returned(model: Model, llmock: Any) -> None:
    llmock.add(Reply(tool_calls=(ToolCall("read_file", {}),)), ToolFault("unknown_tool"))

    assert model.complete(request(), timeout=TIMEOUT).calls[0].name == "llmock_unknown_tool"


def test_an_answer_that_was_cut_at_the_limit_stops_with_max_tokens(model: Model, llmock: Any) -> None:
    llmock.add(Reply(text="The beginning of", finish_reason="length"))

    reply = model.complete(request(), timeout=TIMEOUT)

    assert (reply.text, reply.stop) == ("The beginning of", "max_tokens")


def test_a_call_cut_at_the_limit_is_malformed(model: Model, llmock: Any) -> None:
    llmock.add(
        Reply(
            tool_calls=(ToolCall("read_file", {"path": "a"}), ToolCall("read_file", {"path": "b"})),
            finish_reason="length",
        ),
        ToolFault("malformed_arguments"),
    )

    reply = model.complete(request(), timeout=TIMEOUT)

    assert reply.stop == "max_tokens"
    assert reply.calls[0].input is None
    assert reply.calls[1].input == {"path": "b"}


def test_a_last_call_that_is_whole_at_the_limit_is_a_call(model: Model, llmock: Any) -> None:
    llmock.add(Reply(tool_calls=(ToolCall("read_file", {"path": "a"}),), finish_reason="length"))

    reply = model.complete(request(), timeout=TIMEOUT)

    assert (reply.calls[0].input, reply.calls[0].malformed, reply.stop) == ({"path": "a"}, None, "max_tokens")


@pytest.mark.parametrize("wire", ["anthropic", "openai", "bedrock"], indirect=True)
def test_a_refusal_has_its_own_stop_reason(model: Model, llmock: Any) -> None:
    llmock.add(Reply(text="I cannot.", finish_reason="content_filter"))

    assert model.complete(request(), timeout=TIMEOUT).stop == "refusal"


def test_a_provider_that_does_not_answer_in_time_is_given_up(model: Model, llmock: Any) -> None:
    llmock.delay(3.0)

    failure(model, ProviderTimeout, timeout=0.4)


def test_an_answer_that_stalls_is_given_up(model: Model, llmock: Any) -> None:
    llmock.reply("one two three four").stall(after_chunks=3, seconds=3.0)

    failure(model, ProviderTimeout, timeout=0.4)


def test_an_answer_that_comes_too_slowly_is_given_up(model: Model, llmock: Any) -> None:
    llmock.reply("word " * 60).pace(50)

    failure(model, ProviderTimeout, timeout=0.6)


def test_a_closed_port_is_an_unavailable_provider(wire: str) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        model = MODELS[wire](f"http://127.0.0.1:{taken.getsockname()[1]}")

        failure(model, ProviderUnavailable)


def asked_of(wire: str, server: FakeProvider) -> ReceivedRequest:
    """The one request of a call that is answered."""
    stream = "application/vnd.amazon.eventstream" if wire == "bedrock" else "text/event-stream"
    server.queue(*answer(wire, "ok", ENDS[wire]), headers={"content-type": stream})
    assert MODELS[wire](server.url).complete(request(), timeout=TIMEOUT).text == "ok"
    (asked,) = server.requests
    return asked


def test_the_key_is_sent_in_one_header_and_nowhere_else(wire: str, server: FakeProvider) -> None:
    asked = asked_of(wire, server)
    sent = "AWS4-HMAC-SHA256 Credential=" if wire == "bedrock" else "Bearer "  # Bedrock sends the key's id
    assert asked.headers["authorization"].startswith(sent + KEY)
    apart = ("authorization", "x-amz-security-token")
    others = {name: value for name, value in asked.headers.items() if name not in apart}
    assert KEY not in json.dumps([asked.path, others, asked.body])


def test_the_request_is_streamed_and_the_sdk_does_not_retry(wire: str, server: FakeProvider) -> None:
    asked = asked_of(wire, server)
    assert asked.body.get("stream", asked.path.endswith("/invoke-with-response-stream")) is True
    assert SECRET_TEXT in json.dumps(asked.body)
    assert asked.headers.get("x-stainless-retry-count", "0") == "0"

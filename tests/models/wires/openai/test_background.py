"""Background calls, with OpenAI's own SDK, against a server that makes answers by itself and keeps them."""

from typing import Any

import pytest

from acta.engine.errors import (
    AwsDenied,
    ContextTooLong,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderRejected,
    ProviderUnavailable,
    StreamBroken,
)
from acta.engine.log.conversation import AssistantEntry, Content, ToolCall
from acta.engine.models.choose import RotatingModel, UnusableModel
from acta.engine.models.model import BackgroundCalls, BackgroundResponse, ModelReply, in_background
from acta.engine.models.openai.chat import OpenAIModel
from acta.engine.models.openai.responses import OpenAIResponsesModel, to_items
from tests.doubles.background_responses import JSON, USAGE, BackgroundResponses, message
from tests.doubles.http_sink import Heard, Reply
from tests.models.wires.conversations import KEY, SECRET_TEXT, TIMEOUT, request

pytestmark = pytest.mark.contract

MODEL = "gpt-6-sol"


def calls(server: BackgroundResponses) -> BackgroundCalls:
    found = in_background(OpenAIResponsesModel(KEY, server.url("")))
    assert found is not None
    return found


def started(server: BackgroundResponses) -> tuple[BackgroundCalls, BackgroundResponse]:
    of = calls(server)
    response_id = of.start(request(model=MODEL), timeout=TIMEOUT)
    assert isinstance(response_id, str)
    return of, BackgroundResponse(response_id, MODEL, 1_000)


def test_a_response_is_begun_and_fetched_by_its_id() -> None:
    with BackgroundResponses() as server:
        of, response = started(server)
        assert of.result(response, timeout=TIMEOUT) is None
        reply = of.result(response, timeout=TIMEOUT)
        assert isinstance(reply, ModelReply)
        assert (reply.text, reply.stop) == ("Done.", "end")
        assert (reply.usage.input, reply.usage.cached_input, reply.usage.output) == (120, 100, 30)
        begun, *looks = server.heard
        assert (begun.body["background"], begun.body["store"], begun.body["stream"]) == (True, True, False)
        assert SECRET_TEXT in str(begun.body)
        assert {(heard.method, heard.path.partition("?")[0]) for heard in looks} == {
            ("GET", "/responses/resp_1")
        }
        assert all("include" not in heard.path for heard in looks)


def test_the_conversation_goes_on_without_the_reasoning_of_a_kept_response() -> None:
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
    said = {**message("I look."), "phase": "commentary"}
    asked = {
        "type": "function_call", "id": "fc_1", "call_id": "c_1", "name": "read_file", "status": "completed",
        "arguments": '{"path": "a.txt"}',
    }  # fmt: skip
    with BackgroundResponses("queued", "completed", output=[reasoning, said, asked], usage=USAGE) as server:
        of, response = started(server)
        reply = of.result(response, timeout=TIMEOUT)
        assert isinstance(reply, ModelReply)
        assert (reply.stop, reply.calls[0].name, reply.calls[0].input) == (
            "tools",
            "read_file",
            {"path": "a.txt"},
        )
        call = ToolCall(call_id="c-1", effect_id="e-1", name="read_file", input={"path": "a.txt"})
        entry = AssistantEntry(
            message_id="m-1", content=Content.of(reply.text), calls=(call,), provider="openai", raw=reply.raw
        )
        assert to_items(request(entry, model=MODEL), in_blocks=False)[:2] == [
            {"type": "message", "role": "assistant", "content": "I look.", "phase": "commentary"},
            {
                "type": "function_call", "call_id": "000000000", "name": "read_file",
                "arguments": '{"path":"a.txt"}',
            },
        ]  # fmt: skip


def test_a_reply_that_is_there_at_once_is_the_reply() -> None:
    with BackgroundResponses("completed") as server:
        reply = calls(server).start(request(model=MODEL), timeout=TIMEOUT)
        assert isinstance(reply, ModelReply)
        assert (reply.text, reply.response_id) == ("Done.", "resp_1")


def test_what_was_cut_off_at_its_limit_is_a_reply() -> None:
    ends: dict[str, Any] = {
        "output": [{**message("Half"), "status": "incomplete"}],
        "usage": USAGE,
        "incomplete_details": {"reason": "max_output_tokens"},
    }
    with BackgroundResponses("queued", "incomplete", **ends) as server:
        of, response = started(server)
        reply = of.result(response, timeout=TIMEOUT)
        assert isinstance(reply, ModelReply)
        assert (reply.text, reply.stop) == ("Half", "max_tokens")


def test_an_answer_that_ended_for_an_unknown_reason_is_withheld_and_not_asked_for_again() -> None:
    ends: dict[str, Any] = {"output": [message("Half")], "incomplete_details": {"reason": "weather"}}
    with BackgroundResponses("queued", "incomplete", usage=USAGE, **ends) as server:
        of, response = started(server)
        with pytest.raises(StreamBroken):
            of.result(response, timeout=TIMEOUT)


NO_WORDS = [{"type": "summary_text", "text": None}]


@pytest.mark.parametrize(
    "item", [{**message(""), "content": None}, {"type": "reasoning", "id": "rs_1", "summary": NO_WORDS}]
)
def test_a_null_in_a_finished_response_does_not_withhold_it(item: dict[str, Any]) -> None:
    with BackgroundResponses("queued", "completed", output=[item, message("Here.")], usage=USAGE) as server:
        of, response = started(server)
        reply = of.result(response, timeout=TIMEOUT)
        assert isinstance(reply, ModelReply)
        assert reply.text == "Here."


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("server_error", ProviderUnavailable),
        ("rate_limit_exceeded", ProviderOverloaded),
        ("invalid_prompt", ProviderRejected),
        ("context_length_exceeded", ContextTooLong),
        ("something_new", StreamBroken),
    ],
)
def test_a_response_that_failed_is_the_error_that_a_stream_would_have_been(
    code: str, error: type[Exception]
) -> None:
    with BackgroundResponses("queued", "failed", error={"code": code, "message": "It failed."}) as server:
        of, response = started(server)
        assert type(of.result(response, timeout=TIMEOUT)) is error


def test_a_response_that_is_not_found_is_not_said_to_have_ended() -> None:
    with BackgroundResponses() as server:
        of, response = started(server)
        server.expire()
        for ask in (of.result, of.cancel):
            with pytest.raises(ProviderRejected):
                ask(response, timeout=TIMEOUT)
        of.forget(response, timeout=TIMEOUT)


HTML = Reply(200, b"<html>Sign in</html>", {"content-type": "text/html"})
ODD_ANSWERS = {
    "HTML": HTML,
    "nothing": Reply(200, b"", JSON),
    "half of it": Reply(200, b'{"id": "resp_1", "status": "comp', JSON),
    "an error": Reply(200, b'{"error": {"message": "no"}}', JSON),
    "a list": Reply(200, b"[]", JSON),
    "null": Reply(200, b"null", JSON),
    "no status": Reply(200, b'{"id": "resp_1", "output": []}', JSON),
    "a new status": Reply(200, b'{"id": "resp_1", "status": "archived", "output": []}', JSON),
    "no output": Reply(200, b'{"id": "resp_1", "status": "completed", "output": 5}', JSON),
    "odd output": Reply(200, b'{"id": "resp_1", "status": "completed", "output": [5]}', JSON),
}


class Odd(BackgroundResponses):
    """Answers one kind of request oddly."""

    answer = Reply()
    method = "GET"

    def reply_to(self, heard: Heard) -> Reply:
        reply = super().reply_to(heard)
        return self.answer if heard.method == self.method else reply


@pytest.mark.parametrize("kind", ODD_ANSWERS)
def test_an_answer_to_a_look_that_cannot_be_read_says_nothing_of_the_response(kind: str) -> None:
    with Odd("queued", "completed") as server:
        server.answer = ODD_ANSWERS[kind]
        of, response = started(server)
        with pytest.raises(StreamBroken):
            of.result(response, timeout=TIMEOUT)
        server.method = "none"
        assert isinstance(of.result(response, timeout=TIMEOUT), ModelReply)


@pytest.mark.parametrize("kind", [*ODD_ANSWERS, "no id"])
def test_a_response_that_may_have_been_begun_may_have_to_be_paid_for(kind: str) -> None:
    with Odd("queued") as server:
        server.method = "POST"
        server.answer = ODD_ANSWERS.get(kind, Reply(200, b'{"status": "queued", "id": null}', JSON))
        with pytest.raises(StreamBroken):
            calls(server).start(request(model=MODEL), timeout=TIMEOUT)


def test_a_cancel_ends_it_and_may_be_repeated() -> None:
    with BackgroundResponses() as server:
        of, response = started(server)
        for _ in range(2):
            assert isinstance(of.cancel(response, timeout=TIMEOUT), StreamBroken)
        assert isinstance(of.result(response, timeout=TIMEOUT), StreamBroken)


def test_a_cancel_that_comes_too_late_has_the_reply() -> None:
    with BackgroundResponses("queued", "completed") as server:
        of, response = started(server)
        late = of.cancel(response, timeout=TIMEOUT)
        assert isinstance(late, ModelReply)
        assert late.text == "Done."


def test_what_was_fetched_is_deleted_there() -> None:
    with BackgroundResponses("queued", "completed") as server:
        of, response = started(server)
        of.forget(response, timeout=TIMEOUT)
        assert server.deleted == ["resp_1"]
        assert not server.kept


class Away(BackgroundResponses):
    status = 503

    def reply_to(self, heard: Heard) -> Reply:
        return Reply(self.status, b"{}") if heard.method == "GET" else super().reply_to(heard)


def test_a_server_that_cannot_be_asked_says_nothing_of_the_response() -> None:
    with Away() as server:
        of, response = started(server)
        with pytest.raises(ProviderOverloaded):
            of.result(response, timeout=TIMEOUT)
        server.status = 401
        with pytest.raises(ProviderKeyRefused):
            of.result(response, timeout=TIMEOUT)


class NewKey(BackgroundResponses):
    def reply_to(self, heard: Heard) -> Reply:
        return (
            super().reply_to(heard)
            if heard.headers["authorization"] == f"Bearer {KEY}"
            else Reply(401, b"{}")
        )


def test_a_rotated_key_is_read_again_in_the_background_too() -> None:
    with NewKey("queued", "completed") as server:
        url = server.url("")
        model = RotatingModel(OpenAIResponsesModel("sk-old", url), lambda: OpenAIResponsesModel(KEY, url))
        of = in_background(model)
        assert of is not None
        assert of.start(request(model=MODEL), timeout=TIMEOUT) == "resp_1"
        reply = of.result(BackgroundResponse("resp_1", MODEL, 1_000), timeout=TIMEOUT)
        assert isinstance(reply, ModelReply)


def test_a_request_that_the_filter_refuses_is_a_refusal() -> None:
    with Odd("queued") as server:
        server.method = "POST"
        server.answer = Reply(400, b'{"error": {"code": "content_filter", "message": "no"}}', JSON)
        reply = calls(server).start(request(model=MODEL), timeout=TIMEOUT)
        assert isinstance(reply, ModelReply)
        assert (reply.stop, reply.category) == ("refusal", "content_filter")


def test_a_model_that_nobody_may_ask_says_nothing_of_a_response() -> None:
    of = in_background(UnusableModel("openai", AwsDenied, "openai: the secret may not be read"))
    assert of is not None
    with pytest.raises(AwsDenied):
        of.result(BackgroundResponse("resp_1", MODEL, 1_000), timeout=TIMEOUT)


def test_chat_completions_have_no_background() -> None:
    assert in_background(OpenAIModel(KEY)) is None
    assert in_background(RotatingModel(OpenAIModel(KEY), lambda: OpenAIModel(KEY))) is None

"""Our OpenAI adapter, by the official SDK, against llama.cpp's server with a real model.

What it says is nonsense and is never looked at: what is shown is that a server nobody of us wrote takes what we
send, in every shape a session sends it in, and that we take what it answers.
"""

import contextlib
from pathlib import Path

import pytest

from acta.engine.errors import (
    ActaError,
    ProviderKeyRefused,
    ProviderOverloaded,
    ProviderRejected,
    ProviderUnavailable,
    TransientError,
)
from acta.engine.models.model import ModelReply, OfferedTool
from acta.engine.models.openai.chat import OpenAIModel
from acta.engine.turn.final_answer import schema_text
from acta.engine.turn.schema_check import check_answer
from tests.models.wires.conversations import READ_FILE, assistant, call, request, result, user
from tests.real_model.server import KEY, ModelServer

TIMEOUT = 120.0


def test_a_text_is_streamed_to_its_end_and_counted(model: OpenAIModel) -> None:
    reply = model.complete(request(user("Say hello."), tools=(), suffix="", max_tokens=200), timeout=TIMEOUT)

    assert reply.text.strip()
    assert reply.calls == ()
    assert reply.stop in ("end", "max_tokens")
    assert reply.usage.input > 0
    assert 0 < reply.usage.output <= 200


def test_an_answer_that_reaches_the_limit_says_so(model: OpenAIModel) -> None:
    asked = request(user("Count from one to one hundred."), tools=(), max_tokens=5)

    reply = model.complete(asked, timeout=TIMEOUT)

    assert (reply.stop, reply.usage.output) == ("max_tokens", 5)


def test_a_tool_that_has_to_be_called_is_called_with_an_input_that_fits_its_schema(
    caller: OpenAIModel,
) -> None:
    asked = request(user("Read it."), tools=(READ_FILE,), max_tokens=400)

    reply = caller.complete(asked, timeout=TIMEOUT)

    assert reply.stop == "tools"
    assert {called.name for called in reply.calls} == {"read_file"}
    for called in reply.calls:
        assert called.malformed is None
        assert called.input is not None
        assert isinstance(called.input["path"], str)


def test_a_result_goes_back_in_the_next_request_which_begins_as_the_last_one_did(caller: OpenAIModel) -> None:
    """The server's own cache finds the common beginning: our prefix is stable to the byte."""
    question = user("Read notes.md and tell me what to buy. " + "Take your time. " * 40)
    first = caller.complete(request(question, tools=(READ_FILE,), max_tokens=400), timeout=TIMEOUT)
    called = call("call_1", **(first.calls[0].input or {}))
    entries = (question, assistant("", called), result("call_1", "Buy milk, bread and salt. " * 20))

    second = caller.complete(request(*entries, tools=(READ_FILE,), max_tokens=400), timeout=TIMEOUT)

    assert second.stop == "tools"
    assert second.usage.input > first.usage.input + 100
    assert second.usage.cached_input > first.usage.input * 0.8


def test_several_calls_failures_and_people_speaking_up_make_a_conversation_it_takes(
    model: OpenAIModel,
) -> None:
    entries = (
        user("Read both."),
        assistant("I read both.", call("call_1", path="a.md"), call("call_2", path="b.md")),
        result("call_1", "text of a"),
        result("call_2", "Error: there is no such file", ok=False),
        user("And be quick.", 2),
        assistant("I am."),
    )

    reply = model.complete(request(*entries, tools=(), max_tokens=20), timeout=TIMEOUT)

    assert reply.usage.output > 0


@pytest.mark.parametrize("tools", [(), (READ_FILE,)], ids=["without tools", "beside tools"])
def test_an_answer_is_held_to_the_run_s_schema(model: OpenAIModel, tools: tuple[OfferedTool, ...]) -> None:
    field = {"enum": ["open", "paid"]}
    schema = schema_text({"type": "object", "properties": {"a": field, "b": field}, "required": ["a"]})
    asked = request(user("Say hello."), tools=tools, max_tokens=200)._replace(answer_schema=schema)

    reply = model.complete(asked, timeout=TIMEOUT)

    assert (reply.stop, reply.calls, check_answer(schema, reply.text).problem) == ("end", (), "")


def test_a_call_cut_off_in_its_arguments_is_not_one_that_could_run(caller: OpenAIModel) -> None:
    asked = request(user("Read it."), tools=(READ_FILE,), max_tokens=18)

    reply = caller.complete(asked, timeout=TIMEOUT)

    assert reply.stop == "max_tokens"
    assert [called.input for called in reply.calls] == [None]
    assert reply.calls[0].malformed


def test_free_to_call_or_not_it_never_comes_to_a_call_nobody_offered(model: OpenAIModel) -> None:
    """Most often the server cannot make sense of its own model and breaks the stream off: the engine's to retry."""
    named: set[str] = set()
    with contextlib.suppress(TransientError):
        reply = model.complete(request(user("Read it."), tools=(READ_FILE,), max_tokens=60), timeout=TIMEOUT)
        named = {called.name for called in reply.calls}

    assert named <= {"read_file"}


def test_a_request_over_the_context_is_refused_for_good(model: OpenAIModel) -> None:
    with pytest.raises(ProviderRejected):
        model.complete(request(user("word " * 20_000), tools=(), max_tokens=5), timeout=TIMEOUT)


def test_a_wrong_key_is_refused_and_not_named(server: ModelServer) -> None:
    with pytest.raises(ProviderKeyRefused) as refused:
        OpenAIModel("sk-wrong-key", server.base_url).complete(request(), timeout=TIMEOUT)
    assert "sk-wrong" not in str(refused.value)


def test_a_server_that_is_still_loading_is_overloaded_and_one_that_is_gone_unavailable(
    environment: None, tmp_path: Path
) -> None:
    def asked(model: OpenAIModel) -> type:
        try:
            return type(model.complete(request(tools=(), max_tokens=1), timeout=TIMEOUT))
        except ActaError as error:
            return type(error)

    with ModelServer(tmp_path / "log") as loading:
        model = OpenAIModel(KEY, loading.base_url)
        seen: list[type] = [ProviderUnavailable]
        while seen[-1] is not ModelReply and loading.runs:
            seen.append(asked(model))
        assert list(dict.fromkeys(seen)) == [ProviderUnavailable, ProviderOverloaded, ModelReply]
    assert asked(model) is ProviderUnavailable

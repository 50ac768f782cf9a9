"""Fallbacks, the text as it comes, and the number of requests."""

import json
from typing import Any

import pytest
from llmock.scenarios import Fail, Match, Reply, SlowFirstToken, StreamFault, ToolCall

from acta.engine.errors import ContextTooLong, ProviderOverloaded, ProviderTimeout, ProviderUnavailable
from acta.engine.models.fallback import with_fallbacks
from acta.engine.models.model import Model, StreamOptions
from acta.engine.models.react import ReActModel
from tests.models.wires.conftest import MODELS
from tests.models.wires.conversations import request

pytestmark = pytest.mark.contract

FIRST, SECOND = Match(model="first"), Match(model="second")
OTHER = {"anthropic": "openai", "bedrock": "openai", "openai": "anthropic"}
LONG = 120.0
"""Seconds. The first answer includes the import of an SDK on a busy machine."""


@pytest.fixture(params=["anthropic", "openai-responses"])
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def chained(provider: str, model: Model, llmock: Any) -> Model:
    """This provider's model `first`, then the other provider's `second`."""
    other = OTHER[provider]
    return with_fallbacks((model, "first"), [(MODELS[other](llmock.base_url(other)), "second")])[0]


def models_asked(llmock: Any) -> list[str]:
    return [record.body["model"] for record in llmock.requests]


@pytest.mark.parametrize("status", [500, 529])
def test_the_next_provider_answers_where_the_first_is_overloaded_or_fails(
    provider: str, chained: Model, llmock: Any, status: int
) -> None:
    llmock.add(Fail(status, match=FIRST), Reply(text="Here.", match=SECOND))
    reply = chained.complete(request(), timeout=LONG)
    assert (reply.text, reply.provider, reply.model) == ("Here.", OTHER[provider], "second")
    assert models_asked(llmock) == ["first", "second"]


@pytest.mark.parametrize("wire", ["anthropic"], indirect=True)
def test_the_next_model_is_asked_where_one_does_not_begin_in_its_share_of_the_time(
    chained: Model, llmock: Any
) -> None:
    for one in (FIRST, SECOND):  # so that both SDKs are imported before the time counts
        llmock.add(Fail(500, match=one))
    with pytest.raises(ProviderUnavailable):
        chained.complete(request(), timeout=LONG)
    llmock.reset()
    llmock.add(SlowFirstToken(30.0, match=FIRST), Reply(text="Here.", match=SECOND))
    reply = chained.complete(request(), timeout=6.0)
    assert (reply.model, [one.code for one in reply.failed_models]) == ("second", ["PROVIDER_TIMEOUT"])


def test_a_model_that_stalls_in_its_answer_is_known_to_have_begun(model: Model, llmock: Any) -> None:
    llmock.reply("Warm.")
    model.complete(request(), timeout=LONG)
    llmock.add(Reply(text="one two three four"), StreamFault("stall", after_chunks=5, stall_seconds=20.0))
    with pytest.raises(ProviderTimeout) as caught:
        model.complete(request(), timeout=2.5)
    assert caught.value.began


def test_the_engine_waits_for_the_shortest_time_that_a_model_named(chained: Model, llmock: Any) -> None:
    llmock.add(Fail(429, retry_after=30.0, match=FIRST), Fail(529, retry_after=5.0, match=SECOND))
    with pytest.raises(ProviderOverloaded) as caught:
        chained.complete(request(), timeout=LONG)
    assert caught.value.retry_after == 5.0


@pytest.mark.parametrize("status", [500, 529])
def test_a_provider_that_never_recovers_gets_one_request_for_each_attempt_of_the_engine(
    model: Model, chained: Model, llmock: Any, status: int
) -> None:
    """So attempts x models limits the requests, and attempts x the turn's deadline the time. The SDKs add none."""
    llmock.add(Fail(status, times=None))
    for count, one in ((1, model), (2, chained)):
        for _ in range(2):
            before = len(llmock.requests)
            with pytest.raises((ProviderOverloaded, ProviderUnavailable)):
                one.complete(request(), timeout=LONG)
            assert len(llmock.requests) - before == count


def test_the_text_is_passed_on_piece_by_piece_as_it_comes(model: Model, llmock: Any) -> None:
    llmock.add(Reply(text="One two, three.", tool_calls=(ToolCall("read_file", {"path": "a"}),)))
    texts: list[str] = []
    reply = model.complete(
        request()._replace(stream_options=StreamOptions(on_text=texts.append)), timeout=LONG
    )
    assert "".join(texts) == reply.text == "One two, three."
    assert len(texts) > 1


def test_the_json_of_a_model_without_tools_is_not_passed_on_as_text(model: Model, llmock: Any) -> None:
    llmock.reply(json.dumps({"thought": "Hm.", "final_answer": "Yes."}))
    texts: list[str] = []
    streamed = request()._replace(stream_options=StreamOptions(on_text=texts.append))
    assert ReActModel(model).complete(streamed, timeout=LONG).text.endswith("Yes.")
    assert texts == []


def test_a_prompt_that_exceeds_the_window_has_its_own_error(model: Model, llmock: Any) -> None:
    llmock.context_overflow()
    with pytest.raises(ContextTooLong):
        model.complete(request(), timeout=LONG)

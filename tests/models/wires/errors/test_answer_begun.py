"""An answer has begun with the first part of the model's own output, not with an event that the server works on it."""

from typing import Any

import pytest

from acta.engine.errors import ActaError, ProviderOverloaded, ProviderUnavailable, StreamBroken
from acta.engine.models.fallback import with_fallbacks
from acta.engine.models.model import ModelReply, StreamOptions
from tests.in_process.scripted import ScriptedModel, says
from tests.models.wires.conftest import MODELS
from tests.models.wires.conversations import TIMEOUT, request
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.stream_formats import answer, message, response_events, sse

pytestmark = pytest.mark.contract

SSE = {"content-type": "text/event-stream"}
BEGINNING = {
    "anthropic": answer("anthropic", "", "end_turn")[:1],
    "openai": [sse({"id": "c", "created": 1, "model": "m", "object": "chat.completion.chunk",
                    "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})],
    "openai-responses": [sse(event) for event in response_events([])],
}  # fmt: skip
"""What a server sends at once, before any output of the model."""
HALF = {
    "anthropic": answer("anthropic", "Half", "end_turn")[:3],
    "openai": answer("openai", "Half", "stop")[:1],
    "openai-responses": [sse(event) for event in response_events([], message("Half"))],
}
OVERLOADED: dict[str, dict[str, Any]] = {
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
    "openai": {"error": {"type": "server_error", "message": "no"}},
    "openai-responses": {"type": "error", "code": "server_error", "message": "no", "sequence_number": 9},
}


@pytest.fixture(params=list(HALF))
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _chained(wire: str, url: str, texts: list[str]) -> ModelReply:
    chain = with_fallbacks((MODELS[wire](url), "first"), [(ScriptedModel([says("Whole.")]), "second")])[0]
    return chain.complete(
        request()._replace(stream_options=StreamOptions(on_text=texts.append)), timeout=TIMEOUT
    )


def _event(wire: str) -> bytes:
    return sse(OVERLOADED[wire])


def test_no_other_model_is_asked_where_an_answer_broke_after_its_first_words(
    wire: str, server: FakeProvider
) -> None:
    server.queue(*HALF[wire], _event(wire), headers=SSE)
    texts: list[str] = []

    with pytest.raises(StreamBroken):
        _chained(wire, server.url, texts)
    assert texts == ["Half"]


@pytest.mark.parametrize(
    ("wire", "event"),
    [
        ("openai-responses", {"type": "error", "code": "slow_down", "message": "no", "sequence_number": 9}),
        ("openai-responses", {"type": "error", "error": {"type": "service_unavailable_error"}}),
        ("openai-responses", {"type": "error", "error": {"code": "server_is_overloaded"}}),
        ("openai", {"id": "c", "error": {"code": 429, "message": "no"}, "choices": []}),
    ],
)
def test_the_next_model_is_asked_where_a_stream_reports_overload_before_any_text(
    wire: str, event: dict[str, Any], server: FakeProvider
) -> None:
    server.queue(*BEGINNING[wire], sse(event), headers=SSE)
    texts: list[str] = []

    reply = _chained(wire, server.url, texts)

    assert (reply.model, [one.code for one in reply.failed_models]) == ("second", ["PROVIDER_OVERLOADED"])


def test_the_next_model_is_asked_where_a_server_only_reported_that_it_had_started(
    wire: str, server: FakeProvider
) -> None:
    server.queue(*BEGINNING[wire], _event(wire), headers=SSE)

    assert _chained(wire, server.url, []).model == "second"


class FailsAfterText:
    """Passes text on, and then fails with an error that says nothing of it."""

    provider = "scripted"

    def __init__(self, error: ActaError) -> None:
        self._error = error

    def complete(self, request: Any, *, timeout: float) -> ModelReply:
        request.stream_options.on_text("Half")
        raise self._error


@pytest.mark.parametrize("error", [ProviderOverloaded("busy", 3.0), ProviderUnavailable("away")])
def test_nobody_is_shown_the_text_of_two_models(error: ActaError) -> None:
    texts: list[str] = []
    chain = with_fallbacks((FailsAfterText(error), "a"), [(ScriptedModel([says("Whole.")]), "b")])[0]

    with pytest.raises(StreamBroken):
        chain.complete(
            request()._replace(stream_options=StreamOptions(on_text=texts.append)), timeout=TIMEOUT
        )
    assert texts == ["Half"]

"""When an answer has begun: with the first part of what the model says, not with the server's word that it works."""

from typing import Any

import pytest

from shared.adapters.llm.fallback import with_fallbacks
from shared.domain.errors import (
    ActaError,
    ProviderOverloaded,
    ProviderUnavailable,
    StreamBroken,
)
from shared.ports.model import ModelReply, StreamOptions
from tests.contracts.llm.conftest import MODELS
from tests.contracts.llm.conversations import PATIENCE, request
from tests.contracts.llm.served import Served
from tests.contracts.llm.wires import answer, response_events, said, sse
from tests.in_process.scripted import ScriptedModel, says

pytestmark = pytest.mark.contract

SSE = {"content-type": "text/event-stream"}
BEGINNING = {
    "anthropic": answer("anthropic", "", "end_turn")[:1],
    "openai": [sse({"id": "c", "created": 1, "model": "m", "object": "chat.completion.chunk",
                    "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]})],
    "openai-responses": [sse(event) for event in response_events([])],
}  # fmt: skip
"""What a server says at once: nothing of the model's yet."""
HALF = {
    "anthropic": answer("anthropic", "Half", "end_turn")[:3],
    "openai": answer("openai", "Half", "stop")[:1],
    "openai-responses": [sse(event) for event in response_events([], said("Half"))],
}
OVERLOADED: dict[str, dict[str, Any]] = {
    "anthropic": {"type": "error", "error": {"type": "overloaded_error", "message": "no"}},
    "openai": {"error": {"type": "server_error", "message": "no"}},
    "openai-responses": {"type": "error", "code": "server_error", "message": "no", "sequence_number": 9},
}


@pytest.fixture(params=list(HALF))
def wire(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def _chained(wire: str, url: str, heard: list[str]) -> ModelReply:
    chain = with_fallbacks((MODELS[wire](url), "first"), [(ScriptedModel([says("Whole.")]), "second")])[0]
    return chain.complete(
        request()._replace(stream_options=StreamOptions(on_text=heard.append)), timeout=PATIENCE
    )


def _event(wire: str) -> bytes:
    return sse(OVERLOADED[wire])


def test_an_answer_that_broke_behind_its_first_words_is_not_passed_over(wire: str, served: Served) -> None:
    served.tell(*HALF[wire], _event(wire), headers=SSE)
    heard: list[str] = []

    with pytest.raises(StreamBroken):
        _chained(wire, served.url, heard)
    assert heard == ["Half"]


@pytest.mark.parametrize(
    ("wire", "event"),
    [
        ("openai-responses", {"type": "error", "code": "slow_down", "message": "no", "sequence_number": 9}),
        ("openai-responses", {"type": "error", "error": {"type": "service_unavailable_error"}}),
        ("openai-responses", {"type": "error", "error": {"code": "server_is_overloaded"}}),
        ("openai", {"id": "c", "error": {"code": 429, "message": "no"}, "choices": []}),
    ],
)
def test_a_server_that_says_inside_its_answer_that_it_has_too_much_to_do_is_passed_over(
    wire: str, event: dict[str, Any], served: Served
) -> None:
    served.tell(*BEGINNING[wire], sse(event), headers=SSE)
    heard: list[str] = []

    reply = _chained(wire, served.url, heard)

    assert (reply.model, [one.unanswered for one in reply.failed_models]) == ("second", [0])


def test_a_server_that_only_said_that_it_works_is_passed_over(wire: str, served: Served) -> None:
    served.tell(*BEGINNING[wire], _event(wire), headers=SSE)

    assert _chained(wire, served.url, []).model == "second"


class Unheeding:
    """Says something and then that it is away, as if it had not begun."""

    provider = "unheeding"

    def __init__(self, error: ActaError) -> None:
        self._error = error

    def complete(self, asked: Any, *, timeout: float) -> ModelReply:
        asked.stream_options.on_text("Half")
        raise self._error


@pytest.mark.parametrize("error", [ProviderOverloaded("busy", 3.0), ProviderUnavailable("away")])
def test_whoever_listens_never_hears_two_models(error: ActaError) -> None:
    heard: list[str] = []
    chain = with_fallbacks((Unheeding(error), "a"), [(ScriptedModel([says("Whole.")]), "b")])[0]

    with pytest.raises(StreamBroken):
        chain.complete(
            request()._replace(stream_options=StreamOptions(on_text=heard.append)), timeout=PATIENCE
        )
    assert heard == ["Half"]

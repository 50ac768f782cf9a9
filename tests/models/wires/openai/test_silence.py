"""How long an OpenAI-compatible server may be silent, and what notices that it is gone."""

from typing import Any

import pytest

from acta.engine.egress.keepalive import IDLE_SECONDS
from acta.engine.errors import ActaError
from acta.engine.models.calls import CallProgress
from acta.engine.models.model import Model
from acta.engine.models.openai.chat import ChatReplyBuilder
from acta.engine.models.openai.client import STALL_SECONDS, OpenAIClient
from tests.doubles.http_sink import Reply
from tests.doubles.keep_alive_probe import ProbedSink
from tests.models.wires.conftest import MODELS
from tests.models.wires.conversations import KEY, request

pytestmark = pytest.mark.contract


def silence_allowed(model: str, timeout: float) -> float:
    """Seconds, as the SDK is told when the request is made."""
    told: list[Any] = []

    def send(timeout: Any) -> Any:
        told.append(timeout)
        raise OSError("no request is made here")

    client = OpenAIClient(KEY, "http://127.0.0.1:1")
    with pytest.raises(ActaError):
        client.call(send, {}, ChatReplyBuilder, request(model=model), timeout, CallProgress())
    return float(told[0].read)


@pytest.mark.parametrize("model", ["gpt-6-sol", "o3", "openai/gpt-5-mini"])
def test_a_model_that_reasons_unseen_may_be_silent_for_as_long_as_it_may_write(model: str) -> None:
    assert silence_allowed(model, 840) == 840


@pytest.mark.parametrize("model", ["gpt-4.1", "somebody-s-own"])
def test_any_other_model_that_is_silent_is_given_up_long_before(model: str) -> None:
    assert silence_allowed(model, 840) == STALL_SECONDS
    assert silence_allowed(model, 20) == 20


@pytest.mark.parametrize("wire", ["anthropic", "openai", "openai-responses"])
def test_a_silent_connection_is_probed_within_a_minute(wire: str) -> None:
    with ProbedSink(Reply(400, b"{}")) as server:
        model: Model = MODELS[wire](server.url(""))
        with pytest.raises(ActaError):
            model.complete(request(), timeout=60)
        assert server.probes
        for seconds in server.probes:
            assert len(seconds) == 1
            assert 0 < seconds[0] <= IDLE_SECONDS

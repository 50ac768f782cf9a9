"""Queues answers of the Responses API and asks for them."""

from typing import Any

from acta.engine.models.model import ModelReply
from acta.engine.models.openai.responses import OpenAIResponsesModel
from tests.models.wires.conversations import KEY, TIMEOUT, request
from tests.models.wires.fake_provider import FakeProvider
from tests.models.wires.stream_formats import response_events, sse

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
DONE: dict[str, Any] = {"status": "completed"}
CUT: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


def ask(server: FakeProvider, *entries: Any, model: str = "gpt-6-sol", **more: Any) -> ModelReply:
    model_request = request(*entries, model=model, **more)
    return OpenAIResponsesModel(KEY, server.url).complete(model_request, timeout=TIMEOUT)


def queue(server: FakeProvider, *items: dict[str, Any], **final: Any) -> None:
    """`final`: the fields of the response in the final event; none: it is completed."""
    server.queue(*map(sse, response_events(items, **(final or DONE))), headers=SSE)

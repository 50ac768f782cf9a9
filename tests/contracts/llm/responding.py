"""A Responses API of a test's own, asked through the official SDK."""

from typing import Any

from shared.adapters.llm.openai.responses import OpenAIResponsesModel
from shared.ports.model import ModelReply
from tests.contracts.llm.conversations import KEY, PATIENCE, request
from tests.contracts.llm.served import Served
from tests.contracts.llm.wires import response_events, sse

SSE = {"content-type": "text/event-stream"}
JSON = {"content-type": "application/json"}
DONE: dict[str, Any] = {"status": "completed"}
CUT: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


def ask(served: Served, *entries: Any, model: str = "gpt-6-sol", **more: Any) -> ModelReply:
    asked = request(*entries, model=model, **more)
    return OpenAIResponsesModel(KEY, served.url).complete(asked, timeout=PATIENCE)


def tell(served: Served, *items: dict[str, Any], **final: Any) -> None:
    served.tell(*map(sse, response_events(items, **(final or DONE))), headers=SSE)

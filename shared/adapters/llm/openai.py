"""Chat Completions, OpenAI's and every compatible server's, with the official SDK.

Streamed for the same reason as `anthropic`. OpenAI itself is asked over its Responses API (`openai_responses`)
unless the settings say otherwise.
"""

from shared.adapters.llm import estimate
from shared.adapters.llm.deadline import Patience, within
from shared.adapters.llm.openai_client import PROVIDER, OpenAIConnection
from shared.adapters.llm.openai_request import to_body
from shared.adapters.llm.openai_stream import Reading
from shared.ports.model import ModelReply, ModelRequest


class OpenAIModel:
    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._openai = OpenAIConnection(api_key, base_url)

    @property
    def provider(self) -> str:
        return PROVIDER

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        begins = request.hearing.begins_within
        return within(timeout, PROVIDER, lambda patience: self._call(request, timeout, patience), begins)

    def _call(self, request: ModelRequest, timeout: float, patience: Patience) -> ModelReply:
        body = to_body(request, official=self._openai.official)
        reading = Reading(estimate.size_of_body(body), request.hearing.on_text)
        create = self._openai.client.chat.completions.create
        return self._openai.read(lambda **limits: create(**body, **limits), reading, timeout, patience)

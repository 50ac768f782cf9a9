"""Chat Completions, OpenAI's and every compatible server's, with the official SDK.

Streamed for the same reason as `anthropic`. OpenAI itself is asked over its Responses API (`openai_responses`)
unless the settings say otherwise.
"""

from typing import Any

from shared.adapters.llm.common import tokens as estimate
from shared.adapters.llm.common.stream import CancelToken, within
from shared.adapters.llm.openai.chat_request import OPTIONAL, has, to_body
from shared.adapters.llm.openai.chat_stream import Reading
from shared.adapters.llm.openai.client import PROVIDER, OpenAIConnection, Unwelcome
from shared.ports.model import ModelReply, ModelRequest


class OpenAIModel:
    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._openai = OpenAIConnection(api_key, base_url, OPTIONAL)
        self._refused: dict[str, frozenset[str]] = {}

    @property
    def provider(self) -> str:
        return PROVIDER

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        begins = request.stream_options.begins_within
        return within(timeout, PROVIDER, lambda patience: self._call(request, timeout, patience), begins)

    def _call(self, request: ModelRequest, timeout: float, patience: CancelToken) -> ModelReply:
        """What a server refuses of a model's requests is left out from then on. A refusal is not charged for."""
        while True:
            without = self._refused.get(request.model, frozenset())
            body = to_body(request, official=self._openai.official, without=without)
            try:
                return self._ask(request, body, timeout, patience)
            except Unwelcome as refused:
                if not has(body, refused.part):
                    raise
                part = refused.part
            self._refused[request.model] = without | {part}

    def _ask(
        self, request: ModelRequest, body: dict[str, Any], timeout: float, patience: CancelToken
    ) -> ModelReply:
        reading = Reading(request.model, estimate.size_of_body(body), request.stream_options.on_text)
        create = self._openai.client.chat.completions.create
        return self._openai.read(lambda **limits: create(**body, **limits), reading, timeout, patience)

"""Chat Completions, OpenAI's and every compatible server's.

Requests are streamed: only a stream shows long before the turn's deadline that the provider has stalled. OpenAI itself
is asked over its Responses API (`responses.py`) unless the settings say otherwise.
"""

from typing import Any

from shared.adapters.llm.common.stream import CallProgress, run_within
from shared.adapters.llm.common.token_estimate import body_size
from shared.adapters.llm.openai.chat_request import OPTIONAL, is_in, to_body
from shared.adapters.llm.openai.chat_stream import ChatReplyBuilder
from shared.adapters.llm.openai.client import PROVIDER, OpenAIClient, ParameterRefused
from shared.ports.model import ModelReply, ModelRequest


class OpenAIModel:
    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        """`base_url` None: OpenAI's own."""
        self._client = OpenAIClient(api_key, base_url, OPTIONAL)
        self._refused: dict[str, frozenset[str]] = {}

    @property
    def provider(self) -> str:
        return PROVIDER

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self._client.load()
        begins_within = request.stream_options.begins_within
        return run_within(
            timeout, PROVIDER, lambda progress: self._call(request, timeout, progress), begins_within
        )

    def _call(self, request: ModelRequest, timeout: float, progress: CallProgress) -> ModelReply:
        """Asks again without a parameter that the server refuses, and leaves it out of the model's requests from then
        on. A refusal is not charged for.
        """
        while True:
            refused = self._refused.get(request.model, frozenset())
            body = to_body(request, official=self._client.official, without=refused)
            try:
                return self._send(request, body, timeout, progress)
            except ParameterRefused as error:
                if not is_in(body, error.parameter):
                    raise
                parameter = error.parameter
            self._refused[request.model] = refused | {parameter}

    def _send(
        self, request: ModelRequest, body: dict[str, Any], timeout: float, progress: CallProgress
    ) -> ModelReply:
        builder = ChatReplyBuilder(request.model, lambda: body_size(body), request.stream_options.on_text)
        create = self._client.sdk_client.chat.completions.create
        return self._client.call(
            lambda **limits: create(**body, **limits),
            builder,
            request.model,
            timeout,
            progress,
            request.stream_options,
        )

"""OpenAI's Responses API: what its newer models need to reason and call tools in one turn.

Requests are streamed: only a stream shows long before the turn's deadline that the provider has stalled. The server
stores nothing: each request holds the whole conversation. Calls in the background: `responses_background.py`.
"""

from shared.adapters.llm.common.stream import CallProgress, run_within
from shared.adapters.llm.common.token_estimate import body_size
from shared.adapters.llm.openai.client import PROVIDER, OpenAIClient, ReasoningUnreadable
from shared.adapters.llm.openai.responses_background import ResponsesInBackground
from shared.adapters.llm.openai.responses_request import to_body
from shared.adapters.llm.openai.responses_stream import ResponsesReplyBuilder
from shared.ports.model import BackgroundCalls, ModelReply, ModelRequest


class OpenAIResponsesModel:
    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        """`base_url` None: OpenAI's own."""
        self._client = OpenAIClient(api_key, base_url)

    @property
    def provider(self) -> str:
        return PROVIDER

    @property
    def in_background(self) -> BackgroundCalls:
        return ResponsesInBackground(self._client)

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self._client.load()
        begins_within = request.stream_options.begins_within
        return run_within(
            timeout, PROVIDER, lambda progress: self._call(request, timeout, progress), begins_within
        )

    def _call(self, request: ModelRequest, timeout: float, progress: CallProgress) -> ModelReply:
        """Asks again without the kept reasoning where the server cannot read it. A key of another organisation makes it
        unreadable for good, and the session could never go on.
        """
        try:
            return self._send(request, timeout, progress, reasoning=True)
        except ReasoningUnreadable:
            pass
        return self._send(request, timeout, progress, reasoning=False)

    def _send(
        self, request: ModelRequest, timeout: float, progress: CallProgress, *, reasoning: bool
    ) -> ModelReply:
        body = to_body(request, official=self._client.official, reasoning=reasoning)
        builder = ResponsesReplyBuilder(
            request.model, lambda: body_size(body), request.stream_options.on_text
        )
        create = self._client.sdk_client.responses.create
        return self._client.call(
            lambda **limits: create(**body, **limits),
            builder,
            request.model,
            timeout,
            progress,
            request.stream_options,
        )

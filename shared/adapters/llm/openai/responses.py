"""OpenAI's Responses API with the official SDK: what its newer models need to reason and call tools in one turn.

Streamed for the same reason as `anthropic`, and stateless: the conversation is Acta's, none of it is kept there.
"""

from shared.adapters.llm.common import tokens as estimate
from shared.adapters.llm.common.stream import CancelToken, within
from shared.adapters.llm.openai.client import PROVIDER, ForeignReasoning, OpenAIConnection
from shared.adapters.llm.openai.responses_request import to_body
from shared.adapters.llm.openai.responses_stream import Reading
from shared.ports.model import ModelReply, ModelRequest


class OpenAIResponsesModel:
    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._openai = OpenAIConnection(api_key, base_url)

    @property
    def provider(self) -> str:
        return PROVIDER

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        begins = request.stream_options.begins_within
        return within(timeout, PROVIDER, lambda patience: self._call(request, timeout, patience), begins)

    def _call(self, request: ModelRequest, timeout: float, patience: CancelToken) -> ModelReply:
        """A key of another organisation makes the kept reasoning unreadable for good: such a request is refused
        unread and sent again without, or the session could never go on."""
        try:
            return self._ask(request, timeout, patience, reasoning=True)
        except ForeignReasoning:
            pass
        return self._ask(request, timeout, patience, reasoning=False)

    def _ask(
        self, request: ModelRequest, timeout: float, patience: CancelToken, *, reasoning: bool
    ) -> ModelReply:
        body = to_body(request, official=self._openai.official, reasoning=reasoning)
        reading = Reading(request.model, estimate.size_of_body(body), request.stream_options.on_text)
        create = self._openai.client.responses.create
        return self._openai.read(lambda **limits: create(**body, **limits), reading, timeout, patience)

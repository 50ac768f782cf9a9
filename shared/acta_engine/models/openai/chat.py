"""Chat Completions, OpenAI's and every compatible server's.

OpenAI itself is asked over its Responses API (`responses.py`) unless the settings say otherwise.
"""

from acta_engine.models.common.stream import CallProgress
from acta_engine.models.model import ModelReply, ModelRequest
from acta_engine.models.openai.chat_request import OPTIONAL, is_in, to_body
from acta_engine.models.openai.chat_stream import ChatReplyBuilder
from acta_engine.models.openai.client import OpenAIStreamed, ParameterRefused


class OpenAIModel(OpenAIStreamed):
    optional = OPTIONAL

    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        super().__init__(api_key, base_url)
        self._refused: dict[str, frozenset[str]] = {}

    def _call(self, request: ModelRequest, timeout: float, progress: CallProgress) -> ModelReply:
        """Asks again without a parameter that the server refuses, and leaves it out of the model's requests from then
        on. A refusal is not charged for.
        """
        while True:
            refused = self._refused.get(request.model, frozenset())
            body = to_body(request, official=self._client.official, without=refused)
            create = self._client.sdk_client.chat.completions.create
            try:
                return self._client.call(create, body, ChatReplyBuilder, request, timeout, progress)
            except ParameterRefused as error:
                if not is_in(body, error.parameter):
                    raise
                parameter = error.parameter
            self._refused[request.model] = refused | {parameter}

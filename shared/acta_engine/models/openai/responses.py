"""OpenAI's Responses API: what its newer models need to reason and call tools in one turn.

The server stores nothing: each request holds the whole conversation. Calls in the background:
`responses_background.py`.
"""

from acta_engine.models.common.stream import CallProgress
from acta_engine.models.model import BackgroundCalls, ModelReply, ModelRequest
from acta_engine.models.openai.client import OpenAIStreamed, ReasoningUnreadable
from acta_engine.models.openai.responses_background import ResponsesInBackground
from acta_engine.models.openai.responses_request import to_body
from acta_engine.models.openai.responses_stream import ResponsesReplyBuilder


class OpenAIResponsesModel(OpenAIStreamed):
    @property
    def in_background(self) -> BackgroundCalls:
        return ResponsesInBackground(self._client)

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
        create = self._client.sdk_client.responses.create
        return self._client.call(create, body, ResponsesReplyBuilder, request, timeout, progress)

"""Background calls of the Responses API: the server makes the answer by itself, and is asked for it by its id.

Source: OpenAI's guide "Background mode" and the types of its SDK 3.54, read 2026-11-23. A response is `queued`,
`in_progress`, and in the end `completed`, `incomplete`, `failed` or `cancelled`. Its server has to keep it until it has
been fetched: with `store` it keeps it for 30 days at least, unless it is deleted. So Acta deletes what it has fetched.
No request of this API is idempotent: there is no key that two tries of a `create` could have in common.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from acta_engine.errors import ActaError, ProviderRejected, StreamBroken
from acta_engine.models.common.stream import run_within
from acta_engine.models.common.token_estimate import body_size
from acta_engine.models.model import BackgroundResponse, ModelReply, ModelRequest
from acta_engine.models.model_catalogue import returns_encrypted_reasoning
from acta_engine.models.openai.client import PROVIDER, NotFoundThere, OpenAIClient, ReasoningUnreadable
from acta_engine.models.openai.responses_request import ENCRYPTED_REASONING, to_body
from acta_engine.models.openai.responses_stream import ResponsesReplyBuilder

T = TypeVar("T")
UNFINISHED = ("queued", "in_progress")


class ResponsesInBackground:
    """See `BackgroundCalls` in `shared/acta_engine/models/model.py`."""

    def __init__(self, client: OpenAIClient) -> None:
        self._client = client

    def start(self, request: ModelRequest, *, timeout: float) -> str | ModelReply:
        """Raises ProviderTimeout and ProviderUnavailable also where the response may have been made: nobody knows its
        id.
        """
        try:
            created, size = self._create(request, timeout, reasoning=True)
        except ReasoningUnreadable:
            created, size = self._create(request, timeout, reasoning=False)
        if created.status in UNFINISHED:
            return str(created.id)
        ended = _ended(created, request.model, size)
        if isinstance(ended, ActaError):
            raise ended
        return ended

    def result(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        include = [ENCRYPTED_REASONING] if returns_encrypted_reasoning(response.model) else []
        retrieve = self._responses.retrieve

        def send(**limits: Any) -> Any:
            return retrieve(response.response_id, include=include, **limits)

        return self._read(response, send, timeout)

    def cancel(self, response: BackgroundResponse, *, timeout: float) -> ModelReply | ActaError | None:
        cancel = self._responses.cancel
        try:
            return self._read(response, lambda **limits: cancel(response.response_id, **limits), timeout)
        except ProviderRejected:  # it has ended already
            return self.result(response, timeout=timeout)

    def forget(self, response: BackgroundResponse, *, timeout: float) -> None:
        delete = self._responses.delete
        with suppress(NotFoundThere):
            self._within(timeout, lambda **limits: delete(response.response_id, **limits))

    @property
    def _responses(self) -> Any:
        self._client.load()
        return self._client.sdk_client.responses

    def _create(self, request: ModelRequest, timeout: float, *, reasoning: bool) -> tuple[Any, int]:
        body = to_body(request, official=self._client.official, reasoning=reasoning, background=True)
        create = self._responses.create
        return self._within(timeout, lambda **limits: create(**body, **limits)), body_size(body)

    def _read(
        self, response: BackgroundResponse, send: Callable[..., Any], timeout: float
    ) -> ModelReply | ActaError | None:
        try:
            found = self._within(timeout, send)
        except NotFoundThere:
            return StreamBroken(f"{PROVIDER}: the response is kept no longer")
        return None if found.status in UNFINISHED else _ended(found, response.model, response.bytes)

    def _within(self, timeout: float, send: Callable[..., T]) -> T:
        return run_within(timeout, PROVIDER, lambda _: self._client.ask(send, timeout))


def _ended(response: Any, model: str, request_bytes: int) -> ModelReply | ActaError:
    builder = ResponsesReplyBuilder(model, lambda: request_bytes)
    builder.take(response)
    try:
        return builder.reply()
    except ActaError as error:
        return error

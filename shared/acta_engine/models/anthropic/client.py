"""Claude over the Messages API, with Anthropic's SDK and any base URL.

Requests are streamed: only a stream shows long before the turn's deadline that the provider has stalled, and the API
refuses long answers otherwise. The SDK is imported at the first call, so importing this module or making the model
costs nothing.
"""

from functools import cached_property
from typing import Any

from acta_engine.errors import (
    ActaError,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from acta_engine.models.anthropic.request import PROVIDER, to_body
from acta_engine.models.anthropic.stream import MessagesReplyBuilder
from acta_engine.models.common.address_and_key import require_sendable
from acta_engine.models.common.sdk import loading, silence_loggers, tell_limits, time_limits
from acta_engine.models.common.stream import CallProgress, read_stream, run_within
from acta_engine.models.common.token_estimate import body_size
from acta_engine.models.errors import error_from_status, error_from_stream, name_in
from acta_engine.models.model import ModelReply, ModelRequest

STALL_SECONDS = 60.0
"""The longest silence inside an answer. The API sends pings at shorter intervals while it works."""


class AnthropicModel:
    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        """`base_url` None: Anthropic's own."""
        self._api_key = api_key
        self._base_url = base_url or None

    @property
    def provider(self) -> str:
        return PROVIDER

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        client = (
            self._client
        )  # loaded before the time runs: a new process takes seconds for it, and asks nobody
        begins_within = request.stream_options.begins_within
        return run_within(
            timeout,
            self.provider,
            lambda progress: self._call(client, request, timeout, progress),
            begins_within,
        )

    @cached_property
    def _sdk(self) -> Any:
        with loading("anthropic"):
            import anthropic

        silence_loggers(anthropic)
        return anthropic

    @cached_property
    def _client(self) -> Any:
        key = require_sendable(self.provider, self._api_key)
        return self._sdk.Anthropic(api_key=key, base_url=self._base_url, max_retries=0, open_telemetry=False)

    def _call(self, client: Any, request: ModelRequest, timeout: float, progress: CallProgress) -> ModelReply:
        body = to_body(request, self.provider)
        progress.raise_if_cancelled()
        limits = time_limits(self._sdk, timeout, STALL_SECONDS)
        opened = False
        try:
            with client.messages.create(**body, stream=True, timeout=limits) as events:
                opened = True
                tell_limits(self.provider, request.stream_options, events)
                on_text = request.stream_options.on_text
                builder = MessagesReplyBuilder(request.model, lambda: body_size(body), on_text)
                return read_stream(events, builder, progress)
        except ActaError:
            raise
        except Exception as error:
            failure = self._failure(error, opened, progress.has_begun)
        raise failure  # outside the handler: the SDK's error quotes bodies and must not become its context

    def _failure(self, error: Exception, opened: bool, begun: bool) -> ActaError:
        """`opened`: the server had answered with 200. `begun`: a part of the answer had come."""
        sdk, provider = self._sdk, self.provider
        if isinstance(error, sdk.APIStatusError):
            return self._reported_failure(error, opened, begun)
        if isinstance(error, sdk.APITimeoutError) or type(error).__name__.endswith("Timeout"):
            return ProviderTimeout(f"{provider}: no answer in time", begun)
        if opened:
            return StreamBroken(f"{provider}: the answer broke off ({type(error).__name__})")
        if isinstance(error, sdk.APIConnectionError):
            return ProviderUnavailable(f"{provider}: no connection")
        return ProviderRejected(f"{provider}: the request could not be made ({type(error).__name__})")

    def _reported_failure(self, error: Any, opened: bool, begun: bool) -> ActaError:
        """For a failure that the server describes, by a status or inside its stream."""
        names, headers = (error.type, error.error_code, name_in(error.api_message)), error.response.headers
        if opened:
            return error_from_stream(self.provider, headers, names=names, begun=begun)
        return error_from_status(self.provider, error.status_code, headers, names=names)

"""Claude over the Messages API, with the official SDK and any base URL.

Streamed, because only a stream shows that the provider has stalled long before the step's time is over, and
because the API refuses long answers otherwise. The SDK is imported at the first call: importing this module,
or making the model, costs nothing.
"""

import logging
from functools import cached_property
from typing import Any

from shared.adapters.llm import errors as failures
from shared.adapters.llm.anthropic.request import PROVIDER, to_body
from shared.adapters.llm.anthropic.stream import Reading
from shared.adapters.llm.common import tokens as estimate
from shared.adapters.llm.common.connection import checked
from shared.adapters.llm.common.stream import CancelToken, read, within
from shared.adapters.llm.errors import told
from shared.domain.errors import (
    ActaError,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from shared.ports.model import ModelReply, ModelRequest

CONNECT_SECONDS = 10.0
STALL_SECONDS = 60.0
"""Longest silence inside an answer; the API pings at shorter intervals while it works."""


class AnthropicModel:
    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._api_key = api_key
        self._base_url = base_url or None

    @property
    def provider(self) -> str:
        return PROVIDER

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        begins = request.stream_options.begins_within
        return within(timeout, self.provider, lambda patience: self._call(request, timeout, patience), begins)

    @cached_property
    def _sdk(self) -> Any:
        import anthropic

        for name in ("anthropic", "httpx2", "httpcore2"):  # at DEBUG they log bodies and keys
            logging.getLogger(name).setLevel(logging.WARNING)
        return anthropic

    @cached_property
    def _client(self) -> Any:
        key = checked(self.provider, self._api_key)
        return self._sdk.Anthropic(api_key=key, base_url=self._base_url, max_retries=0, open_telemetry=False)

    def _call(self, request: ModelRequest, timeout: float, patience: CancelToken) -> ModelReply:
        client, body = self._client, to_body(request, self.provider)
        patience.check()
        limits = self._sdk.Timeout(
            connect=min(CONNECT_SECONDS, timeout),
            read=min(STALL_SECONDS, timeout),
            write=timeout,
            pool=timeout,
        )
        opened = False
        try:
            with client.messages.create(**body, stream=True, timeout=limits) as events:
                opened = True
                reading = Reading(request.model, estimate.size_of_body(body), request.stream_options.on_text)
                return read(events, reading, patience)
        except ActaError:
            raise
        except Exception as error:
            failure = self._failure(error, opened, patience.began)
        raise failure  # outside the handler: the SDK's error quotes bodies and must not become its context

    def _failure(self, error: Exception, opened: bool, began: bool) -> ActaError:
        """`opened`: the answer came with 200; `began`: with a part of what the model says."""
        sdk, provider = self._sdk, self.provider
        if isinstance(error, sdk.APIStatusError):
            return self._answered(error, opened, began)
        if isinstance(error, sdk.APITimeoutError) or type(error).__name__.endswith("Timeout"):
            return ProviderTimeout(f"{provider}: no answer in time", began)
        if opened:
            return StreamBroken(f"{provider}: the answer broke off ({type(error).__name__})")
        if isinstance(error, sdk.APIConnectionError):
            return ProviderUnavailable(f"{provider}: no connection")
        return ProviderRejected(f"{provider}: the request could not be made ({type(error).__name__})")

    def _answered(self, error: Any, opened: bool, began: bool) -> ActaError:
        """The provider said itself what is wrong."""
        kinds, headers = (error.type, error.error_code, told(error.api_message)), error.response.headers
        if opened:
            return failures.from_stream(self.provider, headers, kinds=kinds, begun=began)
        return failures.from_status(self.provider, error.status_code, headers, kinds=kinds)

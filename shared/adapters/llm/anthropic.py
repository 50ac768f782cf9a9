"""Claude over the Messages API, with the official SDK and any base URL.

Streamed, because only a stream shows that the provider has stalled long before the step's time is over, and
because the API refuses long answers otherwise. The SDK is imported at the first call: importing this module,
or making the model, costs nothing.
"""

import logging
from functools import cached_property
from typing import Any

from shared.adapters.llm import failures
from shared.adapters.llm.anthropic_request import PROVIDER, to_body
from shared.adapters.llm.anthropic_stream import Reading
from shared.adapters.llm.deadline import Patience, within
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
_SENTENCES = {
    "credit balance": "credit_balance",
    "prompt is too long": failures.TOO_LONG,
    "exceed context limit": failures.TOO_LONG,
    "maximum context length": failures.TOO_LONG,
}


class AnthropicModel:
    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._api_key = api_key
        self._base_url = base_url or None

    @property
    def provider(self) -> str:
        return PROVIDER

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        begins = request.hearing.begins_within
        return within(timeout, self.provider, lambda patience: self._call(request, timeout, patience), begins)

    @cached_property
    def _sdk(self) -> Any:
        import anthropic

        for name in ("anthropic", "httpx2", "httpcore2"):  # at DEBUG they log bodies and keys
            logging.getLogger(name).setLevel(logging.WARNING)
        return anthropic

    @cached_property
    def _client(self) -> Any:
        return self._sdk.Anthropic(
            api_key=self._api_key, base_url=self._base_url, max_retries=0, open_telemetry=False
        )

    def _call(self, request: ModelRequest, timeout: float, patience: Patience) -> ModelReply:
        client, body = self._client, to_body(request, self.provider)
        patience.check()
        limits = self._sdk.Timeout(
            connect=min(CONNECT_SECONDS, timeout),
            read=min(STALL_SECONDS, timeout),
            write=timeout,
            pool=timeout,
        )
        began = False
        try:
            with client.messages.create(**body, stream=True, timeout=limits) as events:
                began = True
                reading = Reading(request.model, request.hearing.on_text)
                for event in events:
                    patience.heard()
                    reading.feed(event)
            return reading.reply()
        except ActaError:
            raise
        except Exception as error:
            failure = self._failure(error, began)
        raise failure  # outside the handler: the SDK's error quotes bodies and must not become its context

    def _failure(self, error: Exception, began: bool) -> ActaError:
        sdk, provider = self._sdk, self.provider
        if isinstance(error, sdk.APIStatusError):
            return self._answered(error, began)
        if isinstance(error, sdk.APITimeoutError) or type(error).__name__.endswith("Timeout"):
            return ProviderTimeout(f"{provider}: no answer in time", began)
        if began:
            return StreamBroken(f"{provider}: the answer broke off ({type(error).__name__})")
        if isinstance(error, sdk.APIConnectionError):
            return ProviderUnavailable(f"{provider}: no connection")
        return ProviderRejected(f"{provider}: the request could not be made ({type(error).__name__})")

    def _answered(self, error: Any, began: bool) -> ActaError:
        """The provider said itself what is wrong; `began`: inside an answer that began well."""
        kinds, headers = (error.type, error.error_code, told(error.api_message)), error.response.headers
        if began:
            return failures.from_stream(self.provider, headers, kinds=kinds)
        return failures.from_status(self.provider, error.status_code, headers, kinds=kinds)


def told(message: str | None) -> str | None:
    """A used-up balance and a prompt over the window come as an ordinary 400; only its sentence tells."""
    said = str(message or "").lower()
    return next((kind for words, kind in _SENTENCES.items() if words in said), None)

"""OpenAI, and every server compatible with its Chat Completions, with the official SDK.

Streamed for the same reason as `anthropic`. The SDK is imported at the first call. The Responses API, which
newer models need to reason with tools, will be a second model class beside this one.
"""

import json
import logging
from functools import cached_property
from typing import Any

from shared.adapters.llm import failures
from shared.adapters.llm.deadline import Patience, within
from shared.adapters.llm.openai_request import to_body
from shared.adapters.llm.openai_stream import Reading
from shared.domain.errors import (
    ActaError,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from shared.ports.model import ModelReply, ModelRequest

PROVIDER = "openai"
CONNECT_SECONDS = 10.0
STALL_SECONDS = 90.0
"""Longest silence; a model that reasons out of sight sends nothing until it is done."""


class OpenAIModel:
    def __init__(self, api_key: str, base_url: str | None = None) -> None:
        self._api_key = api_key
        self._base_url = base_url or None

    @property
    def provider(self) -> str:
        return PROVIDER

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        return within(timeout, PROVIDER, lambda patience: self._call(request, timeout, patience))

    @cached_property
    def _sdk(self) -> Any:
        import openai

        for name in ("openai", "httpx2", "httpcore2"):  # at DEBUG they log bodies and keys
            logging.getLogger(name).setLevel(logging.WARNING)
        return openai

    @cached_property
    def _client(self) -> Any:
        return self._sdk.OpenAI(api_key=self._api_key, base_url=self._base_url, max_retries=0)

    def _call(self, request: ModelRequest, timeout: float, patience: Patience) -> ModelReply:
        client = self._client
        body = to_body(request, official="api.openai.com" in str(client.base_url))
        patience.check()
        limits = self._sdk.Timeout(
            connect=min(CONNECT_SECONDS, timeout),
            read=min(STALL_SECONDS, timeout),
            write=timeout,
            pool=timeout,
        )
        began = False
        try:
            with client.chat.completions.create(**body, timeout=limits) as chunks:
                began = True
                reading = Reading()
                for chunk in chunks:
                    patience.check()
                    reading.feed(chunk)
            return reading.reply(len(json.dumps(body["messages"])))
        except ActaError:
            raise
        except Exception as error:
            failure = self._failure(error, began)
        raise failure  # outside the handler: the SDK's error quotes bodies and must not become its context

    def _failure(self, error: Exception, began: bool) -> ActaError:
        sdk = self._sdk
        if isinstance(error, sdk.APIStatusError):
            return failures.from_status(
                PROVIDER, error.status_code, error.response.headers, kinds=(error.type, error.code)
            )
        if isinstance(error, sdk.APITimeoutError):
            return ProviderTimeout(f"{PROVIDER}: no answer in time")
        if isinstance(error, sdk.APIConnectionError) and not began:
            return ProviderUnavailable(f"{PROVIDER}: no connection")
        if isinstance(error, sdk.APIError) and (error.type or error.code):
            return failures.from_stream(PROVIDER, {}, kinds=(error.type, error.code))
        if began:
            return StreamBroken(f"{PROVIDER}: the answer broke off ({type(error).__name__})")
        return ProviderRejected(f"{PROVIDER}: the request could not be made ({type(error).__name__})")

"""The official openai SDK, imported at the first call: one streamed request, its errors, its limits."""

import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from shared.adapters.llm import errors as failures
from shared.adapters.llm.common.connection import checked, is_official
from shared.adapters.llm.common.stream import CancelToken, Reading, read
from shared.adapters.llm.errors import message_of, told
from shared.domain.errors import (
    ActaError,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from shared.ports.model import ModelReply

PROVIDER = "openai"
CONNECT_SECONDS = 10.0
STALL_SECONDS = 90.0
"""Longest silence; a model that reasons out of sight sends nothing until it is done."""


class ForeignReasoning(ProviderRejected):
    """The server cannot read the reasoning that was sent back: another organisation's, or another server's."""


class Unwelcome(ProviderRejected):
    """The server names a `part` of the request that it does not take."""

    def __init__(self, message: str, part: str) -> None:
        super().__init__(message)
        self.part = part


class OpenAIConnection:
    """Connections are kept as long as this lives. `optional`: parts of a request that a server may refuse."""

    def __init__(self, api_key: str, base_url: str | None, optional: Sequence[str] = ()) -> None:
        self._optional = optional
        self._api_key = api_key
        self._base_url = base_url or None
        self.official = is_official(base_url)

    @cached_property
    def _sdk(self) -> Any:
        import openai

        for name in ("openai", "httpx2", "httpcore2"):  # at DEBUG they log bodies and keys
            logging.getLogger(name).setLevel(logging.WARNING)
        return openai

    @cached_property
    def client(self) -> Any:
        key = checked(PROVIDER, self._api_key)
        return self._sdk.OpenAI(api_key=key, base_url=self._base_url, max_retries=0)

    def read(
        self, ask: Callable[..., Any], reading: Reading, timeout: float, patience: CancelToken
    ) -> ModelReply:
        """`ask` makes the request and gives its stream. Raises the errors of `shared.ports.model`."""
        patience.check()
        limits = self._sdk.Timeout(
            connect=min(CONNECT_SECONDS, timeout),
            read=min(STALL_SECONDS, timeout),
            write=timeout,
            pool=timeout,
        )
        opened = False
        try:
            with ask(timeout=limits) as events:
                opened = True
                return read(events, reading, patience)
        except ActaError:
            raise
        except Exception as error:
            failure = self._failure(error, opened, patience.began)
        raise failure  # outside the handler: the SDK's error quotes bodies and must not become its context

    def _failure(self, error: Exception, opened: bool, began: bool) -> ActaError:
        """`opened`: the answer came with 200; `began`: with a part of what the model says."""
        sdk = self._sdk
        if isinstance(error, sdk.APIStatusError):
            kinds = (error.type, error.code, told(message_of(error.body)))
            failure = failures.from_status(PROVIDER, error.status_code, error.response.headers, kinds=kinds)
            if "invalid_encrypted_content" in kinds:
                return ForeignReasoning(str(failure))
            part = self._part_in(message_of(error.body)) if type(failure) is ProviderRejected else None
            return Unwelcome(str(failure), part) if part is not None else failure
        if isinstance(error, sdk.APITimeoutError):
            return ProviderTimeout(f"{PROVIDER}: no answer in time", began)
        if isinstance(error, sdk.APIConnectionError) and not opened:
            return ProviderUnavailable(f"{PROVIDER}: no connection")
        if opened and isinstance(error, sdk.APIError):
            kinds = (error.type, error.code, told(message_of(error.body)))
            return failures.from_stream(PROVIDER, {}, kinds=kinds, begun=began)
        if opened:
            return StreamBroken(f"{PROVIDER}: the answer broke off ({type(error).__name__})")
        return ProviderRejected(f"{PROVIDER}: the request could not be made ({type(error).__name__})")

    def _part_in(self, message: object) -> str | None:
        said = message.lower() if isinstance(message, str) else ""
        return next((part for part in self._optional if part in said), None)

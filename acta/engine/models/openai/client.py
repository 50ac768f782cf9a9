"""OpenAI's SDK, for both of its APIs: one streamed request, its time limits, its errors."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar
from urllib.request import getproxies

from acta.engine.egress.keepalive import KEEP_ALIVE
from acta.engine.errors import (
    ActaError,
    ProviderRejected,
    ProviderTimeout,
    ProviderUnavailable,
    StreamBroken,
)
from acta.engine.models.calls import (
    CallProgress,
    ReplyBuilder,
    ask_streamed,
    ask_with_format,
    bedrock_region,
    is_official,
    loading,
    require_sendable,
    run_within,
    silence_loggers,
    time_limits,
)
from acta.engine.models.errors import (
    UNREADABLE_REASONING,
    error_from_status,
    error_from_stream,
    message_of,
    name_in,
)
from acta.engine.models.model import ModelReply, ModelRequest
from acta.engine.models.openai.capabilities import counts_reasoning
from acta.engine.models.wire import body_size

T = TypeVar("T")

PROVIDER = "openai"
STALL_SECONDS = 90.0
"""The longest silence of a model that does not reason. One that does, and does not show it, sends nothing until it is
done, which may be all of the call's time. Probes notice if its connection is dead.
"""


class ReasoningUnreadable(ProviderRejected):
    """The server cannot read the reasoning that was sent back: it is another organisation's, or another server's."""


class ParameterRefused(ProviderRejected):
    """The server names a `parameter` of the request that it does not accept."""

    def __init__(self, message: str, parameter: str) -> None:
        super().__init__(message)
        self.parameter = parameter


class NotFoundThere(ProviderRejected):
    """The server answered 404: it has no such model, or no such response."""


class OpenAIClient:
    """The SDK is imported at the first call. Connections are kept as long as this object lives."""

    def __init__(
        self,
        api_key: str | None,
        base_url: str | None,
        provider: str = PROVIDER,
        optional: Sequence[str] = (),
    ) -> None:
        """`api_key` None: Bedrock is asked, with the function's role. `base_url` None: OpenAI's own. `optional`:
        parameters that a request can do without.
        """
        self.provider = provider
        self._optional = optional
        self._api_key = api_key
        self._base_url = base_url or None
        self.official = is_official(base_url)

    @cached_property
    def _sdk(self) -> Any:
        with loading("openai"):
            import openai

        silence_loggers(openai)
        return openai

    def load(self) -> None:
        """Loads the SDK before the time of a call runs: a new process takes seconds for this, and asks nobody."""
        _ = self.sdk_client

    @cached_property
    def sdk_client(self) -> Any:
        if self._api_key is None:
            from openai.providers import bedrock

            signed = bedrock(base_url=self._base_url, region=bedrock_region(self._base_url))
            return self._sdk.OpenAI(provider=signed, max_retries=0, http_client=self._http_client())
        key = require_sendable(self.provider, self._api_key)
        return self._sdk.OpenAI(
            api_key=key, base_url=self._base_url, max_retries=0, http_client=self._http_client()
        )

    def _http_client(self) -> Any:
        """The SDK's own client, whose connections are probed while they are silent. None where a proxy is configured:
        only the SDK's default client finds it.
        """
        if getproxies():
            return None
        import httpx2

        limits = self._sdk.DEFAULT_CONNECTION_LIMITS
        return self._sdk.DefaultHttpxClient(
            transport=httpx2.HTTPTransport(socket_options=KEEP_ALIVE, limits=limits)
        )

    def call(
        self,
        send: Callable[..., Any],
        body: dict[str, Any],
        builder: Callable[..., ReplyBuilder],
        request: ModelRequest,
        timeout: float,
        progress: CallProgress,
    ) -> ModelReply:
        """`send`: takes the body and the SDK's `timeout`, makes the request and returns its stream. `builder`: a class.
        `timeout`: seconds. Raises the errors of `acta.engine.models.model`, ReasoningUnreadable and ParameterRefused.
        """
        stall = timeout if counts_reasoning(request.model) else STALL_SECONDS
        sent = partial(send, **body, timeout=time_limits(self._sdk, timeout, stall))
        on_text = request.stream_options.on_text
        built = builder(request.model, lambda: body_size(body), on_text, self.provider)
        return ask_streamed(sent, built, request, progress, self.provider, self._failure)

    def ask(self, send: Callable[..., Any], read: Callable[[Any], T], timeout: float) -> T:
        """One request that is not streamed, and what `read` makes of its answer. `send`: of the SDK's
        `with_raw_response`; takes its `timeout`. `timeout`: seconds. Raises as `call` does, NotFoundThere, and
        StreamBroken where the answer cannot be read.
        """
        limits, opened = time_limits(self._sdk, timeout, timeout), False
        try:
            answer = send(timeout=limits)
            opened = True
            return read(answer.parse())
        except ActaError:
            raise
        except Exception as error:
            failure = self._failure(error, opened, begun=False)
            if getattr(error, "status_code", None) == 404 and type(failure) is ProviderRejected:
                failure = NotFoundThere(str(failure))
        raise failure  # outside the handler, as in `ask_streamed`

    def _failure(self, error: Exception, opened: bool, begun: bool) -> ActaError:
        """`opened`: the server had answered with 200. `begun`: a part of the answer had come."""
        sdk = self._sdk
        if isinstance(error, sdk.APIStatusError):
            return self._refusal(error)
        if isinstance(error, sdk.APITimeoutError):
            return ProviderTimeout(f"{self.provider}: no answer in time", begun)
        if isinstance(error, sdk.APIConnectionError) and not opened:
            return ProviderUnavailable(f"{self.provider}: no connection")
        if opened and isinstance(error, sdk.APIError):
            return error_from_stream(self.provider, {}, names=_names(error), begun=begun)
        if opened:
            return StreamBroken(f"{self.provider}: the answer broke off ({type(error).__name__})")
        return ProviderRejected(f"{self.provider}: the request could not be made ({type(error).__name__})")

    def _refusal(self, error: Any) -> ActaError:
        names = _names(error)
        failure = error_from_status(self.provider, error.status_code, error.response.headers, names=names)
        if UNREADABLE_REASONING in names:
            return ReasoningUnreadable(str(failure))
        refused = self._named_parameter(error) if type(failure) is ProviderRejected else None
        return ParameterRefused(str(failure), refused) if refused is not None else failure

    def _named_parameter(self, error: Any) -> str | None:
        """The error's `param` says it, such as `messages[2].reasoning`. Only where there is none, a word of the message
        does: a message may also quote names out of the request.
        """
        text = error.param or message_of(error.body)
        words = set(re.findall(r"[\w-]+", text.lower())) if isinstance(text, str) else set()
        return next((parameter for parameter in self._optional if parameter in words), None)


class OpenAIStreamed(ABC):
    """A model of one of the two APIs. Requests are streamed: only a stream shows long before the turn's deadline that
    the provider has stalled.
    """

    optional: Sequence[str] = ()
    """Parameters that a request can do without."""

    def __init__(self, api_key: str | None, base_url: str | None = None, provider: str = PROVIDER) -> None:
        """`api_key` None: the function's role. `base_url` None: OpenAI's own. `provider`: whose server it is."""
        self._client = OpenAIClient(api_key, base_url, provider, self.optional)

    @property
    def provider(self) -> str:
        return self._client.provider

    def complete(self, request: ModelRequest, *, timeout: float) -> ModelReply:
        self._client.load()
        begins_within = request.stream_options.begins_within
        return run_within(
            timeout,
            self.provider,
            lambda progress: ask_with_format(lambda each: self._call(each, timeout, progress), request),
            begins_within,
        )

    @abstractmethod
    def _call(self, request: ModelRequest, timeout: float, progress: CallProgress) -> ModelReply: ...


def _names(error: Any) -> tuple[object, ...]:
    return error.type, error.code, name_in(message_of(error.body), error.code)
